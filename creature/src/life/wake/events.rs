//! Events for the live feed: what a wake is for, what an act came to, what a pause holds up.

use crate::life::Life;
use agenda::waking::{self, Found};
use ground::text::shorten;
use jiff::Timestamp;
use mind::thought::ToolCall;
use serde_json::{Value, json};

/// Characters of an act's summary, and of what is to be resumed.
const MOST_SUMMARY: usize = 160;
const MOST_RESUMED: usize = 160;

/// Returns the result of a call in a line.
pub(crate) fn summary(call: &ToolCall, result: &Value) -> String {
    let told = |names: &[&str]| {
        let said = names.iter().find_map(|name| result.get(*name)?.as_str()).filter(|said| !said.is_empty());
        said.map(str::to_owned)
    };
    let came = match result.get("ok") == Some(&Value::Bool(true)) {
        true => told(&["note", "path", "id"]).unwrap_or_else(|| "done".to_owned()),
        false => format!("failed: {}", told(&["error"]).unwrap_or_else(|| "no reason given".to_owned())),
    };
    let line = format!("{}: {came}", call.tool).replace(char::is_control, " ");
    shorten(&line, MOST_SUMMARY)
}

impl Life {
    /// A wake's beat with what it is for first and what is done about that.
    pub(crate) fn wakeup(&self, found: &Found, why: &[String], beat: &Value, now: Timestamp) -> Value {
        let priority = if why.is_empty() { waking::NONE } else { waking::priority(found) };
        let line = self.first_line(now).filter(|_| priority == waking::WORK);
        let action = line.map(|line| format!("{}: {}", line.id, shorten(&line.next, MOST_RESUMED)));
        let action = action.or_else(|| why.first().cloned()).unwrap_or_else(|| "rest".to_owned());
        let mut event = beat.clone();
        if let Value::Object(fields) = &mut event {
            fields.insert("priority".to_owned(), json!(priority));
            fields.insert("action".to_owned(), json!(action));
        }
        event
    }

    /// Returns what a pause holds up and what goes on after it; empty where nothing would.
    pub(crate) fn held_up(&self) -> String {
        let interrupted = || self.cursors.owner.interrupted.as_ref().map(|one| one.what.clone());
        let line =
            || self.first_line(self.told.clock.now()).map(|line| format!("{} {}", line.id, line.title));
        let what = self.unfinished.busy.clone().or_else(interrupted).or_else(line);
        what.map_or(String::new(), |what| shorten(&what, MOST_RESUMED))
    }
}
