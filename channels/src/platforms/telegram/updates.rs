//! An update of Telegram's as what happened in a chat: words, edits and presses; all else is passed over. Pure.
//!
//! Invariant: an update that cannot be read stops none behind it.

use crate::channel::{Attached, Chat, Heard, Person, Press, What, Word};
use serde::Deserialize;
use serde_json::{Value, json};

/// The kinds that are asked for; others may still come for a while, and are passed over.
pub const KINDS: [&str; 3] = ["message", "edited_message", "callback_query"];
/// Kinds of a message that has neither words nor a file: it is named, so that it is not lost.
const WITHOUT_WORDS: [&str; 9] =
    ["sticker", "location", "venue", "contact", "poll", "dice", "game", "story", "checklist"];
/// Kinds of a message that is one file, where they stand, and how a file without a name is called.
const FILES: [(&str, &str); 6] = [
    ("document", ""),
    ("audio", ".mp3"),
    ("voice", ".ogg"),
    ("video", ".mp4"),
    ("video_note", ".mp4"),
    ("animation", ".mp4"),
];

/// This bot, by whose name it is addressed.
#[derive(Clone, Debug, Deserialize)]
pub struct Me {
    pub id: i64,
    #[serde(default)]
    pub username: String,
}

#[derive(Deserialize)]
struct Update {
    update_id: i64,
    message: Option<Value>,
    edited_message: Option<Value>,
    callback_query: Option<Query>,
}

#[derive(Deserialize)]
struct Query {
    id: String,
    from: User,
    message: Option<Message>,
    data: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    message_id: i64,
    #[serde(default)]
    date: u64,
    #[serde(default)]
    edit_date: u64,
    chat: Place,
    from: Option<User>,
    message_thread_id: Option<i64>,
    #[serde(default)]
    is_topic_message: bool,
    #[serde(alias = "caption")]
    text: Option<String>,
    #[serde(default, alias = "caption_entities")]
    entities: Vec<Entity>,
    reply_to_message: Option<Replied>,
    forward_origin: Option<Value>,
    via_bot: Option<User>,
    /// Of chats that only look like those of this bot.
    guest_query_id: Option<Value>,
    business_connection_id: Option<Value>,
}

#[derive(Deserialize)]
struct Replied {
    from: Option<User>,
}

#[derive(Deserialize)]
struct Place {
    id: i64,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct User {
    id: i64,
    #[serde(default)]
    is_bot: bool,
    #[serde(default)]
    first_name: String,
    #[serde(default)]
    last_name: String,
    #[serde(default)]
    username: String,
}

#[derive(Deserialize)]
struct Entity {
    #[serde(rename = "type")]
    kind: String,
    offset: usize,
    length: usize,
    user: Option<User>,
}

/// The number of an update, by which it is acknowledged.
pub fn number(update: &Value) -> Option<i64> {
    update.get("update_id").and_then(Value::as_i64)
}

/// Reads an update. `drained_ms`: when nothing waited at the platform, for a press has no time of its own.
pub fn heard(update: Value, me: &Me, drained_ms: u64) -> Option<Heard> {
    let update: Update = serde_json::from_value(update).ok()?;
    if let Some(query) = update.callback_query {
        return pressed(query, drained_ms);
    }
    let is_edit = update.message.is_none();
    let whole = update.message.or(update.edited_message)?;
    let message = Message::deserialize(&whole).ok()?;
    if message.guest_query_id.is_some() || message.business_connection_id.is_some() {
        return None;
    }
    let (word, from) = (word(&message, &whole, me)?, person(message.from.as_ref()?));
    let place = format!("{}.{}", message.chat.id, message.message_id);
    let (id, at_s, what) = if is_edit {
        (format!("{place}.{}", update.update_id), message.edit_date, What::Edited(word))
    } else {
        (place, message.date, What::Word(word))
    };
    Some(Heard { id, at_ms: at_s.saturating_mul(1_000), chat: chat(&message), from, what })
}

/// A press happened after the message it stands under was sent, and after the platform last had nothing waiting.
fn pressed(query: Query, drained_ms: u64) -> Option<Heard> {
    let (message, data) = (query.message?, query.data?);
    let press = Press { data, message: message.message_id.to_string(), reply: json!(query.id) };
    Some(Heard {
        id: format!("press.{}", query.id),
        at_ms: drained_ms.max(message.date.saturating_mul(1_000)),
        chat: chat(&message),
        from: person(&query.from),
        what: What::Press(press),
    })
}

fn chat(message: &Message) -> Chat {
    Chat {
        id: message.chat.id.to_string(),
        // In a group without topics an answer has such a number too, and nothing can be sent to it.
        thread: message
            .message_thread_id
            .filter(|_| message.is_topic_message)
            .map(|thread| thread.to_string()),
        is_private: message.chat.kind == "private",
    }
}

fn person(user: &User) -> Person {
    let name = [&user.first_name, &user.last_name].map(String::as_str).join(" ").trim().to_owned();
    let name = if user.username.is_empty() { name } else { format!("{name} (@{})", user.username) };
    Person { id: user.id.to_string(), name, is_bot: user.is_bot }
}

/// Words of a message; `None`: it is of the chat itself, as who came and went.
fn word(message: &Message, whole: &Value, me: &Me) -> Option<Word> {
    let files: Vec<Attached> = files(whole);
    let text = message.text.clone().or_else(|| {
        let named = WITHOUT_WORDS.iter().find(|kind| whole.get(**kind).is_some());
        named.map(|kind| match whole.pointer("/sticker/emoji").and_then(Value::as_str) {
            Some(emoji) => emoji.to_owned(),
            None => format!("[a {kind}, which is not read here]"),
        })
    });
    if text.is_none() && files.is_empty() {
        return None;
    }
    let text = text.unwrap_or_default();
    let named = Named::of(&text, &message.entities, me);
    let replies = message.reply_to_message.as_ref().and_then(|replied| replied.from.as_ref());
    let is_addressed = message.chat.kind == "private"
        || named.is_named
        || !named.is_others && replies.is_some_and(|from| from.id == me.id);
    let text = match others(message) {
        // The words of others: no order of who passes them on, whatever they begin with.
        Some(whose) => format!("[{whose}]\n{text}"),
        None => named.text,
    };
    Some(Word { message: message.message_id.to_string(), text, files, is_addressed })
}

/// Names those whose words these are, where they are not the sender's.
fn others(message: &Message) -> Option<String> {
    if let Some(origin) = &message.forward_origin {
        let places = ["/sender_user/first_name", "/sender_user_name", "/sender_chat/title", "/chat/title"];
        let name = places.iter().find_map(|place| origin.pointer(place)?.as_str()).unwrap_or("somebody");
        return Some(format!("forwarded from {}", on_a_line(name)));
    }
    message.via_bot.as_ref().map(|bot| format!("by the bot {}", on_a_line(&bot.username)))
}

fn on_a_line(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control() && *letter != ']').take(64).collect()
}

/// A text, and whether it is meant for this bot.
struct Named {
    text: String,
    is_named: bool,
    /// A command that names another bot.
    is_others: bool,
}

impl Named {
    /// A name at the beginning is not said to the mind; `/word@this_bot` is `/word`, and `/start CODE` of a link is CODE.
    fn of(text: &str, entities: &[Entity], me: &Me) -> Self {
        let units: Vec<u16> = text.encode_utf16().collect();
        let at = format!("@{}", me.username);
        let (mut is_named, mut is_others, mut said) = (false, false, None);
        for entity in entities {
            let end = entity.offset.saturating_add(entity.length);
            let Some(here) = units.get(entity.offset..end).map(String::from_utf16_lossy) else { continue };
            let rest = || units.get(end..).map(String::from_utf16_lossy).unwrap_or_default();
            match entity.kind.as_str() {
                "mention" if !me.username.is_empty() && here.eq_ignore_ascii_case(&at) => {
                    is_named = true;
                    if entity.offset == 0 {
                        said = Some(rest().trim_start_matches([' ', ',', ':', '\n']).to_owned());
                    }
                }
                "text_mention" => is_named |= entity.user.as_ref().is_some_and(|user| user.id == me.id),
                "bot_command" if entity.offset == 0 => {
                    let (command, whose) = here.split_once('@').unwrap_or((&here, ""));
                    is_named |= whose.eq_ignore_ascii_case(&me.username) && !whose.is_empty();
                    is_others = !whose.is_empty() && !whose.eq_ignore_ascii_case(&me.username);
                    if !is_others {
                        said = Some(match rest().trim() {
                            given if command == "/start" && !given.is_empty() => given.to_owned(),
                            _ => format!("{command}{}", rest()),
                        });
                    }
                }
                _ => {}
            }
        }
        Self { text: said.unwrap_or_else(|| text.to_owned()), is_named, is_others }
    }
}

fn files(whole: &Value) -> Vec<Attached> {
    // The sizes of a picture are one picture; the largest is the last of most pixels.
    let photo = whole.get("photo").and_then(Value::as_array).and_then(|sizes| {
        sizes.iter().max_by_key(|size| size.get("width").and_then(Value::as_u64).unwrap_or(0))
    });
    let photo = photo.and_then(|photo| attached(photo, "photo", ".jpg"));
    let mut found: Vec<Attached> = photo.into_iter().collect();
    for (kind, ending) in FILES {
        // An animation stands as a document too.
        if kind == "animation" && whole.get("document").is_some() {
            continue;
        }
        found.extend(whole.get(kind).and_then(|file| attached(file, kind, ending)));
    }
    found
}

fn attached(file: &Value, kind: &str, ending: &str) -> Option<Attached> {
    let text = |name: &str| file.get(name).and_then(Value::as_str);
    let id = text("file_id")?;
    let name = text("file_name").filter(|name| !name.is_empty()).map(str::to_owned);
    let name = name.unwrap_or_else(|| format!("{kind}-{}{ending}", text("file_unique_id").unwrap_or("1")));
    Some(Attached {
        name,
        bytes: file.get("file_size").and_then(Value::as_u64),
        place: json!({"file_id": id}),
    })
}
