//! What instinct does with texts and results: the fields of a result, the words two texts share, lists as a sentence. Pure.

pub use agenda::items::{clip, span};
pub use ground::text::{hash, host, slug, urls};

use serde_json::Value;
use std::collections::BTreeSet;

/// The text under `key` of a result; of a shortened text its head; empty where there is none.
pub fn word<'a>(result: &'a Value, key: &str) -> &'a str {
    let text = result.get(key);
    text.map(|text| text.get("head").unwrap_or(text)).and_then(Value::as_str).unwrap_or("")
}

/// How many words of more than three letters two texts share.
pub fn shared_words(one: &str, other: &str) -> usize {
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().count() > 3)
            .map(str::to_lowercase)
            .collect()
    };
    words(one).intersection(&words(other)).count()
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
pub fn listed(all: &[String], most: usize) -> String {
    let shown = all.iter().take(most).map(String::as_str).collect::<Vec<_>>().join("; ");
    match all.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}
