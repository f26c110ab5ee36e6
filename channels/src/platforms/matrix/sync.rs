//! Answers of `/sync` and `/messages`, and the place in them that has been reached: Matrix client-server API, "Syncing".

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Events of a room's newest in an answer; earlier ones are fetched.
pub const NEWEST: usize = 20;

/// The place that has been reached: all before `since`, and of rooms in `gaps` all before that token too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub since: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gaps: BTreeMap<String, String>,
    /// Invitations that nobody may follow yet: a homeserver names each once, before `since`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invitations: Vec<Invitation>,
}

impl Position {
    pub fn of(since: &str) -> Self {
        Self { since: since.to_owned(), ..Self::default() }
    }
}

#[derive(Debug, Deserialize)]
pub struct Answer {
    pub next_batch: String,
    #[serde(default)]
    pub rooms: Rooms,
}

#[derive(Debug, Default, Deserialize)]
pub struct Rooms {
    #[serde(default)]
    pub join: BTreeMap<String, Joined>,
    #[serde(default)]
    pub invite: BTreeMap<String, Invited>,
}

#[derive(Debug, Deserialize)]
pub struct Joined {
    #[serde(default)]
    pub state: Events,
    #[serde(default)]
    pub timeline: Timeline,
}

#[derive(Debug, Default, Deserialize)]
pub struct Events {
    #[serde(default)]
    pub events: Vec<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Timeline {
    #[serde(default)]
    pub events: Vec<Value>,
    /// Whether there is more between the last sync and the first of these.
    #[serde(default)]
    pub limited: bool,
    pub prev_batch: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Invited {
    #[serde(default)]
    pub invite_state: Events,
}

/// A page of `/messages`.
#[derive(Debug, Deserialize)]
pub struct Page {
    #[serde(default)]
    pub chunk: Vec<Value>,
    pub end: Option<String>,
}

const KINDS: [&str; 6] = [
    "m.room.message",
    "m.room.encrypted",
    "m.reaction",
    "m.room.redaction",
    "m.room.member",
    "m.room.encryption",
];

/// The filter of `/sync` ("Filtering", "Lazy-loading room members"): talk alone, members only of who talks.
pub fn filter() -> String {
    let nothing = json!({ "types": [] });
    json!({
        "presence": nothing,
        "account_data": nothing,
        "room": {
            "account_data": nothing,
            "ephemeral": nothing,
            "state": { "lazy_load_members": true, "types": ["m.room.member", "m.room.encryption"] },
            "timeline": { "limit": NEWEST, "lazy_load_members": true, "types": KINDS },
        },
    })
    .to_string()
}

/// The filter of `/messages`, for the same events.
pub fn page_filter() -> String {
    json!({ "lazy_load_members": true, "types": KINDS }).to_string()
}

/// An invitation that stands: who asks, and whether the room is for those who were asked alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    pub room: String,
    pub from: String,
    pub is_private: bool,
}

/// Reads the invitations of an answer ("Stripped state").
pub fn invitations(answer: &Answer, me: &str) -> Vec<Invitation> {
    let mut found = Vec::new();
    for (room, invited) in &answer.rooms.invite {
        let events = &invited.invite_state.events;
        let is = |event: &&Value, kind: &str| event.get("type").and_then(Value::as_str) == Some(kind);
        let mine = events.iter().filter(|event| is(event, "m.room.member"));
        let mine = mine.filter(|event| event.get("state_key").and_then(Value::as_str) == Some(me));
        let mut asked = mine
            .filter(|event| event.pointer("/content/membership").and_then(Value::as_str) == Some("invite"));
        let Some(from) = asked.next_back().and_then(|event| event.get("sender")?.as_str()) else { continue };
        let rule = events.iter().find(|event| is(event, "m.room.join_rules"));
        let rule = rule.and_then(|event| event.pointer("/content/join_rule")?.as_str());
        found.push(Invitation {
            room: room.clone(),
            from: from.to_owned(),
            is_private: rule == Some("invite"),
        });
    }
    found
}
