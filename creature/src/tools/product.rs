//! The product of a call, for later use: a name, by which later calls are seen to use it. Pure.

use crate::guardian_post;
use mind::thought::ToolCall;
use serde_json::Value;

/// Tells from a call and its result the name of the product; an empty one is nothing.
pub type ProductOf = fn(&Call) -> String;

/// Name of the last message to the owner; whatever the owner says next counts as its use.
pub const MESSAGE: &str = "a message to the owner";

/// Characters of an edit's summary that name it.
const MOST_EDIT: usize = 40;

/// Papers that are logs, shown to every thought or to none: writing one leaves nothing to be used later.
const LOGS: [&str; 3] = ["diary", "scratch", "heartbeat"];

/// A call that went well, and its result.
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

/// The name of the product of this call; none where that is nothing or a log.
pub fn of(product: Option<ProductOf>, call: &ToolCall, result: &Value) -> Option<String> {
    let what = product?(&Call { call, result });
    Some(what).filter(|what| !what.is_empty() && !LOGS.contains(&what.as_str()))
}

pub(super) fn paper(call: &Call) -> String {
    call.arg("name")
}

pub(super) fn file(call: &Call) -> String {
    call.arg("path")
}

/// The first file that an edit of the workspace names.
pub(super) fn edited(call: &Call) -> String {
    call.came("path")
}

pub(super) fn note(call: &Call) -> String {
    format!("notes/{}", call.arg("name"))
}

/// Something new on the agenda.
pub(super) fn item(call: &Call) -> String {
    call.came("id")
}

/// A step of an item that is there.
pub(super) fn step(call: &Call) -> String {
    call.arg("id")
}

pub(super) fn message(_: &Call) -> String {
    MESSAGE.to_owned()
}

pub(super) fn change(call: &Call) -> String {
    edit(&call.arg("summary"))
}

/// An act that waits for the owner's yes; one that was sent at once leaves nothing.
pub(super) fn ask(call: &Call) -> String {
    let ask = call.came("asked");
    if ask.is_empty() { ask } else { format!("ask {ask}") }
}

/// The name of a self-edit, which the life born of it uses; empty where its summary is.
///
/// Only its beginning counts: the guardian tells a life what it was born of by a commit's subject, which is cut.
pub fn edit(summary: &str) -> String {
    let words: String = guardian_post::summary_line(summary).chars().take(MOST_EDIT).collect();
    if words.is_empty() { words } else { format!("edit: {}", words.trim_end()) }
}

/// Whether a call that went well is of use at once: it ticked a step or ended something as done, or the owner has its
/// words now.
pub fn is_step(call: &ToolCall, result: &Value) -> bool {
    let arg = |key: &str| call.args.get(key).and_then(Value::as_str).unwrap_or_default();
    match call.tool.as_str() {
        "goal.checkpoint" => arg("status") == "done",
        "task.done" => arg("failed").is_empty(),
        "agenda.close" => arg("outcome") == "done",
        "owner.message" => result.get("delivered").and_then(Value::as_u64).is_some_and(|many| many > 0),
        _ => false,
    }
}

/// Whether it is an item of the agenda: of use once it is done, not by being named again.
pub fn is_item(what: &str) -> bool {
    what.split_once('-').is_some_and(|(kind, number)| {
        kind.chars().all(|c| c.is_ascii_lowercase()) && number.chars().all(|c| c.is_ascii_digit())
    })
}
