//! The row of a record of memory; one of a kind unknown here is shown by what it says. Pure.

use house::bounds::brief;
use house::records::text;
use house::terminal::Row;
use serde_json::Value;

/// Longest row, in characters; words between owner and creature are shown whole.
const MOST_CHARS: usize = 400;
const WORD_CHARS: usize = 64 << 10;
/// Longest tag, which may be the name of a kind that the creature chose.
const TAG_CHARS: usize = 20;

/// A change of the agenda in words; `None` for mere looks at it and for bookkeeping.
fn change(data: &Value) -> Option<String> {
    if let Some(session) = data.get("session").and_then(Value::as_str) {
        return Some(format!("{session}: {}", text(data, "thought")));
    }
    let (kind, change) = data.get("change")?.as_object()?.iter().next()?;
    let words = ["do", "id", "title", "text", "what", "place"].map(|key| text(change, key)).join(" ");
    (kind != "looked" && kind != "outbox").then(|| format!("{kind} {words}"))
}

/// The outcome of an action: done, drafted, asked, failed.
fn outcome(result: &Value) -> (&'static str, String) {
    if result.get("ok").and_then(Value::as_bool) != Some(true) {
        return ("33", format!("failed: {}", text(result, "error")));
    }
    match (text(result, "drafted"), asked(result)) {
        (_, Some(ask)) => ("33", format!("asks you first: ask {ask}")),
        ("", None) => ("32", "ok".into()),
        (path, None) => ("33", format!("drafted only: {path}")),
    }
}

/// Whether a record is an action that became an ask, which is shown as such.
pub fn is_ask(record: &Value) -> bool {
    let result = record.get("data").and_then(|data| data.get("result"));
    text(record, "kind") == "action" && result.and_then(asked).is_some()
}

/// The id of the ask that an action became, if it waits for the owner.
pub fn asked(result: &Value) -> Option<String> {
    let id = result.get("asked")?;
    id.as_str().map(str::to_owned).or_else(|| id.as_u64().map(|id| id.to_string()))
}

/// The row of a record worth showing. Words between owner and creature are not cut.
pub fn row(record: &Value) -> Option<Row> {
    let data = record.get("data")?;
    let mut most = MOST_CHARS;
    let (tag, paint, body) = match text(record, "kind") {
        "thought" if data.get("garbled").is_some() => {
            ("garbled", "31", format!("the mind's reply could not be read: {}", text(data, "error")))
        }
        "thought" => ("thought", "36", thought(text(data, "monologue"), text(data, "intent"))),
        "action" => {
            let (paint, outcome) = outcome(data.get("result")?);
            ("action", paint, format!("{} {outcome}", text(data, "tool")))
        }
        "self_change" => {
            let ok = data.get("ok").and_then(Value::as_bool) == Some(true);
            let end = if ok { String::new() } else { format!(": {}", text(data, "error")) };
            ("self-edit", "35", format!("{} ({}){end}", text(data, "summary"), text(data, "stage")))
        }
        "death" if text(data, "cause") == "owner" && !text(data, "from_commit").is_empty() => {
            ("rollback", "33", rolled_back(data))
        }
        "death" => ("death", "31", telling(data)),
        "message" => {
            most = WORD_CHARS;
            ("word", "1;34", format!("{}: {}", text(data, "from"), text(data, "text")))
        }
        "agenda" => ("agenda", "90", change(data)?),
        "observation" => ("noticed", "90", telling(data)),
        "" | "heartbeat" => return None,
        kind => (kind, "90", telling(data)),
    };
    let flat = || body.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = if most == WORD_CHARS { body.trim().to_owned() } else { flat() };
    let at = record.get("at").and_then(Value::as_str).and_then(|at| at.parse().ok());
    Some(Row { at, tag: brief(tag, TAG_CHARS), paint, text: at_word(&text, most) })
}

/// What was thought and what was meant to be done; once, where one says no more than the other begins with.
fn thought(monologue: &str, intent: &str) -> String {
    match more(monologue, intent) {
        "" => monologue.to_owned(),
        intent if more(intent, monologue).is_empty() => intent.to_owned(),
        intent => format!("{monologue} — {intent}"),
    }
}

/// The intent of a thought, where it says more than the thought begins with; else nothing. A turn that names none has its
/// own first line for one.
pub fn more<'a>(monologue: &str, intent: &'a str) -> &'a str {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (thought, meant) = (flat(monologue), flat(intent));
    if thought.starts_with(meant.trim_end_matches('…').trim_end()) { "" } else { intent }
}

fn rolled_back(data: &Value) -> String {
    let [from, to] =
        ["from_commit", "to_commit"].map(|name| text(data, name).chars().take(7).collect::<String>());
    let kept = text(data, "fallen_ref");
    let kept = if kept.is_empty() { String::new() } else { format!("; what was undone is kept as {kept}") };
    format!("creature/ is put back from {from} to {to}, as you ordered{kept}")
}

/// What a record of any kind says: its words and what they are about, or else its fields but for nested ones.
fn telling(data: &Value) -> String {
    let said = ["text", "told"].map(|name| text(data, name)).concat();
    match (text(data, "about"), data) {
        ("", _) if !said.is_empty() => said,
        (about, _) if !said.is_empty() => format!("{about}: {said}"),
        (_, Value::Object(fields)) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_object());
            let fields = fields.map(|(name, value)| (name, words(value)));
            let fields = fields.filter(|(_, words)| !words.is_empty());
            let told = joined(fields.map(|(name, words)| format!("{name} {words}")), ", ");
            if told.is_empty() { data.to_string() } else { told }
        }
        _ => words(data),
    }
}

/// A value without the marks of JSON; of a nested object what it says, without names.
fn words(value: &Value) -> String {
    let told = match value {
        Value::Null => String::new(),
        Value::String(text) => brief(text, MOST_CHARS),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(list) => joined(list.iter().map(words), "; "),
        Value::Object(fields) => {
            let told = |(name, value): (&String, &Value)| match value.as_bool() {
                Some(true) => name.clone(),
                Some(false) => format!("not {name}"),
                None => words(value),
            };
            joined(fields.iter().map(told), ": ")
        }
    };
    brief(&told, MOST_CHARS)
}

fn joined(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
}

/// The beginning of a text, cut at the end of a word.
pub fn at_word(text: &str, most: usize) -> String {
    let short = brief(text, most);
    match short.rsplit_once(' ') {
        Some((whole, _)) if short.len() < text.len() && short.ends_with('…') => format!("{whole} …"),
        _ => short,
    }
}
