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

struct Found {
    object: Map<String, Value>,
    start: usize,
    end: usize,
    how: Vec<&'static str>,
}

/// The largest object in the text; an error says where the reading stopped and at what.
pub fn object(text: &str) -> Result<Repaired, String> {
    if let Ok(Value::Object(object)) = serde_json::from_str(text) {
        let (value, how) = (Value::Object(object), Vec::new());
        return Ok(Repaired { value, how });
    }
    let from = after_thinking(text);
    let (best, others) = search(text, from)?;
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
    note(others > 0, "several objects");
    let value = Value::Object(best.object);
    Ok(Repaired { value, how })
}

/// White space, and the mark some editors put at a text's start.
pub(crate) fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{feff}'
}

/// Byte offset at which the reply begins, after what a reasoning model thought aloud.
fn after_thinking(text: &str) -> usize {
    let start = text.trim_start();
    let opens = ["<think>", "<thinking>"].iter().any(|tag| start.starts_with(tag));
    let ends = ["</think>", "</thinking>"];
    let end = ends.iter().filter_map(|tag| Some(text.find(tag)? + tag.len()));
    if opens { end.min().unwrap_or(0) } else { 0 }
}

/// The largest object from `from` on, and how many others there are.
fn search(text: &str, from: usize) -> Result<(Found, usize), String> {
    let (mut at, mut read) = (from, 0);
    let mut best: Option<Found> = None;
    let mut others = 0;
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
                let (end, how) = (parser.at, parser.how);
                others += usize::from(best.is_some());
                let longest = best.as_ref().map_or(0, |best| best.end - best.start);
                if end - start > longest {
                    best = Some(Found { object, start, end, how });
                }
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
    match (best, failed) {
        (Some(best), _) => Ok((best, others)),
        (None, Some(fault)) => Err(fault.told(text)),
        (None, None) => Err("no JSON object in the reply".to_string()),
    }
}

fn next_brace(text: &str, from: usize) -> Option<usize> {
    Some(from + text.get(from..)?.find('{')?)
}
