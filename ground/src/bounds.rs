//! Bounds on text and JSON written by others: cut to a length, refused past a number of values, shrunk to fit a file.

use serde_json::Value;

/// Characters kept of one explanation: a cause, a refusal, a warning.
pub const TOLD_CHARS: usize = 600;
/// Characters of a name chosen by others: a file's, a model's.
pub const NAME_CHARS: usize = 200;
/// Characters of the creature's words on the results of its own wakes.
pub const OWN_CHARS: usize = 300;
/// Most values in a JSON document that is parsed: each takes about a hundred bytes of memory.
const MOST_VALUES: usize = 20_000;
/// Texts up to this length are never cut: names, numbers of commits, times.
const SHORT_BYTES: usize = 512;

/// The first `most` characters of a text.
pub fn brief(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The beginning of a commit's name, as it is told.
pub fn short(commit: &str) -> &str {
    commit.get(..commit.floor_char_boundary(7)).unwrap_or_default()
}

/// A document as text of at most `most` bytes. Until it fits, the largest list loses its oldest entry, down to the
/// newest one; then the longest text is halved, again and again.
pub fn fitted(mut document: Value, most: usize, write: impl Fn(&Value) -> String) -> String {
    loop {
        let text = write(&document);
        if text.len() <= most || !(forget_oldest(&mut document) || cut_longest(&mut document)) {
            return text;
        }
    }
}

fn forget_oldest(document: &mut Value) -> bool {
    let fields = document.as_object_mut().into_iter().flatten();
    let lists = fields.filter_map(|(_, value)| value.as_array_mut()).filter(|list| list.len() > 1);
    let largest = lists.max_by_key(|list| list.iter().map(|value| value.to_string().len()).sum::<usize>());
    largest.map(|list| list.remove(0)).is_some()
}

fn cut_longest(document: &mut Value) -> bool {
    let Some(text) = longest(document).filter(|text| text.len() > SHORT_BYTES) else { return false };
    text.truncate(text.floor_char_boundary(text.len() / 2));
    text.push('…');
    true
}

fn longest(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(list) => list.iter_mut().filter_map(longest).max_by_key(|text| text.len()),
        Value::Object(fields) => fields.values_mut().filter_map(longest).max_by_key(|text| text.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Parses a document written by others; `None` where its values would take far more memory than its text.
pub fn read(bytes: &[u8]) -> Option<Value> {
    // A text shorter than that has no room for more values, whatever it says.
    if bytes.len() > MOST_VALUES && values(bytes) > MOST_VALUES {
        return None;
    }
    // By the parser as its own package compiles it, which is optimised: a generic one would be compiled here.
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// Counts the values of a document, as its marks outside of texts tell them.
fn values(bytes: &[u8]) -> usize {
    let (mut values, mut quoted, mut escaped) = (0, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' | b'[' | b'{' if !quoted => values += 1,
            _ => {}
        }
    }
    values
}
