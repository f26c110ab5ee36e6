//! Reads new records into the index, a few milliseconds at a look.

use super::caps::Read;
use super::index::known::Stand;
use super::index::sources::{self, Of, Source, There};
use super::index::time;
use super::{Life, Looked};
use house::clock::{Anchor, Clock, Millis};
use house::lines::{Lines, Next};
use house::records::{self, LONGEST_LINE, memory::Record, view::field};
use house::{bounds, clock, files};
use serde_json::Value;
use std::fs::File;
use std::io::{Seek, SeekFrom};

/// Longest look, in milliseconds; a record more is read where that is over.
const LOOK_MS: Millis = 12;
/// Most files an entry can name.
const MOST_SOURCES: usize = 10_000;

impl Life {
    /// Reads a part of the new records.
    pub fn look(&mut self) -> Looked {
        let begun = Clock::start(Anchor::default());
        let mut there = sources::there(&self.house);
        if self.store.is_damaged() || super::identity(&self.house) != self.state || !self.knows(&there) {
            self.begin_anew();
            there = sources::there(&self.house);
            let _ = self.knows(&there);
        }
        self.read_caps();
        let mut looked = Looked::default();
        for file in &there {
            let Some(at) = self.sources.iter().position(|source| source.is_of(file)) else { continue };
            if begun.now() < LOOK_MS && self.has_news(at, file) && !self.read(at, file, &begun) {
                self.begin_anew();
                return Looked { more: true, ..Looked::default() };
            }
            let source = self.sources.get(at);
            looked.all_bytes += file.bytes;
            looked.read_bytes += source.map_or(0, |source| source.read_bytes.min(file.bytes));
            looked.more |= source.is_some_and(|source| source.seen_bytes < file.bytes);
        }
        looked
    }

    fn has_news(&self, at: usize, file: &There) -> bool {
        self.sources.get(at).is_some_and(|source| source.seen_bytes != file.bytes)
    }

    /// Compares the files there are with those that were read; false where what was read is not there any more.
    fn knows(&mut self, there: &[There]) -> bool {
        for source in &mut self.sources {
            match there.iter().find(|file| source.is_of(file)) {
                Some(file) if source.read_bytes <= file.bytes => source.name = sources::name(file),
                // Begun anew in place, or its number was given to another file: that one is read below.
                Some(_) if source.of.is_of_reasons() => source.is_gone(),
                None if source.of.may_go() => source.is_gone(),
                Some(_) | None => return false,
            }
        }
        for file in there {
            if self.sources.iter().any(|source| source.is_of(file)) {
                continue;
            }
            let Some(new) = Source::new(file) else { continue };
            let is_free = |source: &Source| source.name.is_empty() && source.of.is_of_reasons();
            let free = self.sources.iter().position(is_free);
            let has_room = self.sources.len() < MOST_SOURCES;
            match free.and_then(|at| self.sources.get_mut(at)) {
                Some(gone) => *gone = new,
                None if has_room => self.sources.push(new),
                None => {}
            }
        }
        true
    }

    /// Whether every file that was read is there and begins as it did.
    pub(super) fn has_its_files(&mut self) -> bool {
        let there = sources::there(&self.house);
        if !self.knows(&there) {
            return false;
        }
        let mut is_whole = true;
        for source in self.sources.iter_mut().filter(|source| !source.name.is_empty()) {
            let file = there.iter().find(|file| source.is_of(file));
            let open = file.and_then(|file| files::open(&file.path).ok().flatten());
            if !open.is_some_and(|open| source.is_same(&open)) {
                is_whole &= source.of.is_of_reasons();
                source.is_gone();
            }
        }
        is_whole
    }

    /// Reads on in a file until the look is over; false where the file is not the one that was read.
    fn read(&mut self, at: usize, there: &There, begun: &Clock) -> bool {
        let open = files::open(&there.path).ok().flatten();
        let (Some(file), Some(source)) = (open, self.sources.get(at).cloned()) else { return true };
        if !source.is_same(&file) {
            if let Some(gone) = self.sources.get_mut(at).filter(|source| source.of.is_of_reasons()) {
                gone.is_gone();
                return true;
            }
            return false;
        }
        let Some(mut lines) = lines_from(&file, source.read_bytes) else { return true };
        let (mut reached, mut is_within) = (source.read_bytes, source.is_within);
        let now_ms = clock::wall_ms();
        let seen_bytes = loop {
            match lines.next_line() {
                // What is left of a line that was too long is no record.
                Next::Line(_) if std::mem::take(&mut is_within) => {}
                Next::Line(line) => self.take(&source, at, reached, line, now_ms),
                Next::Long => is_within = false,
                Next::End => {
                    is_within |= lines.is_too_long();
                    reached = if is_within { lines.at() } else { reached };
                    break lines.at();
                }
            }
            reached = lines.at();
            if begun.now() >= LOOK_MS {
                break source.seen_bytes.min(reached);
            }
        };
        if let Some(source) = self.sources.get_mut(at) {
            source.reached(&file, reached);
            (source.is_within, source.seen_bytes) = (is_within, seen_bytes.min(lines.bytes()));
            self.is_saved = false;
        }
        true
    }

    /// Takes a line in; one that is no record, or of no time that can be true, counts for nothing.
    fn take(&mut self, source: &Source, at: usize, offset: u64, line: &[u8], now_ms: u64) {
        let Some(record) = records::parse(line) else { return };
        let record = if source.of == Of::Memory { self.owners.judged(record) } else { record };
        let Some(at_ms) = time::of(Record(&record).at(), now_ms) else { return };
        let stand = Stand { file: u16::try_from(at).unwrap_or(u16::MAX), offset };
        let entry = self.known.take(source.of, &record, at_ms, stand);
        entry.iter().for_each(|entry| self.store.add(entry));
    }

    /// Reads the caps of a day where the broker's page is another than before.
    pub(super) fn read_caps(&mut self) {
        let mark = files::mark(&self.house.budget());
        if mark == self.caps_mark {
            return;
        }
        self.caps_mark = mark;
        let page = files::read_small(&self.house.budget()).ok().flatten();
        let page = page.and_then(|page| bounds::read(&page)).unwrap_or_default();
        let day = field::<&[Value]>(&page, "caps").first();
        let or = |name: &str, old: &str| {
            let of_day: Option<f64> = day.and_then(|day| field(day, name));
            (of_day.unwrap_or_else(|| field(&page, old)) * 1e6).clamp(0.0, 1e15) as u64
        };
        let (all, own) = (or("cap_usd", "daily_cap_usd"), or("autonomous_cap_usd", "autonomous_cap_usd"));
        if all > 0 {
            self.is_saved &= !self.known.caps.seen(Read { at_ms: clock::wall_ms(), all, own });
        }
    }
}

impl Source {
    /// Marks a file as gone: its records can no longer be shown, the entries read from it stay.
    fn is_gone(&mut self) {
        (self.name, self.inode) = (String::new(), 0);
    }

    fn is_of(&self, there: &There) -> bool {
        self.of == there.of && self.inode == there.inode
    }
}

fn lines_from(file: &File, place: u64) -> Option<Lines> {
    let mut file = file.try_clone().ok()?;
    file.seek(SeekFrom::Start(place)).ok()?;
    Some(Lines::new(file, LONGEST_LINE))
}
