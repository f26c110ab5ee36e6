//! Files that the window reads, and when: those that changed, each within a cap, and memory by position from its end.

use crate::feed::once::Once;
use crate::feed::shown::{Verbosity, shown};
use crate::feed::{Feed, Seen};
use anyhow::Result;
use house::files::{self, Mark};
use house::records::view::field;
use house::records::{self, text};
use house::standing::{self, Known, small};
use house::{House, asks, instance, moments};
use jiff::Timestamp;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use serde_json::Value;
use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// Rows of the past that are shown first in a window that attaches.
const LAST_ROWS: usize = 10;

/// Files that change the feed; all others change the status lines, which can wait a moment.
const OF_THE_FEED: [&str; 2] = ["memory.jsonl", "asks.jsonl"];

/// The weightiest change among the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changed {
    Nothing,
    Status,
    Feed,
}

pub struct Sources {
    house: House,
    feed: Feed,
    /// Words of the beginning that are still to be shown.
    first: Vec<Value>,
    once: Once,
    /// When it woke last, and the money spent of the week before that.
    woke: (Option<Timestamp>, f64),
    /// `None` where the system gives no more of these: then only the slow looks are left.
    changes: Option<Inotify>,
    watched: Vec<PathBuf>,
    /// Mark of each file at its last reading.
    marks: HashMap<&'static str, Option<Mark>>,
    pub known: Known,
}

impl Sources {
    /// `from`: where the guardian's own window begins: of the records there it shows only words, and counts the others;
    /// else it begins with the last rows. Also returns how many records of the beginning were passed over.
    pub fn open(house: &House, from: Option<u64>, verbosity: Verbosity) -> (Self, u64) {
        let (feed, first, passed) = match from {
            Some(from) => {
                let mut feed = Feed::live(house.memory(), from);
                let (words, passed) = feed.skip_to_words(0);
                (feed, words, passed)
            }
            None => {
                let worth = |record: &Value| shown(record, verbosity).is_some();
                (Feed::from_last(house.memory(), LAST_ROWS, worth).skipping(), vec![], 0)
            }
        };
        let changes = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK).ok();
        let (watched, marks, known) = (Vec::new(), HashMap::new(), Known::default());
        let (house, once, woke) = (house.clone(), Once::default(), (None, 0.0));
        (Self { house, feed, first, once, woke, changes, watched, marks, known }, passed)
    }

    pub fn changes(&self) -> Option<BorrowedFd<'_>> {
        self.changes.as_ref().map(AsFd::as_fd)
    }

    /// Returns the weightiest change since the last call.
    pub fn drain(&mut self) -> Changed {
        let mut changed = Changed::Nothing;
        while let Some(Ok(events)) = self.changes.as_ref().map(Inotify::read_events) {
            let of_feed = events.iter().any(|event| {
                let name = event.name.as_deref().map(|name| name.to_string_lossy().into_owned());
                name.is_none_or(|name| OF_THE_FEED.contains(&name.as_str()))
            });
            match of_feed {
                true => changed = Changed::Feed,
                false if changed == Changed::Nothing => changed = Changed::Status,
                false => {}
            }
        }
        changed
    }

    /// Watches the folders of the state, once they are there.
    fn watch(&mut self) {
        let Some(changes) = &self.changes else { return };
        let wanted = AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MOVED_TO;
        for folder in [self.house.state_folder(), self.house.mind()] {
            if !self.watched.contains(&folder) && changes.add_watch(&folder, wanted).is_ok() {
                self.watched.push(folder);
            }
        }
    }

    /// The next records, a bounded number of them; of an answer and the thought that ends in the same words only the answer.
    pub fn records(&mut self) -> Seen<Value> {
        let mut seen = self.feed.look(Some);
        let came = std::mem::take(&mut self.first).into_iter().chain(seen.shown).collect();
        seen.shown = self.once.of(came, moments::now());
        seen
    }

    /// Counts the money spent since it woke, as far as it was seen here.
    fn count_cost(&mut self) {
        let longest = field::<&[Value]>(&self.known.budget, "caps").last();
        let longest: f64 = longest.map(|cap| field(cap, "spent_usd")).unwrap_or_default();
        if self.known.woke != self.woke.0 {
            self.woke = (self.known.woke, longest);
        }
        self.known.spent_usd = (longest - self.woke.1).max(0.0);
    }

    /// Passes over the records that are there already.
    pub fn to_end(&mut self) {
        self.feed = Feed::from_end(self.house.memory()).skipping();
    }

    fn changed(&mut self, name: &'static str, path: &Path) -> bool {
        let mark = files::mark(path);
        self.marks.insert(name, mark) != Some(mark)
    }

    /// Reads the small files that changed; `slowly`: also asks whether a guardian runs. Returns the asks that are new.
    pub fn look(&mut self, slowly: bool) -> Vec<asks::Ask> {
        self.watch();
        let house = self.house.clone();
        let is_told = self.changed("told", &house.published());
        if is_told {
            self.known.told = instance::last_published(&house).unwrap_or_default();
        }
        if is_told || slowly {
            self.known.runs = instance::holder(&house).is_some();
        }
        if self.changed("beat", &house.heartbeat()) {
            // It is rewritten in place, and may be half written now.
            if let Some(beat) = small(&house.heartbeat()) {
                self.known.beat = beat;
            }
        }
        if self.changed("budget", &house.budget()) {
            self.known.budget = small(&house.budget()).unwrap_or_default();
        }
        if self.changed("thinking", &house.thinking()) {
            self.known.read_thinking(&house);
        }
        if self.changed("events", &house.events()) {
            self.known.read_events(&house);
        }
        if self.changed("agenda", &house.agenda()) {
            self.known.due = standing::due(&house);
        }
        self.count_cost();
        let is_first = !self.marks.contains_key("asks");
        // Both are looked at: an answer that is noted takes its ask off the list.
        let [asked, answered] = [("asks", house.asks()), ("answers", house.answers())];
        if !(self.changed(asked.0, &asked.1) | self.changed(answered.0, &answered.1)) {
            return vec![];
        }
        let waiting = asks::unanswered(&house);
        let before =
            std::mem::replace(&mut self.known.asks, waiting.iter().map(|ask| ask.id.clone()).collect());
        waiting.into_iter().filter(|ask| !is_first && !before.contains(&ask.id)).collect()
    }
}

/// Rows that the guardian hands over while this is its window.
pub struct Handed {
    pipe: std::fs::File,
    rest: Vec<u8>,
}

/// A line from the guardian.
pub enum Told {
    Row(house::terminal::Row),
    /// Of a build under way; empty once it is over.
    Frame(String),
}

impl Handed {
    pub fn new(pipe: std::fs::File) -> Self {
        Self { pipe, rest: Vec::new() }
    }

    pub fn pipe(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Reads the lines that are there; `None` once the guardian is gone.
    pub fn read(&mut self) -> Result<Option<Vec<Told>>> {
        let is_over = crate::window::child::read(&mut self.pipe, &mut self.rest)?;
        let mut told = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            told.extend(records::parse(&line).and_then(|line| said(&line)));
        }
        Ok((!is_over || !told.is_empty()).then_some(told))
    }
}

fn said(line: &Value) -> Option<Told> {
    if let Some(frame) = field::<Option<&str>>(line, "frame") {
        return Some(Told::Frame(frame.to_owned()));
    }
    const PAINTS: [&str; 8] = ["1", "31", "32", "33", "34", "35", "36", "90"];
    let paint = PAINTS.into_iter().find(|paint| *paint == text(line, "paint")).unwrap_or("0");
    let at = text(line, "at").parse().ok();
    let (tag, text) = (text(line, "tag").to_owned(), text(line, "text").to_owned());
    Some(Told::Row(house::terminal::Row { at, tag, paint, text }))
}
