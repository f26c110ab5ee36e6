//! The product of a call, for later use: a name, by which later calls are seen to use it, and its text. Pure.

use crate::guardian_post;
use mind::thought::ToolCall;
use serde_json::Value;

/// Tells from a call and its result the product, as (name, text); an empty name is nothing.
pub type ProductOf = fn(&Call) -> (String, String);

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

/// The product of this call, as (name, text); none where that is nothing or a log.
pub fn of(product: Option<ProductOf>, call: &ToolCall, result: &Value) -> Option<(String, String)> {
    let product = product?(&Call { call, result });
    Some(product).filter(|(what, _)| !what.is_empty() && !LOGS.contains(&what.as_str()))
}

pub(super) fn paper(call: &Call) -> (String, String) {
    (call.arg("name"), call.arg("text"))
}

pub(super) fn file(call: &Call) -> (String, String) {
    (call.arg("path"), call.arg("text"))
}

/// The first file that an edit of the workspace names.
pub(super) fn edited(call: &Call) -> (String, String) {
    (call.came("path"), String::new())
}

pub(super) fn note(call: &Call) -> (String, String) {
    (format!("notes/{}", call.arg("name")), call.arg("text"))
}

/// Something new on the agenda.
pub(super) fn item(call: &Call) -> (String, String) {
    (call.came("id"), call.arg("title") + &call.arg("text"))
}

/// A step of an item that is there.
pub(super) fn step(call: &Call) -> (String, String) {
    (call.arg("id"), String::new())
}

pub(super) fn message(call: &Call) -> (String, String) {
    (MESSAGE.to_owned(), call.arg("text"))
}

pub(super) fn change(call: &Call) -> (String, String) {
    (edit(&call.arg("summary")), String::new())
}

/// An act that waits for the owner's yes; one that was sent at once leaves nothing.
pub(super) fn ask(call: &Call) -> (String, String) {
    let ask = call.came("asked");
    (if ask.is_empty() { ask } else { format!("ask {ask}") }, call.arg("text"))
}

/// The name of a self-edit, which the life born of it uses; empty where its summary is.
///
/// Only its beginning counts: the guardian tells a life what it was born of by a commit's subject, which is cut.
pub fn edit(summary: &str) -> String {
    let words: String = guardian_post::one_line(summary).chars().take(MOST_EDIT).collect();
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
