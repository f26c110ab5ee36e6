//! What the window reads, and when: files that changed, each within a cap, and memory by position from its end.

use crate::feed::{Feed, Seen};
use crate::mind;
use crate::window::state::Known;
use crate::window::view::{Verbosity, shown};
use anyhow::Result;
use house::files::{self, Mark};
use house::records::{self, text};
use house::{House, asks, bounds, instance};
use jiff::{SignedDuration, Timestamp};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use serde_json::Value;
use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// Bytes read of the agenda, of the creature's own feed from its end, and of a thought from its end.
const AGENDA_BYTES: u64 = 4 << 20;
const EVENTS_BYTES: u64 = 64 << 10;
const THINKING_BYTES: u64 = 4 << 10;
/// Rows of the past that are shown first: in a window that attaches, and in the guardian's own.
const LAST_ROWS: usize = 10;
const FIRST_ROWS: usize = 5;
/// Characters of what has become due and why it thinks.
const TOLD_CHARS: usize = 120;

/// What changes the feed; all else changes the status lines, which can wait a moment.
const OF_THE_FEED: [&str; 2] = ["memory.jsonl", "asks.jsonl"];

/// What of the files has changed, the weightiest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changed {
    Nothing,
    Status,
    Feed,
}

pub struct Sources {
    house: House,
    feed: Feed,
    /// `None` where the system gives no more of these: then only the slow looks are left.
    changes: Option<Inotify>,
    watched: Vec<PathBuf>,
    /// How each file was when it was read.
    marks: HashMap<&'static str, Option<Mark>>,
    pub known: Known,
}

impl Sources {
    /// `from`: where the guardian's own window begins; else it begins with the last rows. Returns how many records of
    /// the beginning were passed over, too.
    pub fn open(house: &House, from: Option<u64>, verbosity: Verbosity) -> (Self, u64) {
        let (feed, passed) = match from {
            Some(from) => {
                let mut feed = Feed::live(house.memory(), from);
                // All rows of the first moments would push the first screen off the terminal.
                let passed = feed.skip_to_last(FIRST_ROWS);
                (feed, passed)
            }
            None => {
                let worth = |record: &Value| shown(record, verbosity).is_some();
                (Feed::from_last(house.memory(), LAST_ROWS, worth).skipping(), 0)
            }
        };
        let changes = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK).ok();
        let (watched, marks, known) = (Vec::new(), HashMap::new(), Known::default());
        (Self { house: house.clone(), feed, changes, watched, marks, known }, passed)
    }

    pub fn changes(&self) -> Option<BorrowedFd<'_>> {
        self.changes.as_ref().map(AsFd::as_fd)
    }

    /// What changed since it was asked last.
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

    /// The next records, a bounded number of them.
    pub fn records(&mut self) -> Seen<Value> {
        self.feed.look(Some)
    }

    /// Passes over the records that are there already.
    pub fn to_end(&mut self) {
        self.feed = Feed::from_end(self.house.memory()).skipping();
    }

    fn changed(&mut self, name: &'static str, path: &Path) -> bool {
        let mark = files::mark(path);
        self.marks.insert(name, mark) != Some(mark)
    }

    /// Reads what changed of the small files; `slowly`: whether a guardian runs is asked as well. Returns the asks that
    /// are new.
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
            self.known.thinking = files::tail(&house.thinking(), THINKING_BYTES);
        }
        if self.changed("events", &house.events()) {
            self.events(&files::tail(&house.events(), EVENTS_BYTES));
        }
        if self.changed("agenda", &house.agenda()) {
            self.known.due = due(&house);
        }
        let is_first = !self.marks.contains_key("asks");
        if !self.changed("asks", &house.asks()) {
            return vec![];
        }
        let waiting = asks::waiting(&house);
        let before =
            std::mem::replace(&mut self.known.asks, waiting.iter().map(|ask| ask.id.clone()).collect());
        waiting.into_iter().filter(|ask| !is_first && !before.contains(&ask.id)).collect()
    }

    /// What the creature's own feed says last of why it thinks, of its rest, and of its pause.
    fn events(&mut self, tail: &str) {
        let lines: Vec<Value> = tail.lines().filter_map(|line| records::parse(line.as_bytes())).collect();
        let newest = |names: &[&str]| lines.iter().rev().find(|line| names.contains(&text(line, "event")));
        let data = |line: &Value, name: &str| line.get("data").and_then(|data| data.get(name)).cloned();
        let words = |line: &Value, name: &str| {
            data(line, name).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
        };
        let why = newest(&["wakeup"]).and_then(|line| data(line, "why"));
        let why = why.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let why: Vec<&str> = why.iter().filter_map(Value::as_str).collect();
        self.known.why = bounds::brief(&why.join("; "), TOLD_CHARS);
        let sleep = newest(&["sleep"]);
        self.known.why_rests =
            sleep.map_or_else(String::new, |line| bounds::brief(&words(line, "why"), TOLD_CHARS));
        self.known.last =
            sleep.map_or_else(String::new, |line| bounds::brief(&words(line, "last_action"), TOLD_CHARS));
        // Once it wakes that rest is over, however long it was to be.
        let rests = newest(&["sleep", "wakeup"]).filter(|line| text(line, "event") == "sleep");
        self.known.rests_until = rests.and_then(|line| {
            let rest_ms = data(line, "rest_ms")?.as_i64()?;
            let at: Timestamp = text(line, "at").parse().ok()?;
            at.checked_add(SignedDuration::from_millis(rest_ms)).ok()
        });
        let pause = newest(&["paused", "resumed"]).filter(|line| text(line, "event") == "paused");
        let told = pause.and_then(|line| line.get("data")).map(mind::pause).unwrap_or_default();
        self.known.paused = bounds::brief(&told, TOLD_CHARS);
    }
}

fn small(path: &Path) -> Option<Value> {
    bounds::read(&files::read_small(path).ok()??)
}

/// The task or reminder that is due first.
fn due(house: &House) -> Option<(Timestamp, String)> {
    let agenda = bounds::read(&files::read_most(&house.agenda(), AGENDA_BYTES).ok()??)?;
    let open = |kind: &str, at: &'static str, end: &'static str| {
        let list = agenda.get(kind).and_then(|items| items.get("list")).and_then(Value::as_array);
        let items = list.map(Vec::as_slice).unwrap_or_default().iter();
        let items = items.filter(move |item| item.get(end).is_none_or(Value::is_null));
        let timed = items.filter_map(move |item| Some((text(item, at).parse().ok()?, text(item, "text"))));
        timed.map(|(at, what)| (at, bounds::brief(what, TOLD_CHARS))).collect::<Vec<_>>()
    };
    let all = open("tasks", "at", "ended_at").into_iter().chain(open("reminders", "next", "finished"));
    all.min_by_key(|(at, _)| *at)
}

/// Rows that the guardian hands over while this is its window.
pub struct Handed {
    pipe: std::fs::File,
    rest: Vec<u8>,
}

/// What the guardian says.
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

    /// What is there; `None` once the guardian is gone.
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
    if let Some(frame) = line.get("frame").and_then(Value::as_str) {
        return Some(Told::Frame(frame.to_owned()));
    }
    const PAINTS: [&str; 8] = ["1", "31", "32", "33", "34", "35", "36", "90"];
    let paint = PAINTS.into_iter().find(|paint| *paint == text(line, "paint")).unwrap_or("0");
    let at = text(line, "at").parse().ok();
    let (tag, text) = (text(line, "tag").to_owned(), text(line, "text").to_owned());
    Some(Told::Row(house::terminal::Row { at, tag, paint, text }))
}
