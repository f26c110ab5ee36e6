//! Matrix: the client-server API of a homeserver, in rooms without encryption.
//!
//! Rules beside which a section's name stands are those of the specification, spec.matrix.org, "Client-Server API", v1.15.

pub mod events;
pub mod outgoing;
mod rooms;
pub mod sync;
pub mod wire;

use crate::channel::{
    Attached, Batch, Channel, Chat, Form, Known, Limits, Message, Press, Sent, Trouble, Unit, Welcome,
};
use crate::door::Door;
use async_trait::async_trait;
use events::{KEYS, media};
use house::mutex::lock;
use house::settings::channels;
use reqwest::Method;
use rooms::{Read, Rooms, read_as};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sync::{Answer, Position};
use tokio::sync::Notify;
use wire::{FILE, SOON, Wire};

/// How long the homeserver holds a sync open in which nothing happens.
const HELD: Duration = Duration::from_secs(30);
/// How long a typing sign stands by itself.
const TYPING_MS: u64 = 10_000;

pub struct Matrix {
    wire: Wire,
    me: Mutex<String>,
    /// Behind the last batch that was handed on, not that which was acknowledged.
    position: Mutex<Position>,
    /// Whether it begins at now, and nobody was told yet where that is.
    begins: AtomicBool,
    welcome: Mutex<Welcome>,
    welcomed: Notify,
    rooms: Rooms,
}

impl Matrix {
    pub fn new(
        settings: &channels::Channel,
        secrets: &dyn Fn(&str) -> Option<String>,
        door: Door,
    ) -> Result<Self, String> {
        let name = &settings.token_env;
        let token = secrets(name).filter(|token| !token.is_empty()).ok_or_else(|| {
            format!("{name} is not set: put the access token of an account of its own into .env, see docs/channels.md#matrix")
        })?;
        Ok(Self {
            wire: Wire::new(&settings.url, token, &door)?,
            me: Mutex::default(),
            position: Mutex::default(),
            begins: AtomicBool::new(false),
            welcome: Mutex::default(),
            welcomed: Notify::new(),
            rooms: Rooms::default(),
        })
    }

    fn me(&self) -> String {
        lock(&self.me).clone()
    }

    fn position(&self) -> Position {
        lock(&self.position).clone()
    }

    /// The place that has been reached, as it is kept.
    fn cursor(&self) -> Value {
        json!(Position { invitations: self.rooms.held(), ..self.position() })
    }

    fn reached(&self, position: Position) {
        *lock(&self.position) = position;
    }

    async fn sync(&self, since: &str, held: Duration) -> Result<Answer, Trouble> {
        let (filter, held_ms) = (sync::filter(), held.as_millis().to_string());
        let mut query = vec![("filter", filter.as_str()), ("timeout", &held_ms), ("set_presence", "offline")];
        if !since.is_empty() {
            query.push(("since", since));
        }
        let request =
            self.wire.at(Method::GET, &["client", "v3", "sync"])?.query(&query).timeout(held + SOON);
        let answer: Answer = read_as(self.wire.json(request).await?)?;
        self.rooms.hold(sync::invitations(&answer, &self.me()));
        Ok(answer)
    }

    async fn put(&self, chat: &Chat, key: &str, content: &Value) -> Result<Sent, Trouble> {
        let path = ["client", "v3", "rooms", &chat.id, "send", "m.room.message", key];
        let answer = self.wire.json(self.wire.at(Method::PUT, &path)?.json(content)).await?;
        let id = answer.get("event_id").and_then(Value::as_str);
        let id =
            id.ok_or_else(|| Trouble::Away("the homeserver names no event for what it took".to_owned()))?;
        Ok(Sent { message: id.to_owned() })
    }

    /// Puts the signs of its buttons below a message, so that a press is one touch. Without them they still press: what
    /// fails here is let go.
    async fn signs(&self, chat: &Chat, message: &Message, sent: &Sent) {
        for (number, (sign, _)) in KEYS.iter().zip(&message.buttons).enumerate() {
            let key = format!("{}-{number}", message.key);
            let path = ["client", "v3", "rooms", &chat.id, "send", "m.reaction", &key];
            let of = json!({ "rel_type": "m.annotation", "event_id": sent.message, "key": sign });
            let Ok(request) = self.wire.at(Method::PUT, &path) else { return };
            if self.wire.json(request.json(&json!({ "m.relates_to": of }))).await.is_err() {
                return;
            }
        }
    }
}

/// A text stands in an event up to three times, as HTML and plain: together within the 65,536 bytes of an event.
pub const LIMITS: Limits = Limits {
    text: 15_000,
    unit: Unit::Bytes,
    form: Form::MatrixHtml,
    file_bytes: 50 << 20,
    gap: Duration::from_millis(200),
    // "Transaction identifiers": a second send with the same one by the same token is answered with the first one's event.
    // Synapse clears those older than 24 hours (events_worker.py, _cleanup_old_transaction_ids).
    keys: Some(Duration::from_secs(23 * 60 * 60)),
    ..Limits::USUAL
};

#[async_trait]
impl Channel for Matrix {
    fn limits(&self) -> &Limits {
        &LIMITS
    }

    async fn connect(&self, after: Option<&Value>) -> Result<Known, Trouble> {
        let answer =
            self.wire.json(self.wire.at(Method::GET, &["client", "v3", "account", "whoami"])?).await?;
        let me = answer.get("user_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if me.is_empty() {
            return Err(Trouble::Away("the homeserver does not say whose token it is".to_owned()));
        }
        me.clone_into(&mut lock(&self.me));
        let mut position: Position = match after {
            Some(cursor) => read_as(cursor.clone())?,
            None => Position::of(&self.sync("", Duration::ZERO).await?.next_batch),
        };
        self.rooms.hold(std::mem::take(&mut position.invitations));
        self.reached(position);
        self.begins.store(after.is_none(), Ordering::Relaxed);
        Ok(Known { id: me.clone(), name: me })
    }

    fn welcome(&self, who: &Welcome) {
        let mut known = lock(&self.welcome);
        if *known != *who {
            who.clone_into(&mut known);
            self.welcomed.notify_one();
        }
    }

    async fn receive(&self) -> Result<Batch, Trouble> {
        if self.begins.swap(false, Ordering::Relaxed) {
            return Ok(Batch { heard: vec![], cursor: self.cursor() });
        }
        loop {
            self.follow().await?;
            let at = self.position();
            let answer = tokio::select! {
                biased;
                () = self.welcomed.notified() => continue,
                answer = self.sync(&at.since, HELD) => answer,
            };
            let Read { heard, position } = match answer {
                Ok(answer) => self.read(&at, answer).await?,
                // A place that the homeserver knows no more, as after it was set up anew: from its newest on.
                Err(Trouble::Refused(why)) if !at.since.is_empty() && why.contains(" 400 ") => {
                    self.read(&Position::default(), self.sync("", Duration::ZERO).await?).await?
                }
                Err(trouble) => return Err(trouble),
            };
            self.reached(position);
            if !heard.is_empty() {
                return Ok(Batch { heard, cursor: self.cursor() });
            }
        }
    }

    /// Nothing is to be told: a homeserver gives again whatever lies behind the place that it is asked for.
    async fn acknowledge(&self, _upto: &Value) -> Result<(), Trouble> {
        Ok(())
    }

    async fn send(&self, message: &Message) -> Result<Sent, Trouble> {
        let media =
            match &message.file {
                None => None,
                Some(file) => {
                    // "Content repository": the path of uploads is still the older one.
                    let request = self.wire.at(Method::POST, &["media", "v3", "upload"])?;
                    let request =
                        request.query(&[("filename", &file.name)]).body(file.bytes.clone()).timeout(FILE);
                    let request = request.header(reqwest::header::CONTENT_TYPE, "application/octet-stream");
                    let answer = self.wire.json(request).await?;
                    let url = answer.get("content_uri").and_then(Value::as_str).map(str::to_owned);
                    Some(url.ok_or_else(|| {
                        Trouble::Away("the homeserver names no place for the file".to_owned())
                    })?)
                }
            };
        let sent =
            self.put(&message.chat, &message.key, &outgoing::content(message, media.as_deref())).await?;
        self.signs(&message.chat, message, &sent).await;
        Ok(sent)
    }

    async fn edit(&self, sent: &str, message: &Message) -> Result<(), Trouble> {
        let content = outgoing::replacement(sent, message);
        let mut print = DefaultHasher::new();
        content.to_string().hash(&mut print);
        let key = format!("{}-{:016x}", message.key, print.finish());
        self.put(&message.chat, &key, &content).await.map(drop)
    }

    async fn answer(&self, _press: &Press, _told: &str) -> Result<(), Trouble> {
        Err(Trouble::Refused("Matrix has no answer to a reaction but a message".to_owned()))
    }

    async fn typing(&self, chat: &Chat) -> Result<(), Trouble> {
        let path = ["client", "v3", "rooms", &chat.id, "typing", &self.me()];
        let request =
            self.wire.at(Method::PUT, &path)?.json(&json!({ "typing": true, "timeout": TYPING_MS }));
        self.wire.json(request).await.map(drop)
    }

    async fn fetch(&self, file: &Attached, most: u64) -> Result<Vec<u8>, Trouble> {
        let (server, id) =
            media(&file.place).ok_or_else(|| Trouble::Refused("its place is none of Matrix".to_owned()))?;
        // "Content repository": authenticated since v1.11; a homeserver from before answers with 404.
        let request =
            self.wire.at(Method::GET, &["client", "v1", "media", "download", server, id])?.timeout(FILE);
        match self.wire.bytes(request, most).await {
            Err(Trouble::Refused(why)) if why.contains("M_UNRECOGNIZED") => {
                let older =
                    self.wire.at(Method::GET, &["media", "v3", "download", server, id])?.timeout(FILE);
                self.wire.bytes(older, most).await
            }
            fetched => fetched,
        }
    }
}
