//! Handover between conversations: what is asked for at the end of the old one, and what the new one is told. Pure.

use super::conversation::{Conversation, RESULTS_HEAD};
use super::moment::Moment;
use super::{extract, transcript};
use crate::ToolList;
use ground::papers;
use ground::text::{count, shorten};
use memory::Record;
use model::Turn;
use serde_json::Value;
use std::path::Path;

/// Characters of a summary.
const MOST_SUMMARY: usize = 24_000;

/// Messages at the end of a conversation that are handed over as they are.
const LAST: usize = 10;

/// The prompt for a summary, unless `self/prompts/summary.md` has one.
const SUMMARY: &str = include_str!("../../../prompts/summary.md");

/// The key in `shown` that marks a conversation as asked to sum up.
pub const ASKED: &str = "asked to sum up";

/// Beginning of the prompt put to the model at the end of a conversation.
const ENDS: &str = "This conversation has grown too long and ends here. Call no tool.";

/// Returns the prompt put to the model at the end of a conversation. `path`: the owner's prompt for it.
pub fn asking(path: &Path) -> String {
    format!("{ENDS} {}", papers::prompt(path, SUMMARY))
}

/// Headings of a summary that is asked for by the built-in prompt.
const HEADINGS: [&str; 4] = ["Goal", "Done", "Next", "Files touched"];

/// A summary may be as many times shorter than the plain extract of what it sums up.
const SHORTER: usize = 6;

/// The summary as it is handed over: with the extract where it is none, for it has none of the headings that were asked
/// for (`own`: by the owner's own prompt, which may ask for others) or is far shorter than that.
pub fn kept(summary: &str, turns: &[Turn], own: bool, tools: &ToolList) -> String {
    let extract = extract::extract(&transcript::lines(turns, tools), tools);
    let headed = summary.lines().any(|line| {
        let line = line.trim_start_matches(['#', '*', '-', ' ']);
        HEADINGS.iter().any(|heading| line.starts_with(heading))
    });
    let is_far_shorter = count(summary) * SHORTER < count(&extract);
    match (headed || own) && !is_far_shorter {
        true => summary.to_owned(),
        false => format!("{}\n\n# What plain code took out of it, oldest first\n\n{extract}", summary.trim()),
    }
}

/// The last messages of a conversation as they are, oldest first, in `most` characters: whole from the newest on, as far as
/// there is room, and the others shortened. What it began with, and that it ends, is told anew.
pub fn last(turns: &[Turn], most: usize, tools: &ToolList) -> String {
    let begun = turns.iter().position(|turn| matches!(turn, Turn::Thought { .. })).unwrap_or(turns.len());
    let ends = |turn: &&Turn| matches!(turn, Turn::Said { text } if text.starts_with(ENDS));
    let own: Vec<Turn> =
        turns.get(begun..).unwrap_or_default().iter().filter(|turn| !ends(turn)).cloned().collect();
    let mut from = own.len().saturating_sub(LAST);
    while from > 0 && own.get(from).is_some_and(came) {
        // Results belong to the thought that called for them.
        from -= 1;
    }
    let lines = transcript::lines(own.get(from..).unwrap_or_default(), tools);
    let mut room = most;
    let mut told: Vec<String> = Vec::new();
    for line in lines.iter().rev() {
        let whole = transcript::whole(line);
        let text = if count(&whole) <= room { whole } else { shorten(&whole, SHORTENED.min(room)) };
        room -= count(&text).min(room);
        told.push(text);
    }
    told.reverse();
    let told: Vec<String> = told.into_iter().filter(|text| !text.is_empty()).collect();
    if told.is_empty() {
        String::new()
    } else {
        format!("# Its last messages, as they were\n\n{}\n", told.join("\n"))
    }
}

/// Whether a turn is what came of calls.
fn came(turn: &Turn) -> bool {
    match turn {
        Turn::Results { .. } => true,
        Turn::Said { text } => text.starts_with(RESULTS_HEAD),
        Turn::Thought { .. } => false,
    }
}

/// Characters left of one of the last messages that has no room.
const SHORTENED: usize = 600;

/// Words for a new conversation where the file of the one before cannot be read.
pub const LOST: &str = "# Your last conversation is lost: its file cannot be read\n\nWhat you did stands in your records. \
Look at what is there before you do it again.\n";

/// Words in place of a summary where a filter of the model's maker refused the last conversation.
pub const FILTERED: &str = "A filter of your model's maker refused your last conversation for something it held, so nothing \
of it is told here. What you did stands in your records. If you read the same thing again, the same will happen.";

/// Tells a new conversation of the one before: by its summary, or by an extract where there is none.
pub fn hand_over(
    summary: Option<&str>,
    last: &str,
    turns: &[Turn],
    moment: &Moment,
    tools: &ToolList,
) -> String {
    let mut text = match summary.filter(|summary| !summary.trim().is_empty()) {
        Some(summary) => {
            format!("# Handover of your last conversation\n\n{}\n\n", shorten(summary.trim(), MOST_SUMMARY))
        }
        None => {
            let extract = extract::extract(&transcript::lines(turns, tools), tools);
            if extract.is_empty() {
                return String::new();
            }
            format!("# How your last conversation ended, oldest first\n\n{extract}")
        }
    };
    if !last.is_empty() {
        text += &format!("{last}\n");
    }
    let words = spoken(moment);
    if !words.is_empty() {
        text += &format!("# Your owner's words in it, word for word\n\n{}\n\n", words.join("\n"));
    }
    text + "Go on from there; do not do again what is done.\n"
}

/// The moment without the records of what a conversation that is handed over tells itself: its thoughts, their calls, the
/// edits among these, and the owner's words, which are handed over whole.
pub fn untold(moment: &Moment, old: &Conversation) -> Moment {
    let owner = old.head.thread.is_some();
    let since =
        |record: &Record| record.at.parse::<jiff::Timestamp>().is_ok_and(|at| at.as_second() >= old.began_s);
    let told = |record: &Record| match record.kind.as_str() {
        "thought" | "action" => record.data.get("owner") == Some(&Value::Bool(owner)) && since(record),
        "self_change" => since(record),
        _ => false,
    };
    let records = moment.records.iter().filter(|record| !told(record)).cloned().collect();
    Moment { records, ..moment.clone() }
}

/// The owner's last eight messages on this thread, whole, oldest first.
fn spoken(moment: &Moment) -> Vec<String> {
    let text = |data: &Value, key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut words: Vec<String> = moment
        .records
        .iter()
        .rev()
        .filter(|record| record.kind == "message" && text(&record.data, "from") == "owner")
        .filter(|record| [moment.thread(), ""].contains(&text(&record.data, "thread").as_str()))
        .take(8)
        .map(|record| format!("- {} {}", record.at, text(&record.data, "text")))
        .collect();
    words.reverse();
    words
}
