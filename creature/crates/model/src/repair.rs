//! Finds the JSON object in a model's reply that is not quite JSON, or has text around it.
//!
//! Invariant: never panics, takes time in proportion to the text, and never completes a string that was cut short.

use serde_json::{Map, Value};

use crate::lenient::{Fault, Parser};

/// An object, and what had to be done to get it.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// Always an object.
    pub value: Value,
    /// Empty when the text was JSON as it stood.
    pub how: Vec<&'static str>,
}

/// How many times the text's length may be read before it is given up as hopeless.
const MOST_READINGS: usize = 8;

/// An object as it was found in a text, from one byte to another.
pub struct Found {
    pub object: Map<String, Value>,
    pub start: usize,
    pub end: usize,
    /// Repairs made, in words.
    pub how: Vec<&'static str>,
}

/// The largest object in the text; an error says where the reading stopped and at what.
pub fn object(text: &str) -> Result<Repaired, String> {
    if let Ok(Value::Object(object)) = serde_json::from_str(text) {
        let (value, how) = (Value::Object(object), Vec::new());
        return Ok(Repaired { value, how });
    }
    let from = text.len() - after_thinking(text).len();
    let found = search(text, from)?;
    let others = found.len() > 1;
    // The first of the largest.
    let best = found.into_iter().rev().max_by_key(|found| found.end - found.start);
    let Some(best) = best else { return Err(NONE.to_owned()) };
    let before = text.get(..best.start).unwrap_or_default();
    let after = text.get(best.end..).unwrap_or_default();
    let mut how = best.how;
    let mut note = |applies: bool, what| {
        if applies {
            how.push(what);
        }
    };
    note(before.contains("```"), "fenced");
    note(from > 0, "thinking before it");
    let said = |text: &str| text.chars().any(|letter| !is_blank(letter) && letter != '`');
    let before = before.get(from..).unwrap_or_default();
    let before = before.trim().trim_end_matches("json");
    note(said(before), "text before it");
    note(said(after), "text after it");
    note(others, "several objects");
    let value = Value::Object(best.object);
    Ok(Repaired { value, how })
}

/// White space, and the mark some editors put at a text's start.
pub(crate) fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{feff}'
}

/// The objects of a text that do not stand in one another, in their order; an error says where the reading stopped.
pub fn objects(text: &str) -> Result<Vec<Found>, String> {
    search(text, 0)
}

/// The reply without what a reasoning model thought aloud before it; the tag that opens it may stand in the prompt.
pub fn after_thinking(text: &str) -> &str {
    let start = text.trim_start();
    let opens = ["<think>", "<thinking>"].iter().any(|tag| start.starts_with(tag));
    let is_json = start.starts_with(['{', '[', '`']);
    let ends = ["</think>", "</thinking>"].iter();
    let end = ends.filter_map(|tag| Some(text.find(tag)? + tag.len()));
    let end = if opens || !is_json { end.min().unwrap_or(0) } else { 0 };
    text.get(end..).unwrap_or(text)
}

const NONE: &str = "no JSON object in the reply";

/// The objects from `from` on.
fn search(text: &str, from: usize) -> Result<Vec<Found>, String> {
    let (mut at, mut read) = (from, 0);
    let mut all: Vec<Found> = Vec::new();
    let mut failed: Option<Fault> = None;
    while let Some(start) = next_brace(text, at) {
        at = start + 1;
        // Inside an object that cannot be read, only what stands at a line's start is taken for another one:
        // an argument of a broken thought must not pass for the thought.
        if failed.is_some() && !text.get(..start).is_some_and(|before| before.ends_with('\n')) {
            continue;
        }
        let mut parser = Parser::new(text, start);
        let result = parser.object(0);
        read += parser.at.saturating_sub(start);
        match result {
            Ok(object) => {
                at = parser.at.max(at);
                all.push(Found { object, start, end: parser.at, how: parser.how });
            }
            Err(fault) if parser.begun => {
                failed.get_or_insert(fault);
            }
            Err(_) => {}
        }
        if read > MOST_READINGS * text.len() {
            break;
        }
    }
    match failed {
        Some(fault) if all.is_empty() => Err(fault.told(text)),
        None if all.is_empty() => Err(NONE.to_owned()),
        _ => Ok(all),
    }
}

fn next_brace(text: &str, from: usize) -> Option<usize> {
    Some(from + text.get(from..)?.find('{')?)
}
