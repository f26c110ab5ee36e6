//! The row of a record of memory; a record of an unknown kind is shown by its text. Pure.

use house::bounds::{brief, short};
use house::records::history::Death;
use house::records::memory::{Agenda, Data, Outcome, Record};
use house::records::text;
use house::terminal::Row;
use serde_json::Value;

/// Longest row, in characters; words between owner and creature are shown whole.
const MOST_CHARS: usize = 400;
const WORD_CHARS: usize = 64 << 10;
/// Longest tag, which may be the name of a kind that the creature chose.
const TAG_CHARS: usize = 20;

/// A change of the agenda in words; `None` for mere looks at it and for bookkeeping.
fn change(agenda: Agenda) -> Option<String> {
    if !agenda.session().is_empty() {
        return Some(format!("{}: {}", agenda.session(), agenda.thought()));
    }
    let (kind, change) = agenda.change()?.as_object()?.iter().next()?;
    let words = ["do", "id", "title", "text", "what", "place"].map(|key| text(change, key)).join(" ");
    (kind != "looked" && kind != "outbox").then(|| format!("{kind} {words}"))
}

/// The outcome of an action: done, drafted, asked, failed.
fn outcome(result: Outcome) -> (&'static str, String) {
    if !result.ok() {
        return ("33", format!("failed: {}", result.error()));
    }
    match (result.drafted(), result.asked()) {
        (_, Some(ask)) => ("33", format!("asks you first: ask {ask}")),
        ("", None) => ("32", "ok".into()),
        (path, None) => ("33", format!("drafted only: {path}")),
    }
}

/// Whether a record is an action that became an ask, which is shown as such.
pub fn is_ask(record: &Value) -> bool {
    Record(record).action().and_then(|action| action.result()?.asked()).is_some()
}

/// The row of a record worth showing. Words between owner and creature are not cut.
pub fn row(record: &Value) -> Option<Row> {
    let record = Record(record);
    let data = record.raw_data()?;
    let mut most = MOST_CHARS;
    let (tag, paint, body) = match record.data() {
        Data::Thought(thought) if thought.is_garbled() => {
            ("garbled", "31", format!("the mind's reply could not be read: {}", thought.error()))
        }
        Data::Thought(of) => ("thought", "36", thought(of.monologue(), of.intent())),
        Data::Action(action) => {
            let (paint, outcome) = outcome(action.result()?);
            ("action", paint, format!("{} {outcome}", action.called()))
        }
        Data::SelfChange(edit) => {
            let end = if edit.ok() { String::new() } else { format!(": {}", edit.error()) };
            ("self-edit", "35", format!("{} ({}){end}", edit.summary(), edit.stage()))
        }
        Data::Death(death) if death.cause() == "owner" && !death.from_commit().is_empty() => {
            ("rollback", "33", rolled_back(death))
        }
        Data::Death(_) => ("death", "31", telling(data)),
        Data::Message(said) => {
            most = WORD_CHARS;
            ("word", "1;34", format!("{}: {}", said.from(), said.text()))
        }
        Data::Agenda(agenda) => ("agenda", "90", change(agenda)?),
        Data::Observation(_) => ("noticed", "90", telling(data)),
        Data::Heartbeat(_) | Data::Other("") => return None,
        Data::Dream(_) => ("dream", "90", telling(data)),
        Data::Other(kind) => (kind, "90", telling(data)),
    };
    let flat = || body.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = if most == WORD_CHARS { body.trim().to_owned() } else { flat() };
    let at = record.at().parse().ok();
    Some(Row { at, tag: brief(tag, TAG_CHARS), paint, text: at_word(&text, most) })
}

/// Joins a thought and its intent; keeps one alone where the other is no more than its beginning.
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

fn rolled_back(death: Death) -> String {
    let [from, to] = [death.from_commit(), death.to_commit()].map(short);
    let kept = death.fallen_ref();
    let kept = if kept.is_empty() { String::new() } else { format!("; what was undone is kept as {kept}") };
    format!("creature/ is put back from {from} to {to}, as you ordered{kept}")
}

/// Tells a record of any kind: its words and their subject, or else its fields but for nested ones.
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
