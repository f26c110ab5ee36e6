//! Reads new records into the index, a few milliseconds at a look.

use super::caps::Read;
use super::index::base::{self, Index};
use super::index::rows::{Kept, Stand};
use super::index::sources::{self, Of, Source, There, compared};
use super::index::time;
use super::{Life, Looked};
use house::clock::{Anchor, Clock, Millis};
use house::lines::{Lines, Next};
use house::records::{self, LONGEST_LINE, memory::Record, view::field};
use house::{House, clock, files, standing};
use rusqlite::Result;
use serde_json::Value;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;

/// Longest look, in milliseconds; a record more is read where that is over.
const LOOK_MS: Millis = 12;

pub(super) fn identity(house: &House) -> (i64, i64) {
    let of = |meta: std::fs::Metadata| (meta.dev().cast_signed(), meta.ino().cast_signed());
    std::fs::metadata(house.state_folder()).map_or((0, 0), of)
}

impl Life {
    /// Reads a part of the new records.
    pub fn look(&mut self) -> Looked {
        if self.is_unread.take() {
            self.failed();
        }
        let state = identity(&self.house);
        if self.index.is_none() || self.state != state {
            *self = Self::with(&self.house, self.failures);
        }
        let Some(mut index) = self.index.take() else { return Looked::default() };
        let looked = index.begin().and_then(|()| self.look_with(&mut index)).and_then(|looked| {
            index.end()?;
            Ok(looked)
        });
        self.is_compared = looked.is_ok();
        if looked.is_err() {
            index.undo();
        }
        self.index = Some(index);
        match &looked {
            Ok(_) if self.failures == 1 => self.failures = 0,
            Err(error) if !base::is_busy(error) => self.failed(),
            _ => {}
        }
        looked.unwrap_or(Looked { more: self.failures < 3, ..Looked::default() })
    }

    /// Gives up an index that failed: it is made anew, and the second time in memory.
    fn failed(&mut self) {
        self.index = None;
        base::remove(&self.house.page_index());
        self.failures = self.failures.saturating_add(1);
    }

    fn look_with(&mut self, index: &mut Index) -> Result<Looked> {
        let begun = Clock::start(Anchor::default());
        let there = sources::there(&self.house);
        let before: Vec<Source> = index.all("SELECT * FROM source ORDER BY number", ())?;
        let is_ours = (index.reach.device, index.reach.inode) == self.state;
        let sources = compared(before.clone(), &there, !self.is_compared).filter(|_| is_ours);
        let mut sources = match sources {
            Some(sources) => sources,
            None => {
                index.empty(self.state)?;
                compared(Vec::new(), &there, false).unwrap_or_default()
            }
        };
        self.read_caps(index)?;
        let mut looked = Looked::default();
        for file in &there {
            let Some(at) = sources.iter().position(|source| source.is_of(file)) else { continue };
            let Some(source) = sources.get_mut(at) else { continue };
            if begun.now() < LOOK_MS
                && source.seen_bytes != file.bytes
                && !self.read(index, source, file, &begun)?
            {
                if !source.of.is_of_reasons() {
                    index.empty(self.state)?;
                    return Ok(Looked { more: true, ..Looked::default() });
                }
                // Its reasons are known, and the file there now is read as a new one.
                sources.remove(at);
                looked.more = true;
                continue;
            }
            looked.all_bytes += file.bytes;
            looked.read_bytes += source.read_bytes.min(file.bytes);
            looked.more |= source.seen_bytes < file.bytes;
        }
        if sources != before {
            index.run("DELETE FROM source", ())?;
            sources.iter().try_for_each(|source| source.put(&index.base))?;
        }
        Ok(looked)
    }

    /// Reads on in a file until the look is over; false where the file is not the one that was read.
    fn read(&mut self, index: &mut Index, source: &mut Source, there: &There, begun: &Clock) -> Result<bool> {
        let Some(file) = sources::open(&there.path) else { return Ok(true) };
        if !source.is_same(&file) {
            return Ok(false);
        }
        let Some(mut lines) = lines_from(&file, source.read_bytes) else { return Ok(true) };
        let (mut reached, mut is_within) = (source.read_bytes, source.is_within);
        let now_ms = clock::wall_ms();
        let seen_bytes = loop {
            match lines.next_line() {
                // What is left of a line that was too long is no record.
                Next::Line(_) if std::mem::take(&mut is_within) => {}
                Next::Line(line) => {
                    let stand = Stand { file: source.number, offset: reached };
                    self.take(index, source.of, stand, line, now_ms)?;
                }
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
        source.reached(&file, reached);
        (source.is_within, source.seen_bytes) = (is_within, seen_bytes.min(lines.bytes()));
        Ok(true)
    }

    /// Takes a line in; one that is no record, or of no time that can be true, counts for nothing.
    fn take(&mut self, index: &mut Index, of: Of, stand: Stand, line: &[u8], now_ms: u64) -> Result<()> {
        let Some(record) = records::parse(line) else { return Ok(()) };
        let record = if of == Of::Memory { self.owners.judged(record) } else { record };
        let Some(at_ms) = time::of(Record(&record).at(), now_ms) else { return Ok(()) };
        index.take(of, &record, at_ms, stand).map(|_| ())
    }

    /// Reads the caps of a day where the broker's page is another than before.
    pub(super) fn read_caps(&mut self, index: &Index) -> Result<()> {
        let mark = files::mark(&self.house.budget());
        if mark == self.caps_mark {
            return Ok(());
        }
        self.caps_mark = mark;
        let page = standing::small(&self.house.budget()).unwrap_or_default();
        let day = field::<&[Value]>(&page, "caps").first();
        let or = |name: &str, old: &str| {
            let of_day: Option<f64> = day.and_then(|day| field(day, name));
            (of_day.unwrap_or_else(|| field(&page, old)) * 1e6).clamp(0.0, 1e15) as u64
        };
        let (all, own) = (or("cap_usd", "daily_cap_usd"), or("autonomous_cap_usd", "autonomous_cap_usd"));
        let last: Option<Read> = index.one("SELECT * FROM caps ORDER BY rowid DESC LIMIT 1", ())?;
        if all > 0 && last.is_none_or(|last| (last.all, last.own) != (all, own)) {
            Read { at_ms: clock::wall_ms(), all, own }.put(&index.base)?;
        }
        Ok(())
    }
}

fn lines_from(file: &File, place: u64) -> Option<Lines> {
    let mut file = file.try_clone().ok()?;
    file.seek(SeekFrom::Start(place)).ok()?;
    Some(Lines::new(file, LONGEST_LINE))
}
