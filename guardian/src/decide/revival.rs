//! Decides when one of the owner's daemons is started, started again and ended. Pure.
//!
//! Invariant: at most one process of a daemon runs; every event has an answer in every state; no rest is longer than its
//! pace allows.
//! Absent on purpose: files, processes, the clock, words for people.

use house::clock::Millis;

/// How patiently a daemon is started, started again and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Rest before the first start.
    pub first_ms: Millis,
    /// First rest after an unexpected end; doubled after each further one, up to the longest.
    pub shortest_ms: Millis,
    pub longest_ms: Millis,
    /// After living this long the rest starts from the shortest again.
    pub proven_ms: Millis,
    /// Time between SIGTERM and SIGKILL.
    pub grace_ms: Millis,
}

impl Pace {
    /// The grace is longer than the broker allows its open calls.
    pub const USUAL: Self =
        Self { first_ms: 0, shortest_ms: 200, longest_ms: 30_000, proven_ms: 60_000, grace_ms: 8_000 };
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// There is no program to start: neither built nor found.
    Without,
    /// Starts as soon as this time has come.
    Due {
        at: Millis,
    },
    Running {
        since: Millis,
    },
    /// Was asked to end; then a new one is started where one is still wanted.
    Ending {
        since: Millis,
        again: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Tick,
    /// A program is there now, and wanted.
    Found,
    /// The process runs.
    Started,
    /// The process could not be started.
    NotStarted,
    /// The process has ended.
    Ended,
    /// The files it is configured by, or its program, have changed.
    Reload,
    /// It is wanted no more.
    Dropped,
}

/// Action on the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Start,
    Terminate,
    Kill,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revival {
    pub presence: Presence,
    pub pace: Pace,
    /// Length of the rest after its next end, within the pace.
    rest_ms: Millis,
}

impl Revival {
    pub fn new(pace: Pace) -> Self {
        Self { presence: Presence::Without, pace, rest_ms: pace.shortest_ms }
    }

    pub fn running(&self) -> bool {
        matches!(self.presence, Presence::Running { .. } | Presence::Ending { .. })
    }

    /// Returns the latest time of the next tick if no event comes before.
    pub fn deadline(&self) -> Option<Millis> {
        match self.presence {
            Presence::Without | Presence::Running { .. } => None,
            Presence::Due { at } => Some(at),
            Presence::Ending { since, .. } => Some(since + self.pace.grace_ms),
        }
    }

    pub fn step(&mut self, now: Millis, event: Event) -> Option<Act> {
        let (presence, act) = match (&self.presence, event) {
            (Presence::Without, Event::Found) if self.pace.first_ms > 0 => {
                (Presence::Due { at: now + self.pace.first_ms }, None)
            }
            (Presence::Without, Event::Found) => (Presence::Due { at: now }, Some(Act::Start)),
            (Presence::Due { at }, Event::Tick) if now >= *at => {
                (Presence::Due { at: *at }, Some(Act::Start))
            }
            // The owner who changed something wants to see at once whether it works.
            (Presence::Due { .. }, Event::Reload | Event::Found) => {
                (Presence::Due { at: now }, Some(Act::Start))
            }
            (Presence::Due { .. }, Event::Started) => (Presence::Running { since: now }, None),
            (Presence::Due { .. }, Event::NotStarted) => (self.after_a_rest(now), None),
            (Presence::Due { .. }, Event::Dropped) => (Presence::Without, None),
            (Presence::Running { since }, Event::Ended) => {
                if now.saturating_sub(*since) >= self.pace.proven_ms {
                    self.rest_ms = self.pace.shortest_ms;
                }
                (self.after_a_rest(now), None)
            }
            (Presence::Running { .. }, Event::Reload | Event::Dropped) => {
                (Presence::Ending { since: now, again: event == Event::Reload }, Some(Act::Terminate))
            }
            (Presence::Ending { since, again }, Event::Tick) if now >= since + self.pace.grace_ms => {
                (Presence::Ending { since: now, again: *again }, Some(Act::Kill))
            }
            (Presence::Ending { since, .. }, Event::Reload | Event::Dropped) => {
                (Presence::Ending { since: *since, again: event == Event::Reload }, None)
            }
            (Presence::Ending { again: false, .. }, Event::Ended) => (Presence::Without, None),
            (Presence::Ending { .. }, Event::Ended) => (Presence::Due { at: now }, Some(Act::Start)),
            (presence, _) => (presence.clone(), None),
        };
        self.presence = presence;
        act
    }

    fn after_a_rest(&mut self, now: Millis) -> Presence {
        let rest_ms = self.rest_ms.max(self.pace.shortest_ms).min(self.pace.longest_ms);
        self.rest_ms = rest_ms * 2;
        Presence::Due { at: now + rest_ms }
    }
}
