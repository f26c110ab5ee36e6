//! Evidence: what the state shows about the creature's own pace. Pure.

use super::sources;
use super::turn::Turn;
use serde::{Deserialize, Serialize};

/// Wakes that evidence is taken from, and wakes for which an edit is measured.
pub const WINDOW: usize = 15;

/// What the last wakes show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Wakes looked at, at most `WINDOW`; how many were idle or eventful, 0 where sources set the rest.
    pub wakes: usize,
    pub idle: usize,
    pub eventful: usize,
    /// Seconds from one wake to the next, on average.
    pub each_s: i64,
    pub failed_looks: u32,
    /// Seconds since the first failed look.
    pub failing_s: i64,
}

/// One wake, as it ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wake {
    pub life: u64,
    pub at_s: i64,
    /// No thought of the wake called a tool.
    pub idle: bool,
    /// Something was written down or said in the wake.
    pub eventful: bool,
}

/// Keeps what this thought shows of its wake. An idle wake may leave no record: the state alone counts it.
pub fn count(turn: &mut Turn) {
    let (idle, life, at_s) = (!turn.acts(), turn.moment.life, turn.now_s);
    let eventful = turn.tools().any(|tool| matches!(tool, "notes.append" | "memory.append"));
    let goes_on = turn.moment.round > 0;
    let wakes = &mut turn.state.change.wakes;
    match wakes.last_mut().filter(|last| goes_on && last.life == life) {
        Some(last) => (last.idle, last.eventful) = (last.idle && idle, last.eventful || eventful),
        None => wakes.push(Wake { life, at_s, idle, eventful }),
    }
}

pub fn gather(turn: &Turn) -> Evidence {
    let wakes = &turn.state.change.wakes;
    let last = wakes.get(wakes.len().saturating_sub(WINDOW)..).unwrap_or_default();
    // Where there are sources to follow they set the rest, and the idle rest changes nothing.
    let paced = sources::next_due(turn).is_none();
    let count = |holds: fn(&Wake) -> bool| last.iter().filter(|wake| paced && holds(wake)).count();
    let since = |at_s: i64| turn.now_s.saturating_sub(at_s).max(0);
    let first_s = last.first().map_or(turn.now_s, |first| first.at_s);
    Evidence {
        wakes: last.len(),
        idle: count(|wake| wake.idle),
        eventful: count(|wake| wake.eventful),
        each_s: since(first_s) / i64::try_from(last.len().max(1)).unwrap_or(1),
        failed_looks: turn.state.change.failed_looks,
        failing_s: since(turn.state.change.failing_since_s),
    }
}
