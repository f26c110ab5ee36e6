//! Decides when the broker process is started, started again and ended. Pure.
//!
//! Invariant: at most one broker runs; every event has an answer in every state; no rest is longer than `LONGEST_MS`.
//! Absent on purpose: files, processes, the clock, words for people.

use house::clock::Millis;

/// First rest after an unexpected end; doubled after each further one.
pub const SHORTEST_MS: Millis = 200;
pub const LONGEST_MS: Millis = 30_000;
/// After living this long the rest starts from `SHORTEST_MS` again.
pub const PROVEN_MS: Millis = 60_000;
/// Time between SIGTERM and SIGKILL: longer than the broker allows its open calls.
pub const GRACE_MS: Millis = 8_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// There is no program to start: neither built nor found.
    Without,
    /// Is started as soon as this time has come.
    Due {
        at: Millis,
    },
    Running {
        since: Millis,
    },
    /// Was asked to end; then a new one is started with the owner's changed settings.
    Ending {
        since: Millis,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Tick,
    /// A program is there now.
    Found,
    /// The process runs.
    Started,
    /// The process could not be started.
    NotStarted,
    /// The process has ended.
    Ended,
    /// The files the broker is configured by have changed.
    Reload,
}

/// What to do with the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Start,
    Terminate,
    Kill,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revival {
    pub presence: Presence,
    /// Length of the rest after its next end.
    rest_ms: Millis,
}

impl Default for Revival {
    fn default() -> Self {
        Self { presence: Presence::Without, rest_ms: SHORTEST_MS }
    }
}

impl Revival {
    pub fn running(&self) -> bool {
        matches!(self.presence, Presence::Running { .. } | Presence::Ending { .. })
    }

    /// When to tick at the latest if no event comes before.
    pub fn deadline(&self) -> Option<Millis> {
        match self.presence {
            Presence::Without | Presence::Running { .. } => None,
            Presence::Due { at } => Some(at),
            Presence::Ending { since } => Some(since + GRACE_MS),
        }
    }

    pub fn step(&mut self, now: Millis, event: Event) -> Option<Act> {
        let (presence, act) = match (&self.presence, event) {
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
            (Presence::Running { since }, Event::Ended) => {
                if now.saturating_sub(*since) >= PROVEN_MS {
                    self.rest_ms = SHORTEST_MS;
                }
                (self.after_a_rest(now), None)
            }
            (Presence::Running { .. }, Event::Reload) => {
                (Presence::Ending { since: now }, Some(Act::Terminate))
            }
            (Presence::Ending { since }, Event::Tick) if now >= since + GRACE_MS => {
                (Presence::Ending { since: now }, Some(Act::Kill))
            }
            (Presence::Ending { .. }, Event::Ended) => (Presence::Due { at: now }, Some(Act::Start)),
            (presence, _) => (presence.clone(), None),
        };
        self.presence = presence;
        act
    }

    fn after_a_rest(&mut self, now: Millis) -> Presence {
        let at = now + self.rest_ms;
        self.rest_ms = (self.rest_ms * 2).min(LONGEST_MS);
        Presence::Due { at }
    }
}
