//! Words and thinking of a chat message, as text, as parts, or in tags; and parts out of their pieces. Pure.

use serde_json::{Value, json};

use crate::stream::{merge, set, word};

/// Fields in which servers put what a model thought; the first that says something is read.
pub(crate) const THINKING: [&str; 5] =
    ["reasoning_content", "reasoning", "reasoning_details", "reasoning_text", "thinking"];

/// Tags around thinking that a server left in the text: DeepSeek's and Qwen's, older ones, Mistral's.
const TAGS: [(&str, &str); 3] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]")];

/// The words of a content or of a thinking field, without parts that are thinking.
pub(crate) fn said(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(part).collect(),
        Some(one @ Value::Object(_)) => part(one).to_owned(),
        _ => String::new(),
    }
}

fn part(part: &Value) -> &str {
    part.get("text").or(part.get("summary")).and_then(Value::as_str).unwrap_or_default()
}

/// The thinking among the parts of a content, as Mistral sends it.
pub(crate) fn thought(content: Option<&Value>) -> String {
    let parts = content.and_then(Value::as_array).into_iter().flatten();
    parts.map(|part| said(part.get("thinking"))).collect()
}

pub(crate) fn is_thinking(part: &Value) -> bool {
    word(part, "type") == "thinking"
}

/// Adds a delta: words to words, parts to the part they belong to.
pub(crate) fn join(there: &mut Value, more: Value) {
    match (there, more) {
        (Value::Array(parts), Value::Array(more)) => more.into_iter().for_each(|piece| add(parts, piece)),
        (Value::Array(_), Value::String(more)) if more.is_empty() => {}
        (Value::Array(parts), Value::String(more)) => add(parts, json!({"type": "text", "text": more})),
        (there @ (Value::Null | Value::String(_)), Value::Array(more)) => {
            let text = there.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            *there = json!([]);
            text.into_iter().for_each(|text| join(there, json!(text)));
            join(there, Value::Array(more));
        }
        (there, more) => merge(there, more),
    }
}

fn add(parts: &mut Vec<Value>, piece: Value) {
    let last = parts.len().checked_sub(1);
    let found = parts.iter().enumerate().rposition(|(at, part)| goes_on(part, &piece, Some(at) == last));
    let Some(part) = found.and_then(|at| parts.get_mut(at)) else {
        parts.push(piece);
        return;
    };
    for (key, more) in piece.as_object().into_iter().flatten() {
        match (key.as_str(), more) {
            (_, Value::Null) => {}
            ("text" | "summary" | "data" | "thinking", more) => {
                let mut whole = part.get_mut(key).map_or(Value::Null, Value::take);
                join(&mut whole, more.clone());
                set(part, key, whole);
            }
            (_, Value::String(more)) if more.is_empty() => {}
            (_, more) => set(part, key, more.clone()),
        }
    }
}

/// Whether a piece belongs to a part: of its kind, by its index, or else right behind it.
fn goes_on(part: &Value, piece: &Value, is_last: bool) -> bool {
    let kind = word(part, "type");
    let is_joined = matches!(kind, "text" | "output_text" | "thinking") || kind.starts_with("reasoning.");
    let of = |key: &str| [part, piece].map(|one| one.get(key).filter(|value| !value.is_null()));
    let is_other = |key: &str| matches!(of(key), [Some(one), Some(other)] if one != other);
    let is_numbered = matches!(of("index"), [Some(_), Some(_)]);
    is_joined
        && kind == word(piece, "type")
        && !is_other("index")
        && !is_other("id")
        && (is_numbered || is_last)
}

/// The thinking that stands in tags before the words, and the words; the tag that opens it may stand in the prompt.
pub(crate) fn aloud(text: &str) -> (&str, &str) {
    let begin = text.trim_start();
    for (opens, closes) in TAGS {
        if let Some(rest) = begin.strip_prefix(opens) {
            // What was cut within its thinking has said nothing yet.
            let (thought, words) = rest.split_once(closes).unwrap_or((rest, ""));
            return (thought.trim(), words.trim_start());
        }
    }
    let lone = TAGS.iter().filter(|(opens, _)| !text.contains(opens));
    let lone = lone.filter_map(|(_, closes)| text.split_once(closes));
    let thought = lone.min_by_key(|(before, _)| before.len());
    let thought = thought.filter(|(before, after)| !is_spoken_of(before, after));
    thought.map_or(("", text), |(thought, words)| (thought.trim(), words.trim_start()))
}

/// Whether a tag between these texts is in quotes or in code: words about it.
fn is_spoken_of(before: &str, after: &str) -> bool {
    let is_quote = |letter: char| "`\"'“‘".contains(letter);
    before.ends_with(is_quote) || after.starts_with(is_quote) || before.matches("```").count() % 2 == 1
}
