//! The kinds of record, a row each: who may write it, how it reads, whether it tells of a failure, and what it cost.
//!
//! Invariant: a kind without a row is carried and shown as it is; a newer self, or a mind, may have written it.

use crate::Record;
use ground::text::shorten;
use serde_json::Value;

/// Kind of record, and how it is read; `docs/formats.md` says what stands in its data.
pub struct Kind {
    name: &'static str,
    /// Description in plain words, for a mind that would write it and may not.
    pub what: &'static str,
    /// Whether a mind may write it, by `memory.append`.
    pub minds: bool,
    /// Tells its data in a thought's context, with at most so many characters of arguments.
    said: fn(&Value, usize) -> String,
    /// The gist of that, for a list of many.
    gist: fn(&Value, usize) -> String,
    /// Whether it tells of something that did not work.
    failed: fn(&Value) -> bool,
    /// The account on which its `usage` is a cost; none where no mind was asked.
    account: fn(&Value) -> Option<Account>,
}

/// On whose account a mind was asked, in the order in which they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Account {
    Own,
    Owner,
    Session,
    Dream,
    /// Records of an older self do not say.
    Older,
    /// Paid by the ledger, and no record has it: cut short, refused, or lost with a life.
    Cut,
}

impl Account {
    pub fn name(self) -> &'static str {
        match self {
            Account::Own => "own wakes",
            Account::Owner => "the owner's words",
            Account::Session => "sub-sessions",
            Account::Dream => "dreams",
            Account::Older => "older thoughts, not told apart",
            Account::Cut => "calls cut short, paid all the same",
        }
    }
}

/// Defaults for a kind whose row does not say otherwise.
const PLAIN: Kind = Kind {
    name: "",
    what: "",
    minds: false,
    said: |data, _| data.to_string(),
    gist: noted,
    failed: |_| false,
    account: |_| None,
};

/// A kind without a row.
const OTHER: Kind = Kind { minds: true, ..PLAIN };

const KINDS: [Kind; 10] = [
    Kind {
        name: "thought",
        what: "what a mind thought and means to do",
        said: |data, _| match is_garbled(data) {
            true => format!("garbled reply: {}", field(data, "error")),
            false => thought(data),
        },
        gist: |data, _| match field(data, "intent") {
            none if none.is_empty() => pair(data, "thought", "monologue") + &field(data, "error"),
            _ => pair(data, "thought", "intent"),
        },
        failed: is_garbled,
        account: |data| match data.get("owner").and_then(Value::as_bool) {
            Some(true) => Some(Account::Owner),
            Some(false) => Some(Account::Own),
            None => Some(Account::Older),
        },
        ..PLAIN
    },
    Kind {
        name: "action",
        what: "a call and what came of it",
        said: |data, most| format!("{} → {}", called(data, most), field(data, "result")),
        gist: |data, most| match data.get("result").map(|result| field(result, "error")) {
            Some(error) if !error.is_empty() => format!("{}: failed: {error}", called(data, most)),
            _ => format!("{}: ok", called(data, most)),
        },
        failed: |data| data.get("result").is_some_and(is_not_ok),
        account: |data| {
            let owner = data.get("owner").and_then(Value::as_bool);
            data.get("usage").filter(|usage| usage.is_object()).map(|_| match owner {
                Some(true) => Account::Owner,
                Some(false) => Account::Own,
                None => Account::Session,
            })
        },
        ..PLAIN
    },
    Kind { name: "observation", what: "what was noticed", minds: true, said: noted, ..PLAIN },
    Kind {
        name: "message",
        what: "words between owner and creature",
        minds: true,
        said: |data, _| pair(data, "from", "text"),
        gist: |data, _| format!("{} {}", field(data, "from"), pair(data, "kind", "text")),
        ..PLAIN
    },
    Kind { name: "self_change", what: "how far a change of the source came", failed: is_not_ok, ..PLAIN },
    Kind { name: "heartbeat", what: "a wake and its reasons", ..PLAIN },
    Kind {
        name: "agenda",
        what: "a change of the agenda, or a turn of a sub-session",
        account: |data| data.get("usage").map(|_| Account::Session),
        ..PLAIN
    },
    Kind { name: "snapshot", what: "where a summary is kept", ..PLAIN },
    Kind {
        name: "dream",
        what: "what a dream came to",
        account: |data| data.get("usage").map(|_| Account::Dream),
        ..PLAIN
    },
    Kind { name: "death", what: "how a life ended", said: told, gist: told, failed: |_| true, ..PLAIN },
];

/// The row of a kind.
pub fn of(name: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.name == name).unwrap_or(&OTHER)
}

/// Tells a record in words, with at most so many characters of arguments.
pub fn said(record: &Record, most: usize) -> String {
    (of(&record.kind).said)(&record.data, most)
}

/// The gist of that, for a list of many.
pub fn gist(record: &Record, most: usize) -> String {
    (of(&record.kind).gist)(&record.data, most)
}

/// Whether a record tells of something that did not work.
pub fn failed(record: &Record) -> bool {
    (of(&record.kind).failed)(&record.data)
}

/// On whose account a mind was asked; none where none was.
pub fn account(record: &Record) -> Option<Account> {
    (of(&record.kind).account)(&record.data)
}

/// Tells what a thought said, and its intent where that adds anything: a turn that names no intent has its own first
/// line for one.
fn thought(data: &Value) -> String {
    let (said, intent) = (field(data, "monologue"), field(data, "intent"));
    match said.trim_start().starts_with(intent.trim().trim_end_matches('…')) {
        true => said,
        false => format!("{said} → {intent}"),
    }
}

/// Tells the text of a record, and what it is about; all its data where there is no text.
fn noted(data: &Value, _: usize) -> String {
    if field(data, "text").is_empty() { data.to_string() } else { pair(data, "about", "text") }
}

fn told(data: &Value, _: usize) -> String {
    field(data, "told")
}

fn called(data: &Value, most: usize) -> String {
    format!("{} {}", field(data, "tool"), shorten(&field(data, "args"), most))
}

fn pair(data: &Value, one: &str, other: &str) -> String {
    format!("{}: {}", field(data, one), field(data, other))
}

fn is_garbled(data: &Value) -> bool {
    data.get("garbled") == Some(&Value::Bool(true))
}

fn is_not_ok(result: &Value) -> bool {
    result.get("ok") == Some(&Value::Bool(false))
}

fn field(data: &Value, name: &str) -> String {
    match data.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}
