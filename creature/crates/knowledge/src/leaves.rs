//! The words of a record: every text in its data, without keys, numbers and punctuation of JSON.

use serde::Deserialize;
use serde_json::Value;

/// Bytes of a record's words that are indexed; the rest is in the record.
const MOST_WORDS: usize = 6_000;

/// A line of memory, as far as it is searched.
#[derive(Deserialize)]
pub(crate) struct Line {
    pub at: String,
    pub kind: String,
    data: Value,
}

impl Line {
    /// Every text of the data, one after another.
    pub(crate) fn words(&self) -> String {
        let mut words = String::new();
        gather(&self.data, &mut words);
        words
    }
}

fn gather(value: &Value, words: &mut String) {
    match value {
        Value::String(text) => {
            let room = MOST_WORDS.saturating_sub(words.len());
            words.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
            words.push(' ');
        }
        Value::Array(list) => list.iter().for_each(|value| gather(value, words)),
        Value::Object(map) => map.values().for_each(|value| gather(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
