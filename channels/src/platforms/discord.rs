//! Discord: a bot that is talked with in direct messages, and in channels of a server where it is mentioned.
//!
//! The rules are those of docs.discord.com, "Gateway", "Opcodes and Status Codes", "Rate Limits", "Message", "Receiving and
//! Responding". Invariant: the cursor goes behind an event only together with it, so what was not kept comes again.

mod events;
mod gateway;
mod link;
mod rest;

use crate::channel::{
    Attached, Batch, Button, Channel, Chat, Form, Known, Limits, Message, Press, Sent, Trouble, Unit, Welcome,
};
use crate::door::Door;
use crate::platforms::calls::{at, body, harmless, put};
use async_trait::async_trait;
use gateway::{Gateway, Told};
use link::Plan;
use reqwest::Method;
use rest::{Body, Rest, Route};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

const OFFICIAL: &str = "https://discord.com";
/// Gateway, List of Intents: GUILD_MESSAGES and DIRECT_MESSAGES. Not MESSAGE_CONTENT: direct messages and those in which the
/// bot is mentioned have their content without it (Message Content Intent), and nothing else is heard.
const GUILD_MESSAGES: u64 = 1 << 9;
const DIRECT_MESSAGES: u64 = 1 << 12;
/// Message resource, Create Message: content up to 2000 characters; a nonce of up to 25.
const TEXT_CHARS: usize = 2_000;
const NONCE_CHARS: usize = 25;
/// Create Message, `enforce_nonce`: a nonce is "checked for uniqueness in the past few minutes", and a second message with it
/// is not created.
const NONCE_COUNTS: Duration = Duration::from_secs(120);
/// Reference, Uploading Files.
const FILE_BYTES: u64 = 10 << 20;
/// Component Reference: five rows of five buttons, custom_id 1-100 characters, label at most 80.
const ROW: usize = 5;
/// Message resource, Message Flags: SUPPRESS_EMBEDS, for an embed is fetched from wherever a link leads; EPHEMERAL.
const NO_EMBEDS: u64 = 1 << 2;
const FOR_ONE: u64 = 1 << 6;
/// Most events of a batch.
const BATCH: usize = 100;

pub const LIMITS: Limits = Limits {
    text: TEXT_CHARS,
    // Never less than the characters that Discord counts.
    unit: Unit::Utf16,
    form: Form::DiscordMarkdown,
    file_bytes: FILE_BYTES,
    keys: Some(NONCE_COUNTS),
    ..Limits::USUAL
};

pub struct Discord {
    rest: Arc<Rest>,
    gateway: Arc<Gateway>,
    welcome: watch::Sender<Welcome>,
    inward: tokio::sync::Mutex<Inward>,
}

#[derive(Default)]
struct Inward {
    told: Option<mpsc::Receiver<Told>>,
    ended: Option<Trouble>,
}

impl Discord {
    pub fn new(
        settings: &house::settings::channels::Channel,
        secrets: &dyn Fn(&str) -> Option<String>,
        door: Door,
    ) -> Result<Self, String> {
        let name = &settings.token_env;
        let token = secrets(name).unwrap_or_default();
        let token = token.trim().trim_start_matches("Bot ").to_owned();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!(
                "channels.discord: .env has no token in {name}; at discord.com/developers/applications open your app, Bot, \
                 Reset Token, and write {name}=TOKEN there"
            ));
        }
        let base = if settings.url.is_empty() { OFFICIAL } else { settings.url.trim_end_matches('/') };
        let rest = Arc::new(Rest::new(door.http().clone(), base, token.clone(), name));
        let of_groups = if settings.groups.is_empty() { 0 } else { GUILD_MESSAGES };
        let plan =
            Plan { door, token, intents: DIRECT_MESSAGES | of_groups, is_plain: base.starts_with("http://") };
        let (welcome, welcomed) = watch::channel(Welcome::default());
        let groups = settings.groups.clone();
        let gateway = Arc::new(Gateway { rest: rest.clone(), plan, groups, welcome: welcomed });
        Ok(Self { rest, gateway, welcome, inward: tokio::sync::Mutex::default() })
    }

    async fn post(&self, name: &str, major: &str, path: String, what: Body) -> Result<Value, Trouble> {
        self.rest.call(Route { method: Method::POST, name, major, path }, what).await
    }

    /// Reads a file where its message says by now that it lies: addresses of files expire (Reference, Signed Attachment CDN
    /// URLs).
    async fn again(&self, place: &Value) -> Result<String, Trouble> {
        let text = |key: &str| at(place, &format!("/{key}")).as_str().unwrap_or_default();
        let (channel, message) = (text("channel"), text("message"));
        let path = format!("/channels/{channel}/messages/{message}");
        let told = self.rest.get("/channels/messages/one", channel, &path).await?;
        let files = at(&told, "/attachments").as_array().map_or(&[][..], Vec::as_slice);
        let file = files.iter().find(|file| at(file, "/id") == at(place, "/id"));
        let url = file.and_then(|file| at(file, "/url").as_str());
        url.map(str::to_owned).ok_or_else(|| Trouble::Refused("that file is gone from Discord".to_owned()))
    }
}

#[async_trait]
impl Channel for Discord {
    fn limits(&self) -> &Limits {
        &LIMITS
    }

    fn welcome(&self, who: &Welcome) {
        self.welcome.send_replace(who.clone());
    }

    async fn connect(&self, after: Option<&Value>) -> Result<Known, Trouble> {
        let mut inward = self.inward.lock().await;
        *inward = Inward::default();
        self.rest.try_again();
        let me = self.rest.get("/users/@me", "", "/users/@me").await?;
        let (id, name) =
            (at(&me, "/id").as_str().unwrap_or_default(), at(&me, "/username").as_str().unwrap_or_default());
        let cursor = after.and_then(|after| serde_json::from_value(after.clone()).ok()).unwrap_or_default();
        inward.told = Some(self.gateway.clone().start(id.to_owned(), cursor).await?);
        Ok(Known { id: id.to_owned(), name: format!("@{name}") })
    }

    async fn receive(&self) -> Result<Batch, Trouble> {
        let mut inward = self.inward.lock().await;
        let Inward { told, ended } = &mut *inward;
        let gone = || Trouble::Away("Discord: not connected".to_owned());
        if let Some(trouble) = ended.take() {
            return Err(trouble);
        }
        let told = told.as_mut().ok_or_else(gone)?;
        let (heard, mut cursor) = told.recv().await.ok_or_else(gone)??;
        let mut batch = vec![heard];
        while batch.len() < BATCH {
            match told.try_recv() {
                Ok(Ok((heard, behind))) => {
                    batch.push(heard);
                    cursor = behind;
                }
                Ok(Err(trouble)) => {
                    *ended = Some(trouble);
                    break;
                }
                Err(_) => break,
            }
        }
        Ok(Batch { heard: batch, cursor: serde_json::to_value(cursor).unwrap_or_default() })
    }

    /// Discord has nothing to be told: what is not behind the cursor comes again by `connect`.
    async fn acknowledge(&self, _upto: &Value) -> Result<(), Trouble> {
        Ok(())
    }

    async fn send(&self, message: &Message) -> Result<Sent, Trouble> {
        let chat = message.chat.id.as_str();
        let what = whole(message);
        let what = match &message.file {
            None => Body::Json(what),
            Some(file) => Body::File(what, file.name.clone(), file.bytes.clone()),
        };
        let told = self.post("/channels/messages", chat, format!("/channels/{chat}/messages"), what).await?;
        Ok(Sent { message: at(&told, "/id").as_str().unwrap_or_default().to_owned() })
    }

    async fn edit(&self, sent: &str, message: &Message) -> Result<(), Trouble> {
        let chat = message.chat.id.as_str();
        let path = format!("/channels/{chat}/messages/{sent}");
        let route = Route { method: Method::PATCH, name: "/channels/messages/one", major: chat, path };
        let what = json!({
            "content": message.text, "components": rows(&message.buttons),
            "allowed_mentions": {"parse": []}, "flags": NO_EMBEDS,
        });
        self.rest.call(route, Body::Json(what)).await.map(|_| ()).map_err(harmless)
    }

    async fn answer(&self, press: &Press, told: &str) -> Result<(), Trouble> {
        let text = |key: &str| at(&press.reply, &format!("/{key}")).as_str().unwrap_or_default();
        let (application, token) = (text("application"), text("token"));
        let told: String = told.chars().take(TEXT_CHARS / 2).collect();
        let what = json!({"content": told, "flags": FOR_ONE | NO_EMBEDS, "allowed_mentions": {"parse": []}});
        let path = format!("/webhooks/{application}/{token}");
        self.post("/webhooks", token, path, Body::Json(what)).await.map(|_| ())
    }

    async fn typing(&self, chat: &Chat) -> Result<(), Trouble> {
        let path = format!("/channels/{}/typing", chat.id);
        self.post("/channels/typing", &chat.id, path, Body::None).await.map(|_| ()).map_err(harmless)
    }

    async fn fetch(&self, file: &Attached, most: u64) -> Result<Vec<u8>, Trouble> {
        let mut url = at(&file.place, "/url").as_str().unwrap_or_default().to_owned();
        for is_last in [false, true] {
            if !self.rest.has_files(&url) {
                return Err(Trouble::Refused("that file does not lie at Discord".to_owned()));
            }
            let answer = self.rest.file(&url).await?;
            let status = answer.status();
            if status.is_success() {
                return body(answer, most).await.map_err(harmless);
            }
            if status.is_server_error() || status.as_u16() == 429 {
                return Err(Trouble::Away(format!("Discord's files: {status}")));
            }
            if is_last {
                break;
            }
            url = self.again(&file.place).await?;
        }
        Err(Trouble::Refused("that file is gone from Discord".to_owned()))
    }
}

/// A message as Create Message takes it.
fn whole(message: &Message) -> Value {
    let nonce: String = message.key.chars().take(NONCE_CHARS).collect();
    let mut what = json!({
        "content": message.text,
        "nonce": nonce,
        "enforce_nonce": true,
        "allowed_mentions": {"parse": []},
        "flags": NO_EMBEDS,
        "components": rows(&message.buttons),
    });
    if let Some(file) = &message.file {
        put(&mut what, "attachments", json!([{"id": 0, "filename": file.name}]));
    }
    what
}

fn rows(buttons: &[Button]) -> Value {
    let button =
        |button: &Button| json!({"type": 2, "style": 2, "label": button.label, "custom_id": button.data});
    let row = |row: &[Button]| json!({"type": 1, "components": row.iter().map(button).collect::<Vec<_>>()});
    buttons.chunks(ROW).map(row).collect()
}
