//! Prompts given to the model before a thought: found in the conversations by the time of the thought and its calls.

use house::House;
use house::records::memory::Record;
use house::records::{self, text, view::field};
use jiff::Timestamp;
use serde_json::Value;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Conversations looked through, and bytes read from the end of each.
const MOST_FILES: usize = 64;
const MOST_BYTES: u64 = 8 << 20;
/// Seconds by which the clock of a conversation and that of memory may differ, and the longest call of a model: an entry
/// has the time at which the call was begun, the record that at which its thought was remembered.
const NEAR_S: i64 = 1;
const LONGEST_S: i64 = 7_200;

/// Texts given to a model since its thought before, in order, and the file they stand in.
#[derive(Debug)]
pub struct Put {
    pub path: PathBuf,
    pub texts: Vec<String>,
}

/// Finds the texts given to the model for this thought, `since` the one before; none where no conversation has them any
/// more, or no model thought it.
pub fn put(house: &House, thought: Record, since: &str) -> Option<Put> {
    let at_s = thought.at().parse::<Timestamp>().ok()?.as_second();
    let since_s = since.parse::<Timestamp>().map_or(at_s - LONGEST_S, |since| since.as_second());
    let thought = thought.thought().filter(|thought| thought.mind() != "instinct")?;
    let tools = tools(thought.tool_calls());
    let entries = std::fs::read_dir(house.conversations()).ok()?.flatten().take(MOST_FILES);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    // What was not written since cannot have it.
    let is_since = |path: &PathBuf| {
        let changed = std::fs::symlink_metadata(path).and_then(|meta| meta.modified()).ok();
        let changed = changed.and_then(|changed| Timestamp::try_from(changed).ok());
        changed.is_none_or(|changed| changed.as_second() >= since_s)
    };
    paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl") && is_since(path));
    paths.sort();
    let begun = since_s - NEAR_S..=at_s + NEAR_S;
    let given = paths.into_iter().filter_map(|path| {
        let (then_s, texts) = latest(&path, &begun, &tools)?;
        Some((then_s, Put { path, texts }))
    });
    given.max_by_key(|(then_s, _)| *then_s).map(|(_, put)| put)
}

/// The latest thought of a conversation that was begun within these seconds and made these calls: when that was, and what
/// came before it.
fn latest(path: &Path, begun: &RangeInclusive<i64>, tools: &[String]) -> Option<(i64, Vec<String>)> {
    let (mut texts, mut latest) = (Vec::new(), None);
    for entry in records::newest(path, MOST_BYTES) {
        match text(&entry, "entry") {
            "said" => texts.push(text(&entry, "text").to_owned()),
            "done" => texts.push(format!("result {}: {}", text(&entry, "id"), text(&entry, "text"))),
            "thought" => {
                let given = std::mem::take(&mut texts);
                let then_s = field::<Option<i64>>(&entry, "at_s").filter(|then_s| begun.contains(then_s));
                // Calls beyond those that are run at once stand in the conversation alone.
                let is_it = self::tools(field(&entry, "calls")).starts_with(tools);
                if let (Some(then_s), true) = (then_s, is_it) {
                    latest = Some((then_s, given));
                }
            }
            _ => {}
        }
    }
    latest
}

fn tools(calls: &[Value]) -> Vec<String> {
    calls.iter().map(|call| text(call, "tool").to_owned()).collect()
}
