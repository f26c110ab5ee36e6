//! Context: what of a moment a model is shown, each part within its cap. Pure.
//!
//! Invariant: whatever the moment holds, the text is at most the sum of the caps, says what it left
//! out, is the same for the same moment, and holds the latest failure.

use super::moment::Moment;
use memory::Record;
use serde_json::Value;

/// Caps in characters; what one thought costs at most.
#[derive(Clone, Debug)]
pub struct Caps {
    pub purpose: usize,
    pub snapshot: usize,
    pub checklist: usize,
    pub scratch: usize,
    pub words: usize,
    pub news: usize,
    pub records: usize,
    pub record: usize,
    pub most_records: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            purpose: 6_000,
            snapshot: 4_000,
            checklist: 2_000,
            scratch: 4_000,
            words: 6_000,
            news: 2_000,
            records: 24_000,
            record: 1_200,
            most_records: 200,
        }
    }
}

/// The parts of a context, each within its cap; empty where there is nothing to show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    pub purpose: String,
    pub snapshot: String,
    pub checklist: String,
    pub scratch: String,
    pub words: String,
    pub news: String,
    pub records: String,
}

/// Chooses what is shown of a moment.
pub fn choose(moment: &Moment, caps: &Caps) -> Parts {
    let words: Vec<String> =
        moment.words.iter().map(|word| said(&word.at, &word.text, caps.record)).collect();
    let news: Vec<String> =
        moment.news.iter().map(|news| format!("- {}", shorten(news, caps.record))).collect();
    Parts {
        purpose: head(&moment.purpose, caps.purpose),
        snapshot: head(moment.snapshot.as_deref().unwrap_or_default(), caps.snapshot),
        checklist: head(&moment.checklist, caps.checklist),
        scratch: head(&moment.scratch, caps.scratch),
        words: newest(&words, caps.words, "older words"),
        news: newest(&news, caps.news, "older items"),
        records: records(&moment.records, caps),
    }
}

fn said(at: &str, text: &str, most: usize) -> String {
    let at: String = at.chars().take(30).collect();
    shorten(&format!("- {at} {text}").replace("-  ", "- "), most)
}

/// The newest records that fit, oldest first, and the latest failure even where it does not.
fn records(records: &[Record], caps: &Caps) -> String {
    let over = records.len().saturating_sub(caps.most_records);
    let shown = records.get(over..).unwrap_or_default();
    let lines: Vec<String> = shown.iter().map(|record| line(record, caps.record)).collect();
    let failure = records.iter().rposition(failed);
    let failure_line = failure
        .and_then(|at| records.get(at))
        .map(|record| format!("latest failure: {}", line(record, caps.record)));
    // The failure's room is set aside first, or a long newest line could push it out.
    let reserve = failure_line.as_ref().map_or(0, |line| count(line) + 1);
    let room = caps.records.saturating_sub(reserve);
    let (kept, dropped) = fitting(&lines, room.saturating_sub(NOTE));
    let dropped = dropped + over;
    let mut text = String::new();
    if dropped > 0 {
        text += &format!("({dropped} older records left out)\n");
    }
    let failure_dropped = failure.is_some_and(|at| at < dropped);
    if let (true, Some(line)) = (failure_dropped, failure_line) {
        text += &line;
        text.push('\n');
    }
    text += &kept.join("\n");
    head(&text, caps.records)
}

/// Room for the note that says what was left out, in characters.
const NOTE: usize = 60;

/// Whether a record tells of something that did not work.
pub fn failed(record: &Record) -> bool {
    let not_ok = |value: Option<&Value>| value.and_then(|v| v.get("ok")) == Some(&Value::Bool(false));
    match record.kind.as_str() {
        "action" => not_ok(record.data.get("result")),
        "self_change" => not_ok(Some(&record.data)),
        "death" => true,
        "thought" => record.data.get("garbled") == Some(&Value::Bool(true)),
        _ => false,
    }
}

/// One record in one line of at most `most` characters.
pub fn line(record: &Record, most: usize) -> String {
    let text = |key: &str| match record.data.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let said = match record.kind.as_str() {
        "thought" if failed(record) => format!("garbled reply: {}", text("error")),
        "thought" => format!("{} → {}", text("monologue"), text("intent")),
        "action" => {
            let args = shorten(&text("args"), most / 3);
            format!("{} {args} → {}", text("tool"), text("result"))
        }
        "observation" => format!("{}: {}", text("about"), text("text")),
        "message" => format!("{}: {}", text("from"), text("text")),
        "death" => text("told"),
        _ => record.data.to_string(),
    };
    let at = record.at.get(..19).unwrap_or(&record.at);
    let line = format!("{at} life {} {}: {said}", record.life, record.kind);
    shorten(&line, most).replace(['\n', '\r'], " ")
}

/// The newest lines within `most` characters, with a note on what was left out.
fn newest(lines: &[String], most: usize, what: &str) -> String {
    let (kept, dropped) = fitting(lines, most.saturating_sub(NOTE));
    let mut text = kept.join("\n");
    if dropped > 0 {
        text = format!("({dropped} {what} left out)\n{text}");
    }
    head(&text, most)
}

/// The last lines that fit into `room`, and how many do not.
fn fitting(lines: &[String], room: usize) -> (&[String], usize) {
    let (mut from, mut used) = (lines.len(), 0);
    for (at, line) in lines.iter().enumerate().rev() {
        used += count(line) + 1;
        if used > room {
            break;
        }
        from = at;
    }
    (lines.get(from..).unwrap_or_default(), from)
}

/// The head of a text within `most` characters, the note on the rest included.
pub fn head(text: &str, most: usize) -> String {
    let total = count(text);
    if total <= most {
        return text.to_owned();
    }
    let note = format!("\n(… {} more characters)", total.saturating_sub(most.saturating_sub(NOTE)));
    let room = most.saturating_sub(count(&note));
    let kept: String = text.chars().take(room).collect();
    (kept + &note).chars().take(most).collect()
}

/// Head and tail of a text within `most` characters; what matters in a result is at its ends.
pub fn shorten(text: &str, most: usize) -> String {
    let total = count(text);
    if total <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(NOTE / 2);
    let (first, last) = (room * 2 / 3, room - room * 2 / 3);
    let front: String = text.chars().take(first).collect();
    let back: String = text.chars().skip(total - last).collect();
    let note = format!(" …{} left out… ", total - first - last);
    format!("{front}{note}{back}").chars().take(most).collect()
}

fn count(text: &str) -> usize {
    text.chars().count()
}
