//! `memory.*`: what a mind chooses to remember, beside what the loop records of it.

use super::arguments::Arguments;
use super::owner;
use super::tool_context::ToolContext;
use crate::fault::Fault;
use memory::kinds;
use serde_json::{Value, json};

/// Bytes of one record's data, as JSON.
const MOST_BYTES: usize = 32 * 1024;

/// Characters of a snapshot; all of it goes into every thought from then on.
const MOST_SNAPSHOT: usize = 8_000;

pub fn append(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let kind = args.maybe_text("kind").unwrap_or("observation");
    let row = kinds::of(kind);
    if !row.minds {
        return Err(args.fault(format!("cannot write records of kind `{kind}`: {}", row.what)));
    }
    let plain = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    if kind.is_empty() || kind.len() > 32 || !kind.chars().all(plain) {
        return Err(args.fault(format!("cannot write records of kind `{kind}`")));
    }
    let data = match (args.maybe_text("text"), args.value("data")) {
        (Some(text), None) if !text.trim().is_empty() => json!({"about": "note", "text": text}),
        (None, Some(data)) => data.clone(),
        (Some(_), Some(_)) => return Err(args.fault("takes `text` or `data`, not both")),
        (Some(_) | None, None) => return Err(args.fault("needs `text` or `data`")),
    };
    if data.to_string().len() > MOST_BYTES {
        return Err(args.fault("takes at most 32 KiB; write more with notes.write or files.write"));
    }
    if kind == "message" {
        let done = data.get("done").and_then(Value::as_bool);
        return owner::answer(tools, data, owner::Answer { done, ..owner::Answer::default() });
    }
    tools.store.record(kind, data)?;
    Ok(json!({"kind": kind}))
}

pub fn snapshot(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let text = match args.maybe_text("text") {
        Some(text) if text.trim().is_empty() => {
            return Err(args.fault("needs words in `text`, or no `text` at all"));
        }
        Some(text) if text.chars().count() > MOST_SNAPSHOT => {
            return Err(args.fault(format!("takes at most {MOST_SNAPSHOT} characters as `text`")));
        }
        text => text,
    };
    let (path, chars) = tools.store.keep_snapshot(&tools.facts, text)?;
    Ok(json!({"path": path, "chars": chars}))
}
