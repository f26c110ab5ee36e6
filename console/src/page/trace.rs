//! A thought as spans of time: the calls of its model by the ledger, its acts by when each was remembered. Pure.

use crate::why::found::Found;
use house::bounds::{NAME_CHARS, brief};
use house::clock::Millis;
use house::moments;
use house::records::text;
use serde_json::Value;
use std::collections::HashMap;

/// Calls that are told apart.
const MOST_CALLS: usize = 100;

/// One thing that took time.
#[derive(Clone, Debug, PartialEq)]
pub struct Span<'a> {
    pub name: String,
    pub class: &'static str,
    pub from_ms: Millis,
    pub to_ms: Millis,
    /// What was paid for it, in millionths of a dollar.
    pub micro: u64,
    /// The record of an act.
    pub record: Option<&'a Value>,
}

/// The calls of models among entries of the ledger, in order, each from when it was begun.
pub fn calls(entries: &[Value]) -> Vec<Span<'static>> {
    let (mut begun, mut spans): (HashMap<&str, Millis>, Vec<Span>) = (HashMap::new(), Vec::new());
    for entry in entries {
        let Some(at_ms) = moments::ms(text(entry, "at")) else { continue };
        match text(entry, "event") {
            "reserve" if begun.len() < MOST_CALLS => {
                begun.insert(text(entry, "call"), at_ms);
            }
            "settle" if text(entry, "decision") != "never left" && spans.len() < MOST_CALLS => {
                let micro = entry.get("cost_micro_usd").and_then(Value::as_u64).unwrap_or(0);
                let from_ms = begun.remove(text(entry, "call")).unwrap_or(at_ms);
                let name = brief(text(entry, "note"), NAME_CHARS);
                spans.push(Span { name, class: "model", from_ms, to_ms: at_ms, micro, record: None });
            }
            _ => {}
        }
    }
    spans
}

/// What a thought was, in order of time: its model's calls, then its acts, each from the end of what came before it.
pub fn spans<'a>(found: &'a Found, calls: Vec<Span<'a>>) -> Vec<Span<'a>> {
    let thought_ms = moments::ms(text(&found.thought, "at")).unwrap_or(0);
    let mut spans = calls;
    let mut before_ms = spans.last().map_or(thought_ms, |span| span.to_ms).max(thought_ms);
    for record in &found.after {
        let Some(at_ms) = moments::ms(text(record, "at")) else { continue };
        let data = record.get("data").unwrap_or(&Value::Null);
        if text(record, "kind") == "action" {
            let is_ok = data.get("result").is_some_and(|result| result.get("ok") == Some(&Value::Bool(true)));
            let class = if is_ok { "act" } else { "act-failed" };
            let name = brief(text(data, "tool"), NAME_CHARS);
            let from_ms = before_ms.min(at_ms);
            spans.push(Span { name, class, from_ms, to_ms: at_ms, micro: 0, record: Some(record) });
        }
        before_ms = before_ms.max(at_ms);
    }
    spans
}
