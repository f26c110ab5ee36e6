//! The store: what a life keeps (memory, bookkeeping, agenda, sub-sessions, feed), and the clock that dates it.
//!
//! Invariant: the life owns it and lends it to a tool for a call. A call that runs beside the life has a store of
//! its own, with a copy of the agenda, and changes neither the agenda nor a sub-session.

pub mod agenda;
pub mod books;
pub mod caller;
pub mod feed;
pub mod sessions;
pub mod snapshot;

use crate::clock::Clock;
use crate::fault::Fault;
use crate::paths::House;
use crate::senses::cursors::Cursors;
use ::agenda::sessions::Sessions;
use ::agenda::{Agenda, Rules};
use books::Books;
use feed::Feed;
use memory::state;
use memory::{Log, Record};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Most records and bytes of memory that a birth or a thought looks back on, and that are looked through for what was
/// asked, answered and told already.
pub const LOOK_BACK: (usize, u64) = (200, 1 << 20);
pub(crate) const TOLD_BACK: (usize, u64) = (400, 4 << 20);

/// Memory, books, agenda, sessions and feed of a life.
pub struct Store {
    pub house: House,
    pub clock: Clock,
    pub life: u64,
    pub memory: Log,
    pub books: Books,
    pub agenda: Agenda,
    /// The agenda's rules, from the owner's settings.
    pub rules: Rules,
    pub sessions: Sessions,
    pub feed: Feed,
    /// The last observation of each subject: the same again is not remembered.
    pub(crate) observed: BTreeMap<&'static str, String>,
}

impl Store {
    /// Reads what is kept in the house; a garbage file is set aside and logged, and costs no life.
    pub fn open(house: House, memory: Log, life: u64, clock: Clock) -> Self {
        let (agenda, odd) = state::kept(&house.agenda());
        let (sessions, lost) = state::kept(&house.sessions());
        let odd: [Option<String>; 2] = [odd, lost];
        odd.iter().flatten().for_each(|said| tracing::warn!("{said}"));
        Self {
            books: Books::new(&house),
            feed: Feed::new(house.feed(), clock.clone(), life),
            rules: Rules::default(),
            house,
            clock,
            life,
            memory,
            agenda,
            sessions,
            observed: BTreeMap::new(),
        }
    }

    /// Another store, for a call that runs while this one is used.
    pub fn beside(&self) -> Result<Self, Fault> {
        let hint = "are too many files open?";
        let memory =
            self.memory.again().map_err(|cause| Fault::caused("open memory once more", &cause, hint))?;
        Ok(Self {
            house: self.house.clone(),
            clock: self.clock.clone(),
            life: self.life,
            memory,
            books: self.books.again(),
            agenda: self.agenda.clone(),
            rules: self.rules.clone(),
            sessions: Sessions::default(),
            feed: self.feed.clone(),
            observed: BTreeMap::new(),
        })
    }

    /// Keeps this secret out of every line of memory and of the bookkeeping from now on.
    pub fn hide(&mut self, secret: &str) {
        self.memory.hide(secret);
        self.books.hide(secret);
    }

    /// Appends one record to memory, synced: what thoughts to come are to know of this life.
    pub fn record(&mut self, kind: &str, data: Value) -> Result<(), Fault> {
        let record = self.at_present(kind, data);
        self.memory.append(&record).map_err(|cause| unwritten(kind, &cause))
    }

    /// Remembers an observation unless it is the last one of this subject; empty is nothing to observe.
    pub(crate) fn observe(&mut self, about: &'static str, text: &str) -> Result<(), Fault> {
        if self.observed.get(about).is_some_and(|last| last == text) {
            return Ok(());
        }
        self.observed.insert(about, text.to_owned());
        if text.is_empty() {
            return Ok(());
        }
        self.record("observation", json!({"about": about, "text": text}))
    }

    /// Writes the cursors; a failure is observed and survived, for memory holds what counts.
    pub(crate) fn keep_cursors(&mut self, cursors: &Cursors) -> Result<(), Fault> {
        match cursors.save(&self.house.cursors()) {
            Ok(()) => self.observe("cursors", ""),
            Err(cause) => self.observe("cursors", &Fault::caused("keep the cursors", &cause, "").error),
        }
    }

    /// Records what the owner is told on a thread, and when.
    pub(crate) fn say(&mut self, kind: &str, thread: &str, text: &str) -> Result<(), Fault> {
        let at = self.clock.text();
        self.record(
            "message",
            json!({"from": "creature", "kind": kind, "thread": thread, "text": text, "at": at}),
        )
    }

    /// The newest records, so many and so many bytes of them at most; none where memory cannot be read.
    pub(crate) fn newest(&self, (most, bytes): (usize, u64)) -> Vec<Record> {
        let tail = memory::tail(&self.house.memory(), most, bytes);
        tail.inspect_err(|error| tracing::warn!("failed to {error}")).map_or(Vec::new(), |tail| tail.records)
    }

    /// Appends one record to the bookkeeping, synced: what no thought needs to see, but a restart or an account does.
    pub(crate) fn book(&mut self, kind: &str, data: Value) -> Result<(), Fault> {
        let record = self.at_present(kind, data);
        self.books.append(&record).map_err(|cause| unwritten(kind, &cause))
    }

    fn at_present(&self, kind: &str, data: Value) -> Record {
        Record { at: self.clock.text(), life: self.life, kind: kind.to_owned(), data }
    }
}

fn unwritten(kind: &str, cause: &memory::Error) -> Fault {
    Fault::caused(format!("append a {kind} record"), cause, "is the disk full or .self not writable?")
}
