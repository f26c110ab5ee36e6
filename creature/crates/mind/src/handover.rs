//! From one conversation to the next: what is asked for at the end of the old one, and what the new one is told. Pure.

use super::conversation::Conversation;
use super::moment::Moment;
use super::{extract, transcript};
use crate::ToolList;
use ground::text::{count, head, shorten};
use memory::Record;
use model::Turn;
use serde_json::Value;

/// Characters of a summary, and of the owner's own prompt for one.
const MOST_SUMMARY: usize = 24_000;
const MOST_PROMPT: usize = 4_000;

/// The prompt for a summary, unless `self/prompts/summary.md` has one.
const SUMMARY: &str = include_str!("../../../prompts/summary.md");

/// The key in `shown` that marks a conversation as asked to sum up.
pub const ASKED: &str = "asked to sum up";

/// Put to the model at the end of a conversation that has grown too long. `own`: the owner's prompt, or empty.
pub fn asking(own: &str) -> String {
    let wanted = if own.trim().is_empty() { SUMMARY.to_owned() } else { head(own, MOST_PROMPT) };
    format!("This conversation has grown too long and ends here. Call no tool. {}", wanted.trim())
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

/// Told to a new conversation where the file of the one before cannot be read.
pub const LOST: &str = "# Your last conversation is lost: its file cannot be read\n\nWhat you did stands in your records. \
Look at what is there before you do it again.\n";

/// Told in place of a summary where a filter of the model's maker refused the last conversation.
pub const FILTERED: &str = "A filter of your model's maker refused your last conversation for something it held, so nothing \
of it is told here. What you did stands in your records. If you read the same thing again, the same will happen.";

/// What a new conversation is told of the one before: its summary, or an extract where there is none.
pub fn told(summary: Option<&str>, turns: &[Turn], moment: &Moment, tools: &ToolList) -> String {
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
    let thread = if moment.thread.is_empty() { "main" } else { moment.thread.as_str() };
    let text = |data: &Value, key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut words: Vec<String> = moment
        .records
        .iter()
        .rev()
        .filter(|record| record.kind == "message" && text(&record.data, "from") == "owner")
        .filter(|record| [thread, ""].contains(&text(&record.data, "thread").as_str()))
        .take(8)
        .map(|record| format!("- {} {}", record.at, text(&record.data, "text")))
        .collect();
    words.reverse();
    words
}
