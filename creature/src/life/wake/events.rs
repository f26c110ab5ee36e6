//! Events for the live feed: what a wake is for, what a pause holds up.

use crate::tools::tool_context::with;
use agenda::stack::Line;
use agenda::waking::{self, Found};
use ground::text::shorten;
use serde_json::{Value, json};

/// Characters of what is to be resumed.
const MOST_RESUMED: usize = 160;

/// A wake's beat with what it is for first and what is done about that; `line` is the first of its own work.
pub(super) fn wakeup(found: &Found, line: Option<&Line>, why: &[String], beat: &Value) -> Value {
    let priority = if why.is_empty() { waking::NONE } else { waking::priority(found) };
    let line = line.filter(|_| priority == waking::WORK);
    let action = line.map(|line| format!("{}: {}", line.id, shorten(&line.next, MOST_RESUMED)));
    let action = action.or_else(|| why.first().cloned()).unwrap_or_else(|| "rest".to_owned());
    with(beat.clone(), json!({"priority": priority, "action": action}))
}

/// Returns what a pause holds up: what was to be done next, or was interrupted, or is first; empty where nothing is.
pub(super) fn held_up(busy: Option<&str>, interrupted: Option<&str>, line: Option<Line>) -> String {
    let line = || line.map(|line| format!("{} {}", line.id, line.title));
    let what = busy.or(interrupted).map(str::to_owned).or_else(line);
    what.map_or(String::new(), |what| shorten(&what, MOST_RESUMED))
}
