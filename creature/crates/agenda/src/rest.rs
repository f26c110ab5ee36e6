//! The rest after a wake: its length by the situation, within the owner's bounds, cut to what comes due. Pure.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Seconds by which a quiet rest grows with each quiet wake in a row.
const QUIET_STEP_S: u64 = 300;

/// The owner's bounds of a rest, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    pub shortest_s: u64,
    /// The longest rest where no thought chose one.
    pub longest_s: u64,
    /// The longest rest a thought may choose.
    pub chosen_s: u64,
    /// The longest rest with nothing to do.
    pub quiet_s: u64,
}

impl Bounds {
    /// The rest of a thought that chose this many seconds.
    pub fn chosen(&self, said_s: u64) -> u64 {
        said_s.clamp(self.shortest_s, self.chosen_s.max(self.shortest_s))
    }
}

/// Situation at the end of a wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Situation {
    /// A checkpoint of a goal is ready.
    Checkpoint,
    /// An opportunity is to be followed.
    Lead,
    Normal,
    /// Nothing to do, for so many wakes in a row.
    Quiet(u64),
    /// The budget is nearly gone.
    Poor,
    /// The creature's own money is spent.
    Spent,
}

impl Situation {
    /// The rest by default, in seconds.
    pub fn usual_s(self) -> u64 {
        match self {
            Situation::Checkpoint => 60,
            Situation::Lead => 120,
            Situation::Normal => 300,
            Situation::Quiet(wakes) => 900 + QUIET_STEP_S * wakes.min(10),
            Situation::Poor | Situation::Spent => 3_600,
        }
    }

    /// The rest to take, in seconds; `said` is the rest that the thought chose, if any.
    pub fn rest_s(self, said: Option<u64>, bounds: Bounds) -> u64 {
        match (self, said) {
            // With the budget nearly gone, a thought cannot choose a shorter rest.
            (Situation::Poor, _) => self.usual_s(),
            (Situation::Spent, None) => self.usual_s(),
            (Situation::Quiet(_), None) => self.usual_s().clamp(bounds.shortest_s, bounds.quiet_s),
            (_, None) => self.usual_s().clamp(bounds.shortest_s, bounds.longest_s),
            (_, Some(said)) => bounds.chosen(said),
        }
    }
}

/// The rest, cut to end at `due` to the millisecond; where `due` has passed, cut to the shortest rest.
pub fn cut(rest_s: u64, due: Option<Timestamp>, now: Timestamp, bounds: Bounds) -> Duration {
    let rest = Duration::from_secs(rest_s);
    let Some(due) = due else { return rest };
    match u64::try_from(due.as_millisecond().saturating_sub(now.as_millisecond())) {
        Ok(wait_ms) if wait_ms > 0 => rest.min(Duration::from_millis(wait_ms)),
        _ => rest.min(Duration::from_secs(bounds.shortest_s)),
    }
}
