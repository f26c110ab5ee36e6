//! Reads results for instinct: the text, number and list in a field; and writes lists as a part of a sentence. Pure.

pub use agenda::items::span;
pub use agenda::text::{clip, sentences, words};
pub use ground::text::{hash, host, slug, urls};

use serde_json::Value;

/// Lines of one kind that are told in one answer.
pub const MOST_TOLD: usize = 10;

/// Bytes of a paper that instinct writes whole; only the first 64 KiB of one are read, and writing a longer one back could
/// lose its end.
pub const LONGEST_WRITTEN: usize = 60_000;

/// The text under `key` of a result; of a shortened text its head; empty where there is none.
pub fn word<'a>(result: &'a Value, key: &str) -> &'a str {
    let text = result.get(key);
    text.map(|text| text.get("head").unwrap_or(text)).and_then(Value::as_str).unwrap_or("")
}

/// The list under `key` of a result; empty where there is none.
pub fn list<'a>(result: &'a Value, key: &str) -> &'a [Value] {
    result.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The number under `key` of a result; 0 where there is none.
pub fn number(result: &Value, key: &str) -> u64 {
    result.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// The first of these, and how many more there are, as a part of a sentence.
pub fn listed(all: &[String]) -> String {
    let shown = all.iter().take(MOST_TOLD).map(String::as_str).collect::<Vec<_>>().join("; ");
    match all.len().saturating_sub(MOST_TOLD) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}
