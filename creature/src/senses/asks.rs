//! Outcomes of acts that needed the owner's yes: reads what is new in `.self/asks.jsonl`.

use super::inbox::{InboxCursor, fresh};
use ground::text::{keep_last, one_line, shorten};
use memory::Record;
use serde_json::{Value, json};
use std::path::Path;

/// Characters of one outcome that are told; its result was written by others.
const MOST_CHARS: usize = 900;

/// Outcomes taken at once; of more, the newest.
const MOST: usize = 32;

/// The end of one ask.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its key in `Cursors::told`.
    pub key: String,
    /// Sentence for the next thought.
    pub told: String,
    /// The data of its observation.
    pub record: Value,
}

/// Reads the outcomes after the cursor and moves it behind them; the sentence says what was odd.
pub fn read_outcomes(path: &Path, cursor: &mut InboxCursor) -> (Vec<Outcome>, String) {
    let (bytes, odd) = fresh(path, cursor);
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let mut outcomes: Vec<Outcome> = lines.filter_map(|line: Value| outcome(&line)).collect();
    keep_last(&mut outcomes, MOST);
    (outcomes, odd)
}

/// Keys of the outcomes that are in memory already.
pub fn remembered(records: &[Record]) -> impl Iterator<Item = String> {
    let ours = records.iter().filter(|record| record.data.get("about") == Some(&json!("ask")));
    ours.map(|record| key(&word(&record.data, "id", 40), &word(&record.data, "event", 40)))
}

/// An outcome; none where the ask only began, or was approved and is yet to be carried out.
fn outcome(line: &Value) -> Option<Outcome> {
    let (id, event) = (word(line, "id", 40), word(line, "event", 40));
    let call = format!("{} {}", word(line, "method", 10), word(line, "path", 200));
    let what = if call.trim().is_empty() { word(line, "kind", 20) } else { call };
    let (service, summary) = (word(line, "service", 60), word(line, "summary", 200));
    let (status, result) = (word(line, "status", 20), word(line, "result", 400));
    let end = match event.as_str() {
        "executed" => "your owner approved it and it was carried out",
        "denied" => "your owner denied it",
        "failed" => "your owner approved it, but it failed",
        _ => return None,
    };
    let mut told = format!("Ask {id}: {end}: {}", what.trim());
    for (before, part, after) in [
        (" at ", &service, ""),
        (" (", &summary, ")"),
        ("; status ", &status, ""),
        ("; result: ", &result, ""),
    ] {
        if !part.is_empty() {
            told += &format!("{before}{part}{after}");
        }
    }
    let told = shorten(&told, MOST_CHARS);
    let record = json!({"about": "ask", "text": told, "id": id, "event": event});
    (!id.is_empty()).then(|| Outcome { key: key(&id, &event), told, record })
}

fn key(id: &str, event: &str) -> String {
    format!("ask {id} {event}")
}

/// Returns a field as one line of at most `most` characters, whatever its type.
pub(super) fn word(line: &Value, key: &str, most: usize) -> String {
    let text = match line.get(key) {
        None | Some(Value::Null) => return String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let plain = text.replace(char::is_control, " ");
    shorten(&one_line(&plain), most)
}
