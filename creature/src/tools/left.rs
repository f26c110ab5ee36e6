//! What a call leaves that somebody can use later: its name, by which later calls use it, and its text. Pure.

use crate::guardian_post;
use mind::thought::ToolCall;
use serde_json::Value;

/// What a tool leaves, by what it was given and what it came to; an empty name is nothing.
pub type Leaves = fn(&Call) -> (String, String);

/// What the owner was told last, by the name it is counted under: an answer uses it.
pub const MESSAGE: &str = "a message to the owner";

/// Characters of an edit's summary that name it.
const MOST_EDIT: usize = 40;

/// Papers that are its log, shown to every thought or to none: to write there leaves nothing to be used.
const LOGS: [&str; 3] = ["diary", "scratch", "heartbeat"];

/// A call that went well.
pub struct Call<'a> {
    call: &'a ToolCall,
    result: &'a Value,
}

impl Call<'_> {
    fn arg(&self, key: &str) -> String {
        self.call.args.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn came(&self, key: &str) -> String {
        self.result.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

/// What this call left; none where it leaves nothing, or only a log.
pub fn by(leaves: Option<Leaves>, call: &ToolCall, result: &Value) -> Option<(String, String)> {
    let left = leaves?(&Call { call, result });
    Some(left).filter(|(what, _)| !what.is_empty() && !LOGS.contains(&what.as_str()))
}

pub(super) fn paper(call: &Call) -> (String, String) {
    (call.arg("name"), call.arg("text"))
}

pub(super) fn file(call: &Call) -> (String, String) {
    (call.arg("path"), call.arg("text"))
}

pub(super) fn note(call: &Call) -> (String, String) {
    (format!("notes/{}", call.arg("name")), call.arg("text"))
}

/// Something new on the agenda.
pub(super) fn item(call: &Call) -> (String, String) {
    (call.came("id"), call.arg("title") + &call.arg("text"))
}

/// A step of something that is there.
pub(super) fn step(call: &Call) -> (String, String) {
    (call.arg("id"), String::new())
}

pub(super) fn message(call: &Call) -> (String, String) {
    (MESSAGE.to_owned(), call.arg("text"))
}

pub(super) fn change(call: &Call) -> (String, String) {
    (edit(&call.arg("summary")), String::new())
}

/// What waits for the owner's yes; sent at once, it is out of the house.
pub(super) fn ask(call: &Call) -> (String, String) {
    let ask = call.came("asked");
    (if ask.is_empty() { ask } else { format!("ask {ask}") }, call.arg("text"))
}

/// The name of an edit of its own source: the life that is born of it uses it. Empty for one that says nothing of itself.
///
/// Only its beginning counts: the guardian tells a life what it was born of by a commit's subject, which is cut.
pub fn edit(summary: &str) -> String {
    let words: String = guardian_post::one_line(summary).chars().take(MOST_EDIT).collect();
    if words.is_empty() { words } else { format!("edit: {}", words.trim_end()) }
}
