//! Telegram, by its Bot API and long poll: <https://core.telegram.org/bots/api>.
//!
//! Invariant: an update is confirmed by the offset of a later poll alone, and that is what was acknowledged here.

mod updates;
mod wire;

use crate::channel::{
    Attached, Batch, Button, Channel, Chat, Form, Known, Limits, Message, Outgoing, Press, Sent, Trouble,
    Unit,
};
use crate::door::Door;
use crate::platforms::upload::Upload;
use async_trait::async_trait;
use bytes::Bytes;
use house::clock;
use house::mutex::lock;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use updates::Me;
use wire::{Api, Fault};

const OFFICIAL: &str = "https://api.telegram.org";
/// Longest poll that the platform's own server holds open (`LONG_POLL_MAX_TIMEOUT` in tdlib/telegram-bot-api, Client.h).
const POLL_S: u64 = 50;
const BATCH: usize = 100;
/// Longest wait for any other answer. A flood is told after three seconds.
const PATIENCE: Duration = Duration::from_secs(30);
const FILE_PATIENCE: Duration = Duration::from_secs(300);
/// Shortest time that two polls without news are apart: a server that does not wait is not asked in a circle.
const BETWEEN_POLLS: Duration = Duration::from_secs(1);

/// sendMessage: 1-4096 characters after entities parsing; counted in UTF-16 units as entities are, never the longer count.
const TEXT_UNITS: usize = 4_096;
/// sendDocument: caption, 0-1024 characters after entities parsing.
const CAPTION_UNITS: usize = 1_024;
/// answerCallbackQuery: text, 0-200 characters.
const TOLD_CHARS: usize = 200;
/// getFile: files of up to 20 MB; outward it would be 50.
const FILE_BYTES: u64 = 20 << 20;
/// sendPhoto: at most 10 MB.
const PHOTO_BYTES: usize = 10 << 20;

pub const LIMITS: Limits = Limits {
    text: TEXT_UNITS,
    unit: Unit::Utf16,
    form: Form::TelegramHtml,
    file_bytes: FILE_BYTES,
    // <https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this>: one message a second to a chat.
    ..Limits::USUAL
};

pub struct Telegram {
    api: Api,
    place: Mutex<Place>,
}

/// How far this channel is.
#[derive(Default)]
struct Place {
    me: Option<Me>,
    /// The next update that is wanted: all before it are kept here. 0: the oldest there is.
    offset: i64,
    /// Whether nobody knows yet where this begins: it is told before anything is heard.
    is_new: bool,
    /// When the platform last had nothing more waiting.
    drained_ms: u64,
}

#[derive(Deserialize)]
struct Told {
    message_id: i64,
}

#[derive(Deserialize)]
struct File {
    file_path: Option<String>,
    file_size: Option<u64>,
}

impl Telegram {
    pub fn new(
        settings: &house::settings::channels::Channel,
        secrets: &dyn Fn(&str) -> Option<String>,
        door: Door,
    ) -> Result<Self, String> {
        let name = settings.token_env.as_str();
        let token = secrets(name).map(|token| token.trim().to_owned()).unwrap_or_default();
        if token.is_empty() {
            return Err(format!(
                "channels.telegram: {name} is not in .env; @BotFather gives the token of a bot (/newbot), then write {name}=TOKEN there"
            ));
        }
        // Of a token's form alone: it becomes a part of an address.
        let is_token = token.split_once(':').is_some_and(|(id, secret)| {
            let is_secret = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
            !id.is_empty()
                && id.chars().all(|digit| digit.is_ascii_digit())
                && !secret.is_empty()
                && secret.chars().all(is_secret)
        });
        if !is_token {
            return Err(format!(
                "channels.telegram: what {name} holds in .env is no token of Telegram's, which is digits, a colon, letters; \
                 copy it again from @BotFather"
            ));
        }
        let base = if settings.url.is_empty() { OFFICIAL } else { settings.url.as_str() };
        let api = Api::new(door.http().clone(), base, token, name);
        Ok(Self { api, place: Mutex::default() })
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        lock(&self.place)
    }

    /// Updates from `offset` on; a poll of `wait_s` seconds.
    async fn updates(&self, offset: i64, wait_s: u64) -> Result<Vec<Value>, Trouble> {
        let asked = json!({
            "offset": offset, "limit": BATCH, "timeout": wait_s, "allowed_updates": updates::KINDS,
        });
        let patience = PATIENCE + Duration::from_secs(wait_s);
        self.api.call("getUpdates", &asked, patience).await.map_err(|fault| self.api.trouble(fault))
    }

    async fn me(&self) -> Result<Me, Trouble> {
        self.api.call("getMe", &json!({}), PATIENCE).await.map_err(|fault| self.api.trouble(fault))
    }

    /// Sends by a method; on to where the platform says that the chat is now.
    async fn sent(
        &self,
        method: &str,
        mut asked: Map<String, Value>,
        file: Option<(&str, &Outgoing)>,
    ) -> Result<Sent, Fault> {
        let mut moved = false;
        loop {
            let told: Result<Told, Fault> = match file {
                None => self.api.call(method, &Value::Object(asked.clone()), PATIENCE).await,
                Some((field, file)) => {
                    self.api.upload(method, form(&asked, field, file), FILE_PATIENCE).await
                }
            };
            match told {
                Ok(told) => return Ok(Sent { message: told.message_id.to_string() }),
                Err(Fault::Refused(refusal)) if refusal.says("message thread not found") => {
                    // The topic is gone, the group and who is in it are the same.
                    if asked.remove("message_thread_id").is_none() {
                        return Err(Fault::Refused(refusal));
                    }
                }
                Err(Fault::Refused(refusal)) if refusal.parameters.migrate_to_chat_id.is_some() && !moved => {
                    moved = true;
                    asked.insert("chat_id".into(), json!(refusal.parameters.migrate_to_chat_id));
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Sends a file: a picture as one, where the platform takes it so.
    async fn sent_file(&self, asked: Map<String, Value>, file: &Outgoing) -> Result<Sent, Fault> {
        if is_picture(&file.name) && file.bytes.len() <= PHOTO_BYTES {
            match self.sent("sendPhoto", asked.clone(), Some(("photo", file))).await {
                // Too wide, or no picture at all.
                Err(Fault::Refused(refusal))
                    if refusal.says("PHOTO_") || refusal.says("IMAGE_PROCESS_FAILED") => {}
                other => return other,
            }
        }
        self.sent("sendDocument", asked, Some(("document", file))).await
    }
}

#[async_trait]
impl Channel for Telegram {
    fn limits(&self) -> &Limits {
        &LIMITS
    }

    async fn connect(&self, after: Option<&Value>) -> Result<Known, Trouble> {
        let me = self.me().await?;
        let offset = match after.and_then(Value::as_i64) {
            Some(offset) => offset,
            // All but the last update is forgotten by this, and that one was before now too.
            None => self.updates(-1, 0).await?.last().and_then(updates::number).map_or(0, |last| last + 1),
        };
        let known = Known { id: me.id.to_string(), name: format!("@{}", me.username) };
        *self.place() = Place { me: Some(me), offset, is_new: after.is_none(), drained_ms: 0 };
        Ok(known)
    }

    async fn receive(&self) -> Result<Batch, Trouble> {
        let (me, offset, drained_ms, is_new) = {
            let mut place = self.place();
            (place.me.clone(), place.offset, place.drained_ms, std::mem::take(&mut place.is_new))
        };
        let Some(me) = me else { return Err(Trouble::Away("Telegram is not connected".into())) };
        if is_new {
            return Ok(Batch { heard: Vec::new(), cursor: json!(offset) });
        }
        let begun_ms = clock::since_boot_ms();
        let found = self.updates(offset, POLL_S).await?;
        if found.is_empty() {
            let took = Duration::from_millis(clock::since_boot_ms().saturating_sub(begun_ms));
            tokio::time::sleep(BETWEEN_POLLS.saturating_sub(took)).await;
        }
        if found.len() < BATCH {
            self.place().drained_ms = clock::wall_ms();
        }
        // Not the highest: after a week without any, their numbers go on at random.
        let next = found.iter().rev().find_map(updates::number).map_or(offset, |last| last + 1);
        let heard = found.into_iter().filter_map(|update| updates::heard(update, &me, drained_ms)).collect();
        Ok(Batch { heard, cursor: json!(next) })
    }

    async fn acknowledge(&self, upto: &Value) -> Result<(), Trouble> {
        let Some(offset) = upto.as_i64() else {
            return Err(Trouble::Refused("this is no cursor of Telegram's".into()));
        };
        // The next poll says so: a call of its own would end that.
        self.place().offset = offset;
        Ok(())
    }

    async fn send(&self, message: &Message) -> Result<Sent, Trouble> {
        if self.api.is_ill() {
            self.me().await?;
        }
        let Some(file) = &message.file else {
            let sent = self.sent("sendMessage", text(message, "text")?, None).await;
            return sent.map_err(|fault| self.api.send_trouble(fault));
        };
        if message.text.encode_utf16().count() <= CAPTION_UNITS {
            let sent = self.sent_file(text(message, "caption")?, file).await;
            return sent.map_err(|fault| self.api.send_trouble(fault));
        }
        // Too long to stand under the file: the text, and the file alone behind it.
        let said = Message { file: None, buttons: Vec::new(), ..message.clone() };
        self.sent("sendMessage", text(&said, "text")?, None)
            .await
            .map_err(|fault| self.api.send_trouble(fault))?;
        let bare = Message { text: String::new(), ..message.clone() };
        let sent = self.sent_file(text(&bare, "caption")?, file).await;
        sent.map_err(|fault| {
            if let Trouble::Refused(why) = self.api.send_trouble(fault) {
                return Trouble::Refused(format!("its text arrived, its file did not: {why}"));
            }
            Trouble::Doubtful("its text arrived, its file perhaps not".into())
        })
    }

    async fn edit(&self, sent: &str, message: &Message) -> Result<(), Trouble> {
        for (method, name) in [("editMessageText", "text"), ("editMessageCaption", "caption")] {
            let chat = Chat { thread: None, ..message.chat.clone() };
            let mut asked = text(&Message { chat, ..message.clone() }, name)?;
            asked.insert("message_id".into(), integer(sent)?);
            match self.api.call::<Value>(method, &Value::Object(asked), PATIENCE).await {
                Err(Fault::Refused(refusal)) if refusal.says("there is no text in the message to edit") => {}
                Err(Fault::Refused(refusal)) if refusal.says("message is not modified") => return Ok(()),
                other => return other.map(drop).map_err(|fault| self.api.trouble(fault)),
            }
        }
        Ok(())
    }

    async fn answer(&self, press: &Press, told: &str) -> Result<(), Trouble> {
        let told: String = told.chars().take(TOLD_CHARS).collect();
        let asked = json!({ "callback_query_id": press.reply, "text": told });
        match self.api.call::<Value>("answerCallbackQuery", &asked, PATIENCE).await {
            // Nobody looks at it any more.
            Err(Fault::Refused(refusal)) if refusal.says("query is too old") => Ok(()),
            other => other.map(drop).map_err(|fault| self.api.trouble(fault)),
        }
    }

    async fn typing(&self, chat: &Chat) -> Result<(), Trouble> {
        let mut asked = to(chat)?;
        asked.insert("action".into(), json!("typing"));
        let shown = self.api.call::<Value>("sendChatAction", &Value::Object(asked), PATIENCE).await;
        shown.map(drop).map_err(|fault| self.api.trouble(fault))
    }

    async fn fetch(&self, file: &Attached, most: u64) -> Result<Vec<u8>, Trouble> {
        let found = self.api.call::<File>("getFile", &file.place, PATIENCE).await;
        let found = found.map_err(|fault| self.api.trouble(fault))?;
        if found.file_size.is_some_and(|bytes| bytes > most) {
            return Err(Trouble::Refused(format!("the file is longer than {most} bytes")));
        }
        match found.file_path {
            // A server of one's own started with `--local` names a file of its machine, which is none to ask for.
            Some(path) if is_path(&path) => self.api.download(&path, most, FILE_PATIENCE).await,
            _ => Err(Trouble::Refused("Telegram names no file that could be asked for".into())),
        }
    }
}

/// Arguments of every call to a chat.
fn to(chat: &Chat) -> Result<Map<String, Value>, Trouble> {
    let mut asked = Map::from_iter([("chat_id".to_owned(), integer(&chat.id)?)]);
    if let Some(thread) = &chat.thread {
        asked.insert("message_thread_id".into(), integer(thread)?);
    }
    Ok(asked)
}

fn integer(id: &str) -> Result<Value, Trouble> {
    let number: Option<i64> = id.parse().ok();
    number.map(|number| json!(number)).ok_or_else(|| Trouble::Refused(format!("{id} is no id of Telegram's")))
}

/// A message as arguments; `name` is what its text is called there.
fn text(message: &Message, name: &str) -> Result<Map<String, Value>, Trouble> {
    let mut asked = to(&message.chat)?;
    if !(message.text.is_empty() && name == "caption") {
        asked.insert(name.into(), json!(message.text));
        if message.form == Form::TelegramHtml {
            asked.insert("parse_mode".into(), json!("HTML"));
        }
    }
    if name == "text" {
        asked.insert("link_preview_options".into(), json!({ "is_disabled": true }));
    }
    if !message.buttons.is_empty() {
        asked.insert("reply_markup".into(), json!({ "inline_keyboard": rows(&message.buttons) }));
    }
    Ok(asked)
}

/// A few buttons stand beside one another, more of them below.
fn rows(buttons: &[Button]) -> Vec<Vec<Value>> {
    let drawn = |button: &Button| json!({ "text": button.label, "callback_data": button.data });
    buttons
        .chunks(if buttons.len() <= 3 { 3 } else { 1 })
        .map(|row| row.iter().map(drawn).collect())
        .collect()
}

/// The arguments and a file as a form, whose fields that are no text are JSON.
fn form(asked: &Map<String, Value>, field: &str, file: &Outgoing) -> (String, Bytes) {
    let fields = asked.iter().map(|(name, value)| {
        (name.as_str(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    });
    let fields: Vec<(&str, String)> = fields.collect();
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, text)| (*name, text.as_str())).collect();
    Upload::new(&fields, &file.bytes).file(field, &file.name, &file.bytes)
}

fn is_picture(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| ["png", "jpg", "jpeg", "webp"].contains(&ending.as_str()))
}

/// A path below the bot's files: it becomes a part of an address.
fn is_path(path: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    path.chars().all(is_plain) && path.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}
