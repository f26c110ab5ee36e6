//! Results as they are remembered: short ones as they are, of long ones head and tail, with the whole in a file.
//!
//! Invariant: a shortened part keeps its type, so that readers of results need not know of spilling.

use super::page;
use crate::paths::House;
use ground::files;
use ground::text::{first, last};
use serde_json::{Map, Value, json};
use std::fs;

/// Characters of a result that is remembered: of texts as they are, of all else as JSON.
const MOST_CHARS: usize = 6_000;

/// Characters of a page that are remembered; the rest can be asked for again.
const MOST_PAGE: usize = 5_000;

/// Characters kept of the first part spilled: its beginning says what it is, its end what came of it.
const HEAD: usize = 2_400;
const TAIL: usize = 1_200;

/// Files kept; the oldest go first.
const MOST_FILES: usize = 200;

/// The result with its longest parts, six at most, moved to files until the rest is short enough to remember and
/// to show; and the paths of those files by the names of the parts.
pub fn fit(house: &House, id: &str, tool: &str, shown: usize, result: Value) -> (Value, Map<String, Value>) {
    let mut whole = Map::new();
    let Value::Object(mut fields) = result else {
        return (result, whole);
    };
    if page::is_page(&fields) {
        page::fit(&mut fields, MOST_PAGE, 0);
        return (Value::Object(fields), whole);
    }
    let most = MOST_CHARS.min(shown / 2);
    while fields.values().map(size).sum::<usize>() > most && whole.len() < 6 {
        let untouched = fields.iter().filter(|(name, _)| !whole.contains_key(*name));
        let longest = untouched.map(|(name, part)| (size(part), name.clone())).max();
        let Some((_, name)) = longest.filter(|(length, _)| *length > 500) else {
            break;
        };
        let Some(part) = fields.get(&name).cloned() else {
            break;
        };
        let text = match &part {
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        let file = format!("{time}-{id}-{tool}-{name}.txt");
        // Later parts leave room for the first one's head and tail.
        let share = if whole.is_empty() { 1 } else { 4 };
        fields.insert(name.clone(), shorten(&part, &text, share));
        whole.insert(name, keep(house, &file, &text));
    }
    if !whole.is_empty() {
        fields.insert("whole".to_owned(), Value::Object(whole.clone()));
    }
    (Value::Object(fields), whole)
}

fn shorten(part: &Value, text: &str, share: usize) -> Value {
    let (most_head, most_tail) = (HEAD / share, TAIL / share);
    match part {
        Value::Array(items) => {
            let mut room = most_head + most_tail;
            let fits = items.iter().take_while(|item| {
                let fits = size(item) <= room;
                room = room.saturating_sub(size(item));
                fits
            });
            Value::Array(fits.cloned().collect())
        }
        Value::Object(_) => json!({"head": first(text, most_head), "tail": last(text, most_tail)}),
        _ => {
            let left_out = text.chars().count().saturating_sub(most_head + most_tail);
            let (head, tail) = (first(text, most_head), last(text, most_tail));
            json!(format!("{head}\n… {left_out} characters left out, see `whole` …\n{tail}"))
        }
    }
}

/// Writes the whole part to a file; its path, or why it was not kept.
fn keep(house: &House, file: &str, text: &str) -> Value {
    let kept = memory::replace(&house.spills().join(file), text.as_bytes());
    forget_oldest(house);
    match kept {
        Ok(()) => json!(format!(".self/workspace/results/{file}")),
        Err(cause) => json!(format!("not kept: failed to {cause}")),
    }
}

fn forget_oldest(house: &House) {
    let dated = files::entries(&house.spills())
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
    let mut files: Vec<_> = dated.collect();
    files.sort();
    let over = files.len().saturating_sub(MOST_FILES);
    for (_, path) in files.into_iter().take(over) {
        // A file that cannot be removed is tried again at the next spill.
        let _ = fs::remove_file(path);
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().chars().count(),
    }
}
