//! Evidence: what the records and the state show about the creature's own pace. Pure.

use super::turn::Turn;
use jiff::Timestamp;
use memory::Record;
use serde_json::Value;

/// Wakes that are evidence, and as many that are the measure of an edit.
pub const WINDOW: usize = 15;

/// What memory shows of the last wakes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Wakes looked at, at most `WINDOW`; how many of them found nothing, or something.
    pub wakes: usize,
    pub idle: usize,
    pub eventful: usize,
    /// From one of them to the next, in seconds.
    pub each_s: i64,
    pub failed_looks: u32,
    /// Since the first failed look, in seconds.
    pub failing_s: i64,
}

/// One wake as the records show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Wake {
    pub life: u64,
    pub wake: u64,
    pub at_s: i64,
    /// No thought of it called a tool.
    pub idle: bool,
    /// Something was written down or said in it.
    pub eventful: bool,
}

/// Wakes of this mind, oldest first.
pub fn wakes(records: &[Record]) -> Vec<Wake> {
    let mut wakes: Vec<Wake> = Vec::new();
    let own = |data: &Value| data.get("mind").and_then(Value::as_str) == Some("instinct");
    for record in records {
        if record.kind != "thought" || !own(&record.data) {
            continue;
        }
        let life = record.life;
        let wake = record.data.get("wake").and_then(Value::as_u64).unwrap_or(0);
        let mut seen = match wakes.pop_if(|last| (last.life, last.wake) == (life, wake)) {
            Some(same) => same,
            None => {
                let at_s = record.at.parse::<Timestamp>().map_or(0, |at| at.as_second());
                Wake { life, wake, at_s, idle: true, eventful: false }
            }
        };
        let calls = record.data.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            let tool = call.get("tool").and_then(Value::as_str).unwrap_or("");
            seen.idle = false;
            seen.eventful |= matches!(tool, "notes.append" | "memory.append");
        }
        wakes.push(seen);
    }
    wakes
}

pub fn gather(wakes: &[Wake], turn: &Turn) -> Evidence {
    let last = wakes.get(wakes.len().saturating_sub(WINDOW)..).unwrap_or_default();
    let count = |holds: fn(&Wake) -> bool| last.iter().filter(|wake| holds(wake)).count();
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
