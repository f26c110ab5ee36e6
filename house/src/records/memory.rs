//! Records of the creature's by kind: of its memory, its bookkeeping and its feed; one of an unknown kind stays as it is.

use super::history::Death;
use super::view::field;
use crate::views;
use serde_json::Value;

views! {
    /// A record of memory or of the bookkeeping.
    Record { at: &'a str, life: Option<u64>, kind: &'a str }
    /// One of a thought, or of a reply of the mind's that could not be read.
    Thought {
        mind: &'a str, thought: Option<u64>, wake: Option<u64>, monologue: &'a str, intent: &'a str, owner: Option<bool>,
        tool_calls: &'a [Value], usage: Usage<'a>, garbled: Option<&'a Value>, error: &'a str,
    }
    /// What a model was given, in tokens, and what it answered.
    Usage { input_tokens: u64, output_tokens: u64, cache_read_tokens: u64, cache_write_tokens: u64 }
    Action { thought: Option<u64>, tool: &'a str, args: Option<&'a Value>, result: Option<Outcome<'a>> }
    /// What came of an action.
    Outcome { ok: bool, error: &'a str, drafted: &'a str, path: &'a str, id: Option<&'a Value> }
    Observation { about: &'a str, text: &'a str, commit: &'a str }
    SelfChange { ok: bool, stage: &'a str, summary: &'a str, error: &'a str }
    /// Why a wake was; its feed says for whom, too.
    Beat { wake: Option<u64>, why: Option<Vec<&'a str>>, priority: &'a str }
    Agenda { session: &'a str, thought: &'a str, change: Option<&'a Value> }
    /// `at`: when the owner's was written.
    Message { from: &'a str, text: &'a str, at: &'a str, kind: &'a str, done: Option<bool>, reminder: Option<&'a Value> }
    Dream { monologue: &'a str, name: Option<&'a Value>, undone: Option<&'a Value> }
    /// A line of its feed.
    FeedLine { at: &'a str, life: Option<u64>, event: &'a str }
    Sleep { rest_ms: i64 }
}

/// The data of a record, by its kind.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    Thought(Thought<'a>),
    Action(Action<'a>),
    Observation(Observation<'a>),
    SelfChange(SelfChange<'a>),
    Heartbeat(Beat<'a>),
    Agenda(Agenda<'a>),
    Message(Message<'a>),
    Dream(Dream<'a>),
    Death(Death<'a>),
    /// A kind that a later creature, or its mind, chose; empty where the record has no data.
    Other(&'a str),
}

impl<'a> Record<'a> {
    pub fn data(self) -> Data<'a> {
        let Some(data) = self.raw_data() else { return Data::Other("") };
        match self.kind() {
            "thought" => Data::Thought(Thought(data)),
            "action" => Data::Action(Action(data)),
            "observation" => Data::Observation(Observation(data)),
            "self_change" => Data::SelfChange(SelfChange(data)),
            "heartbeat" => Data::Heartbeat(Beat(data)),
            "agenda" => Data::Agenda(Agenda(data)),
            "message" => Data::Message(Message(data)),
            "dream" => Data::Dream(Dream(data)),
            "death" => Data::Death(Death(data)),
            other => Data::Other(other),
        }
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

    /// What kind of message it is, where it is more than an answer.
    pub fn odd_kind(self) -> Option<&'a str> {
        Some(self.kind()).filter(|kind| !kind.is_empty() && *kind != "answer")
    }
}

/// What a line of the feed tells.
#[derive(Clone, Copy, Debug)]
pub enum Fed<'a> {
    Wakeup(Beat<'a>),
    Sleep(Sleep<'a>),
    /// It works no more until it is resumed.
    Paused(&'a Value),
    Resumed,
    Other(&'a str),
}

impl<'a> FeedLine<'a> {
    pub fn told(self) -> Fed<'a> {
        let data = self.0.get("data").unwrap_or(&Value::Null);
        match self.event() {
            "wakeup" => Fed::Wakeup(Beat(data)),
            "sleep" => Fed::Sleep(Sleep(data)),
            "paused" => Fed::Paused(data),
            "resumed" => Fed::Resumed,
            other => Fed::Other(other),
        }
    }
}
