//! A thought as spans of time: the calls of its model by the ledger, its acts by when each was remembered. Pure.

use crate::why::found::Found;
use house::bounds::{NAME_CHARS, brief};
use house::clock::Millis;
use house::moments;
use house::records::ledger::{Booked, Entry};
use house::records::memory::Record;
use serde_json::Value;
use std::collections::HashMap;

/// Calls that are told apart.
const MOST_CALLS: usize = 100;

/// A call or an act, and the time it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Span<'a> {
    pub name: String,
    pub class: &'static str,
    pub from_ms: Millis,
    pub to_ms: Millis,
    /// Its cost in millionths of a dollar.
    pub micro: u64,
    /// The record of an act.
    pub record: Option<&'a Value>,
}

/// The calls of models among entries of the ledger, in order, each from when it was begun.
#[allow(clippy::wildcard_enum_match_arm)]
pub fn calls(entries: &[Value]) -> Vec<Span<'static>> {
    let (mut begun, mut spans): (HashMap<&str, Millis>, Vec<Span>) = (HashMap::new(), Vec::new());
    for entry in entries.iter().map(Entry) {
        let Some(at_ms) = moments::ms(entry.at()) else { continue };
        match entry.booked() {
            Booked::Reserve if begun.len() < MOST_CALLS => {
                begun.insert(entry.call(), at_ms);
            }
            Booked::Settle if spans.len() < MOST_CALLS => {
                let micro = entry.cost_micro_usd();
                let from_ms = begun.remove(entry.call()).unwrap_or(at_ms);
                let name = brief(entry.note(), NAME_CHARS);
                spans.push(Span { name, class: "model", from_ms, to_ms: at_ms, micro, record: None });
            }
            _ => {}
        }
    }
    spans
}

/// Returns a thought's spans in order of time: its model's calls, then its acts, each from the end of the one before.
pub fn spans<'a>(found: &'a Found, calls: Vec<Span<'a>>) -> Vec<Span<'a>> {
    let thought_ms = moments::ms(Record(&found.thought).at()).unwrap_or(0);
    let mut spans = calls;
    let mut before_ms = spans.last().map_or(thought_ms, |span| span.to_ms).max(thought_ms);
    for record in &found.after {
        let Some(at_ms) = moments::ms(Record(record).at()) else { continue };
        if let Some(action) = Record(record).action() {
            let class = if action.is_ok() { "act" } else { "act-failed" };
            let name = brief(&action.called(), NAME_CHARS);
            let from_ms = before_ms.min(at_ms);
            spans.push(Span { name, class, from_ms, to_ms: at_ms, micro: 0, record: Some(record) });
        }
        before_ms = before_ms.max(at_ms);
    }
    spans
}
