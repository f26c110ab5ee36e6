//! When the broker process is started, started anew and ended: decided from what is known of it. Pure.
//!
//! Invariant: one of it at most; every event in every standing has an answer; it never rests longer than `LONGEST_MS`.
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
pub enum Standing {
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
    pub standing: Standing,
    /// How long it rests after its next end.
    rest_ms: Millis,
}

impl Default for Revival {
    fn default() -> Self {
        Self { standing: Standing::Without, rest_ms: SHORTEST_MS }
    }
}

impl Revival {
    pub fn running(&self) -> bool {
        matches!(self.standing, Standing::Running { .. } | Standing::Ending { .. })
    }

    /// When to tick at the latest, if nothing happens before.
    pub fn deadline(&self) -> Option<Millis> {
        match self.standing {
            Standing::Without | Standing::Running { .. } => None,
            Standing::Due { at } => Some(at),
            Standing::Ending { since } => Some(since + GRACE_MS),
        }
    }

    pub fn step(&mut self, now: Millis, event: Event) -> Option<Act> {
        let (standing, act) = match (&self.standing, event) {
            (Standing::Without, Event::Found) => (Standing::Due { at: now }, Some(Act::Start)),
            (Standing::Due { at }, Event::Tick) if now >= *at => {
                (Standing::Due { at: *at }, Some(Act::Start))
            }
            // Whoever changed something wants to see it work, or fail, now.
            (Standing::Due { .. }, Event::Reload | Event::Found) => {
                (Standing::Due { at: now }, Some(Act::Start))
            }
            (Standing::Due { .. }, Event::Started) => (Standing::Running { since: now }, None),
            (Standing::Due { .. }, Event::NotStarted) => (self.after_a_rest(now), None),
            (Standing::Running { since }, Event::Ended) => {
                if now.saturating_sub(*since) >= PROVEN_MS {
                    self.rest_ms = SHORTEST_MS;
                }
                (self.after_a_rest(now), None)
            }
            (Standing::Running { .. }, Event::Reload) => {
                (Standing::Ending { since: now }, Some(Act::Terminate))
            }
            (Standing::Ending { since }, Event::Tick) if now >= since + GRACE_MS => {
                (Standing::Ending { since: now }, Some(Act::Kill))
            }
            (Standing::Ending { .. }, Event::Ended) => (Standing::Due { at: now }, Some(Act::Start)),
            (standing, _) => (standing.clone(), None),
        };
        self.standing = standing;
        act
    }

    fn after_a_rest(&mut self, now: Millis) -> Standing {
        let at = now + self.rest_ms;
        self.rest_ms = (self.rest_ms * 2).min(LONGEST_MS);
        Standing::Due { at }
    }
}
