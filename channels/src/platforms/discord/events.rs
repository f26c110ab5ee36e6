//! Reads a dispatch of Discord's gateway as something that happened in a chat; pure.

use crate::channel::{Attached, Chat, Heard, Person, Press, What, Word};
use crate::platforms::calls::at;
use serde_json::{Value, json};

/// Reference, Snowflakes: milliseconds of 2015's first second.
const EPOCH_MS: u64 = 1_420_070_400_000;
/// Message resource, Message Types: DEFAULT and REPLY are what people write; the others are the platform's own notes.
const WRITTEN: [u64; 2] = [0, 19];
/// Receiving and Responding, Interaction Type.
const MESSAGE_COMPONENT: u64 = 3;

/// When something with this id was made.
pub fn at_ms(id: &str) -> u64 {
    id.parse::<u64>().map_or(0, |id| (id >> 22).saturating_add(EPOCH_MS))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Says what a dispatch is, for the bot of this id; `None` where it is nothing that somebody said or did here.
pub fn heard(kind: &str, what: &Value, me: &str) -> Option<Heard> {
    let chat = chat(what);
    match kind {
        "MESSAGE_CREATE" => message(what, me, chat),
        "MESSAGE_UPDATE" => edited(what, me, chat),
        "MESSAGE_DELETE" => {
            let message = text(at(what, "/id")).to_owned();
            // Who deleted it is not said; the caller may know whose it was.
            let from = Person { id: String::new(), name: String::new(), is_bot: false };
            let id = format!("{message}-deleted");
            Some(Heard { id, at_ms: at_ms(&message), chat, from, what: What::Deleted { message } })
        }
        "INTERACTION_CREATE" => pressed(what, chat),
        _ => None,
    }
}

/// The chat of a message or an interaction. Without a server it is the two of them alone: a bot is in no group of friends.
fn chat(what: &Value) -> Chat {
    let is_private =
        at(what, "/guild_id").is_null() && at(what, "/channel_type").as_u64().is_none_or(|kind| kind == 1);
    Chat { id: text(at(what, "/channel_id")).to_owned(), thread: None, is_private }
}

/// A message as it was written, in this chat.
pub fn message(what: &Value, me: &str, chat: Chat) -> Option<Heard> {
    let id = text(at(what, "/id"));
    let from = person(at(what, "/author"), !at(what, "/webhook_id").is_null());
    if id.is_empty() || from.id == me || !WRITTEN.contains(&at(what, "/type").as_u64().unwrap_or(0)) {
        return None;
    }
    let is_forward = at(what, "/message_snapshots").as_array().is_some_and(|all| !all.is_empty());
    let word = word(what, me);
    let what = if is_forward && word.text.is_empty() && word.files.is_empty() {
        // The words are somebody else's, and would be taken for the owner's.
        What::Unread {
            why: "a forwarded message is not read: copy what matters, and say whose it is".to_owned(),
        }
    } else {
        What::Word(word)
    };
    Some(Heard { id: id.to_owned(), at_ms: at_ms(id), chat, from, what })
}

/// Message resource: `edited_timestamp` is null where only an embed was added.
fn edited(what: &Value, me: &str, chat: Chat) -> Option<Heard> {
    let when = at(what, "/edited_timestamp").as_str()?;
    let whole = message(what, me, chat)?;
    let What::Word(word) = whole.what else { return None };
    let at_ms = house::moments::ms(when).unwrap_or(whole.at_ms);
    Some(Heard { id: format!("{}-{at_ms}", whole.id), at_ms, what: What::Edited(word), ..whole })
}

fn pressed(what: &Value, chat: Chat) -> Option<Heard> {
    if at(what, "/type").as_u64() != Some(MESSAGE_COMPONENT) {
        return None;
    }
    let id = text(at(what, "/id"));
    let user = if at(what, "/user").is_object() { at(what, "/user") } else { at(what, "/member/user") };
    let press = Press {
        data: text(at(what, "/data/custom_id")).to_owned(),
        message: text(at(what, "/message/id")).to_owned(),
        reply: json!({"application": at(what, "/application_id"), "token": at(what, "/token")}),
    };
    Some(Heard {
        id: id.to_owned(),
        at_ms: at_ms(id),
        chat,
        from: person(user, false),
        what: What::Press(press),
    })
}

fn person(user: &Value, is_webhook: bool) -> Person {
    let name =
        if at(user, "/global_name").is_string() { at(user, "/global_name") } else { at(user, "/username") };
    let is_bot = is_webhook || at(user, "/bot") == true || at(user, "/system") == true;
    Person { id: text(at(user, "/id")).to_owned(), name: text(name).to_owned(), is_bot }
}

fn word(what: &Value, me: &str) -> Word {
    let mentions = at(what, "/mentions").as_array().map_or(&[][..], Vec::as_slice);
    let is_addressed = mentions.iter().any(|user| text(at(user, "/id")) == me)
        || text(at(what, "/referenced_message/author/id")) == me;
    let attachments = at(what, "/attachments").as_array().map_or(&[][..], Vec::as_slice);
    let files = attachments.iter().map(|file| Attached {
        name: text(at(file, "/filename")).to_owned(),
        bytes: at(file, "/size").as_u64(),
        place: json!({
            "url": at(file, "/url"), "id": at(file, "/id"), "message": at(what, "/id"), "channel": at(what, "/channel_id"),
        }),
    });
    Word {
        message: text(at(what, "/id")).to_owned(),
        text: plain(text(at(what, "/content")), mentions, me),
        files: files.collect(),
        is_addressed,
    }
}

/// Reference, Message Formatting: mentions by name, and the bot's own at the beginning left out.
fn plain(content: &str, mentions: &[Value], me: &str) -> String {
    let mut read = content.trim();
    for own in [format!("<@{me}>"), format!("<@!{me}>")] {
        read = read.strip_prefix(own.as_str()).unwrap_or(read).trim_start();
    }
    let mut read = read.to_owned();
    for user in mentions {
        let (id, name) = (text(at(user, "/id")), text(at(user, "/username")));
        for form in [format!("<@{id}>"), format!("<@!{id}>")] {
            read = read.replace(&form, &format!("@{name}"));
        }
    }
    read
}
