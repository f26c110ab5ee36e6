//! When the broker process is started, started anew and ended: decided from what is known of it. Pure.
//!
//! Invariant: one of it at most; every event in every presence has an answer; it never rests longer than `LONGEST_MS`.
//! Absent on purpose: files, processes, the clock, words for people.

use house::clock::Millis;

/// First rest after an end nobody asked for; doubles with each.
pub const SHORTEST_MS: Millis = 200;
pub const LONGEST_MS: Millis = 30_000;
/// Having lived so long, it is as good as new.
pub const PROVEN_MS: Millis = 60_000;
/// Between being asked to end and being ended: longer than the broker lets what it has in hand go on.
pub const GRACE_MS: Millis = 8_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// There is no program to start: not built, not there.
    Without,
    /// Starts as soon as this time has come.
    Due {
        at: Millis,
    },
    Running {
        since: Millis,
    },
    /// Asked to end, for a new one to start with what the owner changed.
    Ending {
        since: Millis,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Tick,
    /// There is a program to start now.
    Found,
    /// Its process runs.
    Started,
    /// It could not be started.
    NotStarted,
    /// Its process is gone.
    Ended,
    /// What it runs by has changed.
    Reload,
}

/// What to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Start,
    Terminate,
    Kill,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revival {
    pub presence: Presence,
    /// How long it rests after its next end.
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

    /// When to tick at the latest, if nothing happens before.
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
            // Whoever changed something wants to see it work, or fail, now.
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
