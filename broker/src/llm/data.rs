//! Images and documents in a request must be data, not addresses: otherwise the provider would fetch those.
//!
//! Pure: nothing here reads, sends or waits.

use crate::ground::refusal::Refusal;
use serde_json::{Map, Value};

/// Fields that are text to every provider, whatever they contain: what a tool was called with, and what a model
/// quoted.
pub(super) const WORDS: [&str; 4] = ["input", "arguments", "annotations", "citations"];

/// Refuses what would make the provider fetch an address: data could leave in it, around the rules of `[web]`.
pub fn fetches_nothing(fields: &Map<String, Value>) -> Result<(), Refusal> {
    let messages = fields.get("messages").and_then(Value::as_array).into_iter().flatten();
    let contents = messages.map(|message| message.get("content"));
    let besides = ["system", "input", "instructions"].map(|name| fields.get(name));
    contents.chain(besides).flatten().try_for_each(holds_data)
}

/// Checks a block, or a list of blocks, and everything they contain.
fn holds_data(content: &Value) -> Result<(), Refusal> {
    let fields = match content {
        Value::Array(blocks) => return blocks.iter().try_for_each(holds_data),
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return Ok(()),
    };
    let data = |url: &Value| {
        let url = url.as_str().or_else(|| url.get("url").and_then(Value::as_str));
        url.is_some_and(|url| url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")))
    };
    let of_source = |source: &Map<String, Value>| {
        source
            .get("type")
            .and_then(Value::as_str)
            .is_some_and(|kind| matches!(kind, "base64" | "text" | "content"))
            && !source.contains_key("url")
    };
    let addressed =
        fields.iter().any(|(name, value)| name.ends_with("url") && !value.is_null() && !data(value));
    let source = fields.get("source").and_then(Value::as_object);
    if addressed || source.is_some_and(|source| !of_source(source)) {
        let hint = "fetch it with GET /web?url=… and send it as data: base64, or a data: address";
        let message = "images and documents are passed on as data only, not by an address or a number";
        return Err(Refusal::new(400, "not_data", message, hint));
    }
    fields
        .iter()
        .filter(|(name, _)| !WORDS.contains(&name.as_str()))
        .try_for_each(|(_, value)| holds_data(value))
}
