//! Events of a room, read: words, edits, deletions, reactions, and what cannot be read; pure.
//!
//! Matrix client-server API, "Instant Messaging", "Event replacements", "Event annotations and reactions", "Threading", "Redactions".

use crate::channel::{Attached, Button, Word};
use crate::split::beginning;
use serde_json::{Value, json};

/// Key of a message's content under which its buttons stand, each with the reaction that presses it.
pub const BUTTONS: &str = "io.github.feral.buttons";
/// Most bytes of a name.
const NAME_BYTES: usize = 255;

/// Something that happened in a room.
#[derive(Debug, PartialEq)]
pub struct Event {
    pub id: String,
    pub at_ms: u64,
    pub from: String,
    pub thread: Option<String>,
    pub what: Kind,
}

#[derive(Debug, PartialEq)]
pub enum Kind {
    /// A word; a notice is one of a program ("m.notice").
    Word {
        word: Word,
        is_notice: bool,
    },
    Edited(Word),
    Deleted(String),
    Reaction {
        message: String,
        key: String,
    },
    /// Somebody came or went.
    Member,
    /// All that is said here is encrypted, from here on.
    Encrypted,
}

/// Reads an event; `None` where it is none of ours, or says nothing.
pub fn read(event: &Value, me: &str) -> Option<Event> {
    let text = |at: &str| event.pointer(at).and_then(Value::as_str);
    let relation = event.pointer("/content/m.relates_to");
    let related = |kind: &str, key: &str| {
        relation.filter(|of| of.get("rel_type").and_then(Value::as_str) == Some(kind))?.get(key)?.as_str()
    };
    let what = match text("/type")? {
        "m.room.message" => match related("m.replace", "event_id") {
            Some(message) => Kind::Edited(word(event.pointer("/content/m.new_content")?, message, me)?),
            None => Kind::Word {
                word: word(event.get("content")?, text("/event_id")?, me)?,
                is_notice: text("/content/msgtype") == Some("m.notice"),
            },
        },
        "m.reaction" => Kind::Reaction {
            message: related("m.annotation", "event_id")?.to_owned(),
            key: related("m.annotation", "key")?.to_owned(),
        },
        // Since room version 11 it stands in the content.
        "m.room.redaction" => {
            Kind::Deleted(text("/redacts").or_else(|| text("/content/redacts"))?.to_owned())
        }
        "m.room.member" => Kind::Member,
        "m.room.encrypted" => Kind::Encrypted,
        "m.room.encryption" if text("/content/algorithm").is_some() => Kind::Encrypted,
        _ => return None,
    };
    let from = text("/sender")?;
    // What comes from here is known here; that the room is encrypted counts, whoever made it so.
    if from == me && !matches!(what, Kind::Member | Kind::Encrypted) {
        return None;
    }
    Some(Event {
        id: text("/event_id")?.to_owned(),
        at_ms: event.get("origin_server_ts").and_then(Value::as_u64).unwrap_or_default(),
        from: from.to_owned(),
        thread: related("m.thread", "event_id").map(str::to_owned),
        what,
    })
}

/// A message's content as a word; `None` where nothing is left of it, as after a deletion.
fn word(content: &Value, message: &str, me: &str) -> Option<Word> {
    let text = |at: &str| content.get(at).and_then(Value::as_str);
    let body = text("body")?;
    let mentioned = content.pointer("/m.mentions/user_ids").and_then(Value::as_array);
    let is_mentioned = mentioned.is_some_and(|ids| ids.iter().any(|id| id.as_str() == Some(me)));
    let is_answer = content.pointer("/m.relates_to/m.in_reply_to/event_id").is_some();
    let body = if is_answer { without_fallback(body) } else { body };
    let is_addressed = is_mentioned || body.contains(me);
    let is_file = matches!(text("msgtype")?, "m.file" | "m.image" | "m.audio" | "m.video");
    let file = text("url").filter(|_| is_file);
    let Some(url) = file else {
        return Some(Word {
            message: message.to_owned(),
            text: body.to_owned(),
            files: vec![],
            is_addressed,
        });
    };
    // A body beside a file's name is its caption ("Media captions").
    let name = text("filename").unwrap_or(body);
    let caption = if name == body { "" } else { body };
    let bytes = content.pointer("/info/size").and_then(Value::as_u64);
    let attached =
        Attached { name: beginning(name, NAME_BYTES).to_owned(), bytes, place: json!({ "mxc": url }) };
    Some(Word { message: message.to_owned(), text: caption.to_owned(), files: vec![attached], is_addressed })
}

/// A body without the quote that older programs put before an answer ("Fallbacks for rich replies", until v1.13).
fn without_fallback(body: &str) -> &str {
    if !body.starts_with("> <") && !body.starts_with("> * <") {
        return body;
    }
    body.split_once("\n\n").map_or(body, |(quote, rest)| {
        if quote.lines().all(|line| line.starts_with('>')) { rest } else { body }
    })
}

/// Server and id of a file's address ("Matrix Content (mxc://) URIs"): of letters that cannot leave their place.
pub fn media(place: &Value) -> Option<(&str, &str)> {
    let (server, id) = place.get("mxc")?.as_str()?.strip_prefix("mxc://")?.split_once('/')?;
    let of = |text: &str, also: &str| {
        (1..=255).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || also.contains(c))
    };
    (of(server, ".-:[]") && of(id, "-_")).then_some((server, id))
}

/// Reactions that press buttons, in their order: numbers, since a mark says yes or no whatever the button says.
pub const KEYS: [&str; 8] = [
    "1\u{fe0f}\u{20e3}",
    "2\u{fe0f}\u{20e3}",
    "3\u{fe0f}\u{20e3}",
    "4\u{fe0f}\u{20e3}",
    "5\u{fe0f}\u{20e3}",
    "6\u{fe0f}\u{20e3}",
    "7\u{fe0f}\u{20e3}",
    "8\u{fe0f}\u{20e3}",
];

/// Data of the button that a reaction presses, by the message as the homeserver has it: ours, as it reads after its last
/// edit. Programs send a sign with or without its mark of colour (U+FE0F).
pub fn pressed(message: &Value, me: &str, key: &str) -> Option<String> {
    if message.get("sender").and_then(Value::as_str) != Some(me) {
        return None;
    }
    let edit = message.pointer("/unsigned/m.relations/m.replace/content/m.new_content");
    let content = edit.or_else(|| message.get("content"))?;
    let buttons: Vec<Button> = serde_json::from_value(content.get(BUTTONS)?.clone()).ok()?;
    let plain = |text: &str| text.replace('\u{fe0f}', "");
    let index = KEYS.iter().position(|known| plain(known) == plain(key))?;
    buttons.get(index).map(|button| button.data.clone())
}
