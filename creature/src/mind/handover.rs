//! From one conversation to the next: what is asked for at the end of the old one, and what the new one is told. Pure.

use super::context::shorten;
use super::conversation::CAME;
use super::moment::Moment;
use model::Turn;
use serde_json::Value;

/// Characters of a summary, of the last words kept without one, and of one line of them.
const MOST_SUMMARY: usize = 24_000;
const MOST_LINES: usize = 40;
const MOST_LINE: usize = 600;

/// Put to the model at the end of a conversation that has grown too long.
pub const ASK: &str = "This conversation has grown too long and ends here. Call no tool. Write what your next one needs, \
under these headings, as exact as you can (paths, names, numbers, errors word for word), nothing else:\n\n\
Goal\nConstraints\nDone\nIn progress\nBlocked\nDecisions\nNext\nFiles touched";

/// Told where the one before cannot be read.
pub const LOST: &str = "# Your last conversation is lost: its file cannot be read\n\nWhat you did stands in your records. \
Look at what is there before you do it again.\n";

/// What a new conversation is told of the one before: its summary, or its last words where there is none.
pub fn told(summary: Option<&str>, turns: &[Turn], moment: &Moment) -> String {
    let mut text = match summary.filter(|summary| !summary.trim().is_empty()) {
        Some(summary) => format!(
            "# Handover of your last conversation, in your own words\n\n{}\n\n",
            shorten(summary.trim(), MOST_SUMMARY)
        ),
        None => {
            let lines = last_words(turns);
            if lines.is_empty() {
                return String::new();
            }
            format!("# How your last conversation ended, oldest first\n\n{}\n\n", lines.join("\n"))
        }
    };
    let words = spoken(moment);
    if !words.is_empty() {
        text += &format!("# Your owner's words in it, word for word\n\n{}\n\n", words.join("\n"));
    }
    text + "Go on from there; do not do again what is done.\n"
}

/// What was said and done last, a line each.
fn last_words(turns: &[Turn]) -> Vec<String> {
    let mut lines = Vec::new();
    for turn in turns.iter().rev().take(MOST_LINES) {
        let of_turn: Vec<String> = match turn {
            Turn::Said { text } if text.starts_with(CAME) => vec![format!("- {}", text.replace('\n', " "))],
            Turn::Said { .. } => continue,
            Turn::Thought { raw } => said(raw).into_iter().map(|said| format!("- you: {said}")).collect(),
            Turn::Results { results } => {
                results.iter().map(|answer| format!("- came back: {}", answer.text)).collect()
            }
        };
        lines.extend(of_turn.into_iter().rev());
    }
    lines.truncate(MOST_LINES);
    lines.iter().rev().map(|line| shorten(line, MOST_LINE)).collect()
}

/// The texts and calls of a thought, whichever wire it came by.
fn said(raw: &Value) -> Vec<String> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let called = |name: Option<String>, args: String| format!("{} {args}", name.unwrap_or_default());
    let mut all = Vec::new();
    let items: Vec<&Value> = match raw {
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    };
    for item in items {
        match text(item, "type").as_deref() {
            Some("tool_use") => {
                all.push(called(
                    text(item, "name"),
                    item.get("input").map(Value::to_string).unwrap_or_default(),
                ));
            }
            Some("function_call") => {
                all.push(called(text(item, "name"), text(item, "arguments").unwrap_or_default()))
            }
            Some("thinking" | "redacted_thinking" | "reasoning") => {}
            _ => {
                all.extend(text(item, "text"));
                match item.get("content") {
                    Some(Value::String(said)) => all.push(said.clone()),
                    Some(Value::Array(parts)) => {
                        all.extend(parts.iter().filter_map(|part| text(part, "text")))
                    }
                    _ => {}
                }
                for call in item.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                    let function = call.get("function").unwrap_or(call);
                    all.push(called(text(function, "name"), text(function, "arguments").unwrap_or_default()));
                }
            }
        }
    }
    all.retain(|said| !said.trim().is_empty());
    all
}

/// The owner's latest words on this thread, whole.
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
