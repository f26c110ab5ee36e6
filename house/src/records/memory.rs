//! The creature's records by kind: memory, bookkeeping and feed; a record of an unknown kind stays as it is.

use super::history::Death;
use super::view::field;
use crate::{kinds, views};
use serde_json::Value;

views! {
    /// A record of memory or of the bookkeeping.
    Record { at: &'a str, life: Option<u64>, kind: &'a str }
    /// A thought, or a reply of the mind that could not be read.
    Thought {
        mind: &'a str, thought: Option<u64>, wake: Option<u64>, monologue: &'a str, intent: &'a str, owner: Option<bool>,
        tool_calls: &'a [Value], usage: Usage<'a>, garbled: Option<&'a Value>, error: &'a str,
    }
    /// Tokens of a model's prompt and of its answer.
    Usage { input_tokens: u64, output_tokens: u64, cache_read_tokens: u64, cache_write_tokens: u64 }
    Action { thought: Option<u64>, tool: &'a str, args: Option<&'a Value>, result: Option<Outcome<'a>> }
    /// Result of an action.
    Outcome { ok: bool, error: &'a str, drafted: &'a str, path: &'a str, id: Option<&'a Value> }
    Observation { about: &'a str, text: &'a str, commit: &'a str }
    SelfChange { ok: bool, stage: &'a str, summary: &'a str, error: &'a str }
    /// Reasons of a wake; its feed also says for whom.
    Beat { wake: Option<u64>, why: Option<Vec<&'a str>>, priority: &'a str }
    Agenda { session: &'a str, thought: &'a str, change: Option<&'a Value> }
    /// `at`: when the owner's was written.
    Message { from: &'a str, text: &'a str, at: &'a str, kind: &'a str, done: Option<bool>, reminder: Option<&'a Value> }
    Dream { monologue: &'a str, name: Option<&'a Value>, undone: Option<&'a Value> }
    /// A line of its feed.
    FeedLine { at: &'a str, life: Option<u64>, event: &'a str }
    Sleep { rest_ms: Option<i64>, why: &'a str, last_action: &'a str }
    Paused { why: &'a str, what: &'a str }
    /// An error; `about`: `model`, `budget` …
    Failed { about: &'a str }
}

kinds! {
    /// The data of a record, by its kind; a record without data is of none.
    Data {
        Thought(Thought): "thought",
        Action(Action): "action",
        Observation(Observation): "observation",
        SelfChange(SelfChange): "self_change",
        Heartbeat(Beat): "heartbeat",
        Agenda(Agenda): "agenda",
        Message(Message): "message",
        Dream(Dream): "dream",
        Death(Death): "death",
    }
}

kinds! {
    /// The event of a line of the feed.
    Fed {
        Wakeup(Beat): "wakeup",
        Sleep(Sleep): "sleep",
        Paused(Paused): "paused",
        Resumed(Paused): "resumed",
        Failed(Failed): "error",
    }
}

impl<'a> Record<'a> {
    pub fn data(self) -> Data<'a> {
        self.raw_data().map_or(Data::Other(""), |data| Data::by(self.kind(), data))
    }

    /// The data as they stand in the record.
    pub fn raw_data(self) -> Option<&'a Value> {
        self.0.get("data")
    }

    /// The thought that it is, whether it could be read or not.
    pub fn thought(self) -> Option<Thought<'a>> {
        if let Data::Thought(thought) = self.data() { Some(thought) } else { None }
    }

    pub fn action(self) -> Option<Action<'a>> {
        if let Data::Action(action) = self.data() { Some(action) } else { None }
    }

    pub fn message(self) -> Option<Message<'a>> {
        if let Data::Message(message) = self.data() { Some(message) } else { None }
    }

    pub fn beat(self) -> Option<Beat<'a>> {
        if let Data::Heartbeat(beat) = self.data() { Some(beat) } else { None }
    }

    /// The number of the thought that it is, or belongs to.
    pub fn number(self) -> Option<u64> {
        self.raw_data().and_then(|data| field(data, "thought"))
    }
}

impl Thought<'_> {
    pub fn is_garbled(self) -> bool {
        self.garbled().is_some()
    }
}

impl Action<'_> {
    pub fn is_ok(self) -> bool {
        self.result().is_some_and(Outcome::ok)
    }

    /// Its tool; of a call that goes to a server, the server and its tool too.
    pub fn called(self) -> String {
        let word = |key: &str| self.args()?.get(key)?.as_str();
        match (word("server"), word("tool")) {
            (Some(server), Some(tool)) => format!("{} {server} {tool}", self.tool()),
            _ => self.tool().to_owned(),
        }
    }
}

impl Outcome<'_> {
    /// The id of the ask that an action became, if it waits for the owner.
    pub fn asked(self) -> Option<String> {
        let id = self.0.get("asked")?;
        id.as_str().map(str::to_owned).or_else(|| id.as_u64().map(|id| id.to_string()))
    }
}

impl<'a> Message<'a> {
    pub fn is_owners(self) -> bool {
        self.from() == "owner"
    }

    pub fn is_creatures(self) -> bool {
        self.from() == "creature"
    }

    pub fn thread(self) -> &'a str {
        Some(field(self.0, "thread")).filter(|thread: &&str| !thread.is_empty()).unwrap_or("main")
    }

    /// Returns the kind of the message unless it is a plain answer.
    pub fn odd_kind(self) -> Option<&'a str> {
        Some(self.kind()).filter(|kind| !kind.is_empty() && *kind != "answer")
    }
}

impl<'a> FeedLine<'a> {
    pub fn told(self) -> Fed<'a> {
        Fed::by(self.event(), self.0.get("data").unwrap_or(&Value::Null))
    }
}

impl Paused<'_> {
    /// Says why it pauses, and what goes on afterwards.
    pub fn told(self) -> String {
        match (self.why(), self.what()) {
            (why, "") => why.to_owned(),
            (why, what) => format!("{why}; afterwards: {what}"),
        }
    }
}
