//! What a dispatch of Discord's gateway says, as something that happened in a chat; pure.

use crate::channel::{Attached, Chat, Heard, Person, Press, What, Word};
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
            let message = text(&what["id"]).to_owned();
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
    let is_private = what["guild_id"].is_null() && what["channel_type"].as_u64().is_none_or(|kind| kind == 1);
    Chat { id: text(&what["channel_id"]).to_owned(), thread: None, is_private }
}

/// A message as it was written, in this chat.
pub fn message(what: &Value, me: &str, chat: Chat) -> Option<Heard> {
    let id = text(&what["id"]);
    let from = person(&what["author"], !what["webhook_id"].is_null());
    if id.is_empty() || from.id == me || !WRITTEN.contains(&what["type"].as_u64().unwrap_or(0)) {
        return None;
    }
    let is_forward = what["message_snapshots"].as_array().is_some_and(|all| !all.is_empty());
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
    let when = what["edited_timestamp"].as_str()?;
    let whole = message(what, me, chat)?;
    let What::Word(word) = whole.what else { return None };
    let at_ms = house::moments::ms(when).unwrap_or(whole.at_ms);
    Some(Heard { id: format!("{}-{at_ms}", whole.id), at_ms, what: What::Edited(word), ..whole })
}

fn pressed(what: &Value, chat: Chat) -> Option<Heard> {
    if what["type"].as_u64() != Some(MESSAGE_COMPONENT) {
        return None;
    }
    let id = text(&what["id"]);
    let user = if what["user"].is_object() { &what["user"] } else { &what["member"]["user"] };
    let press = Press {
        data: text(&what["data"]["custom_id"]).to_owned(),
        message: text(&what["message"]["id"]).to_owned(),
        reply: json!({"application": what["application_id"], "token": what["token"]}),
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
    let name = if user["global_name"].is_string() { &user["global_name"] } else { &user["username"] };
    let is_bot = is_webhook || user["bot"] == true || user["system"] == true;
    Person { id: text(&user["id"]).to_owned(), name: text(name).to_owned(), is_bot }
}

fn word(what: &Value, me: &str) -> Word {
    let mentions = what["mentions"].as_array().map_or(&[][..], Vec::as_slice);
    let is_addressed = mentions.iter().any(|user| text(&user["id"]) == me)
        || text(&what["referenced_message"]["author"]["id"]) == me;
    let attachments = what["attachments"].as_array().map_or(&[][..], Vec::as_slice);
    let files = attachments.iter().map(|file| Attached {
        name: text(&file["filename"]).to_owned(),
        bytes: file["size"].as_u64(),
        place: json!({
            "url": file["url"], "id": file["id"], "message": what["id"], "channel": what["channel_id"],
        }),
    });
    Word {
        message: text(&what["id"]).to_owned(),
        text: plain(text(&what["content"]), mentions, me),
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
        let (id, name) = (text(&user["id"]), text(&user["username"]));
        for form in [format!("<@{id}>"), format!("<@!{id}>")] {
            read = read.replace(&form, &format!("@{name}"));
        }
    }
    read
}
