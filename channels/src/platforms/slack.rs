//! Slack: an app that is talked with in direct messages, and in channels where it is mentioned, by Socket Mode.
//!
//! The rules are those of docs.slack.dev: "Using Socket Mode", "Rate limits", Block Kit, and the page of each method.

mod events;
mod links;
mod outward;
mod text;
mod web;

use crate::channel::{
    Attached, Batch, Channel, Chat, Form, Heard, Known, Limits, Message, Press, Sent, Trouble, Unit, Welcome,
    What,
};
use crate::door::Door;
use crate::platforms::calls::{at, body, harmless};
use async_trait::async_trait;
use events::Me;
use links::{Envelope, Links, Told};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use web::{Token, Web};

const OFFICIAL: &str = "https://slack.com";
/// Section block, Fields: a text of at most 3000 characters. chat.update would take 4000, chat.postMessage 40,000.
const TEXT_CHARS: usize = 3_000;
/// A file that a message may carry; Slack itself takes a gigabyte.
const FILE_BYTES: u64 = 50 << 20;
/// Chats whose last message is kept, the latest ones.
const PLACES: usize = 100;
/// Most events of a batch.
const BATCH: usize = 100;
/// conversations.history: at most 999 at once; "no more than 200 results at a time" is recommended.
const PAGE: &str = "200";
const PAGES: usize = 100;
/// Connections in a row that were not alone: those of ours that broke are counted by Slack for a while.
const CROWDED: u32 = 3;
/// Scopes that nothing works without.
const NEEDED: [&str; 2] = ["chat:write", "im:history"];

pub const LIMITS: Limits = Limits {
    text: TEXT_CHARS,
    unit: Unit::Chars,
    form: Form::SlackMrkdwn,
    file_bytes: FILE_BYTES,
    // Rate limits: one message a second and channel.
    ..Limits::USUAL
};

pub struct Slack {
    web: Arc<Web>,
    links: Arc<Links>,
    welcome: Mutex<Welcome>,
    inward: tokio::sync::Mutex<Inward>,
    outstanding: Mutex<Outstanding>,
}

#[derive(Default)]
struct Inward {
    told: Option<mpsc::Receiver<Told>>,
    ended: Option<Trouble>,
    /// Words that were missed, not yet received.
    missed: VecDeque<Heard>,
    cursor: Cursor,
    crowded: u32,
}

/// Envelopes that were received and not acknowledged, each behind its number.
#[derive(Default)]
struct Outstanding {
    last: u64,
    envelopes: VecDeque<(u64, String, mpsc::UnboundedSender<String>)>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Cursor {
    /// The number of the last envelope, of this process.
    #[serde(default)]
    number: u64,
    /// How far each chat was heard; the one heard last at the end.
    #[serde(default)]
    places: VecDeque<Place>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Place {
    chat: Chat,
    /// The timestamp of its last message.
    last: String,
}

impl Cursor {
    fn pass(&mut self, heard: &Heard) {
        let What::Word(word) = &heard.what else { return };
        if word.message.is_empty() {
            return;
        }
        // The message that a thread begins with stands above it.
        let thread = heard.chat.thread.clone().filter(|first| *first != word.message);
        let chat = Chat { thread, ..heard.chat.clone() };
        let at = self.places.iter().position(|place| place.chat == chat);
        let before = at.and_then(|at| self.places.remove(at)).map(|place| place.last).unwrap_or_default();
        let last = if before > word.message { before } else { word.message.clone() };
        self.places.push_back(Place { chat, last });
        if self.places.len() > PLACES {
            self.places.pop_front();
        }
    }
}

impl Slack {
    pub fn new(
        settings: &house::settings::channels::Channel,
        secrets: &dyn Fn(&str) -> Option<String>,
        door: Door,
    ) -> Result<Self, String> {
        let bot = token(secrets, &settings.token_env, "xoxb-", "OAuth & Permissions, Bot User OAuth Token")?;
        let app = token(secrets, &settings.app_token_env, "xapp-", "Basic Information, App-Level Tokens")?;
        let base = if settings.url.is_empty() { OFFICIAL } else { settings.url.trim_end_matches('/') };
        let web = Arc::new(Web::new(door.http().clone(), base, bot, app));
        let links = Arc::new(Links { web: web.clone(), door });
        Ok(Self {
            web,
            links,
            welcome: Mutex::default(),
            inward: tokio::sync::Mutex::default(),
            outstanding: Mutex::default(),
        })
    }

    /// Reads what the known chats have behind their last messages, in order within each.
    async fn missed(&self, cursor: &Cursor, me: &Me) -> Result<VecDeque<Heard>, Trouble> {
        let mut missed = VecDeque::new();
        for place in &cursor.places {
            match self.missed_of(place, me).await {
                Ok(of_place) => missed.extend(of_place),
                // The chat is gone, or the app may not read what it was not mentioned in.
                Err(Trouble::Refused(_)) => {}
                Err(trouble) => return Err(trouble),
            }
        }
        Ok(missed)
    }

    async fn missed_of(&self, place: &Place, me: &Me) -> Result<Vec<Heard>, Trouble> {
        let (mut said, mut next) = (Vec::new(), String::new());
        let thread = place.chat.thread.clone().unwrap_or_default();
        let method = if thread.is_empty() { "conversations.history" } else { "conversations.replies" };
        for _ in 0..PAGES {
            let mut what = vec![
                ("channel", place.chat.id.as_str()),
                ("oldest", &place.last),
                ("limit", PAGE),
                ("cursor", &next),
            ];
            if !thread.is_empty() {
                what.push(("ts", &thread));
            }
            let told = self.web.read(method, &what).await?;
            said.extend(at(&told, "/messages").as_array().cloned().unwrap_or_default());
            let further = at(&told, "/response_metadata/next_cursor").as_str().unwrap_or_default().to_owned();
            if further.is_empty() {
                break;
            }
            next = further;
        }
        let heard =
            said.iter().filter(|said| at(said, "/ts").as_str().is_some_and(|ts| ts > place.last.as_str()));
        let heard = heard.filter_map(|said| events::message(said, me, place.chat.clone()));
        let is_ours = |heard: &Heard| {
            place.chat.is_private || matches!(&heard.what, What::Word(word) if word.is_addressed)
        };
        let mut heard: Vec<Heard> = heard.filter(is_ours).collect();
        heard.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(heard)
    }

    fn is_welcome(&self, heard: &Heard) -> bool {
        let welcome = self.welcome.lock().unwrap_or_else(PoisonError::into_inner);
        welcome.is_open || welcome.owner.as_ref().is_none_or(|owner| *owner == heard.from.id)
    }

    /// Takes an envelope into the batch: it is acknowledged with the number that the cursor gets.
    fn take(&self, envelope: Envelope, cursor: &mut Cursor, batch: &mut Vec<Heard>) {
        if self.is_welcome(&envelope.heard) {
            cursor.pass(&envelope.heard);
        }
        let mut outstanding = self.outstanding.lock().unwrap_or_else(PoisonError::into_inner);
        outstanding.last += 1;
        cursor.number = outstanding.last;
        let number = outstanding.last;
        outstanding.envelopes.push_back((number, envelope.id, envelope.back));
        batch.push(envelope.heard);
    }
}

#[async_trait]
impl Channel for Slack {
    fn limits(&self) -> &Limits {
        &LIMITS
    }

    fn welcome(&self, who: &Welcome) {
        *self.welcome.lock().unwrap_or_else(PoisonError::into_inner) = who.clone();
    }

    async fn connect(&self, after: Option<&Value>) -> Result<Known, Trouble> {
        let mut inward = self.inward.lock().await;
        *inward = Inward { crowded: inward.crowded, ..Inward::default() };
        let told = self.web.ask("auth.test", &[]).await?;
        let text = |key: &str| at(&told, &format!("/{key}")).as_str().unwrap_or_default().to_owned();
        if let Some(scopes) = at(&told, "/scopes").as_str()
            && let Some(scope) =
                NEEDED.iter().find(|needed| !scopes.split(',').any(|scope| scope.trim() == **needed))
        {
            return Err(Trouble::Revoked(format!(
                "Slack: the app lacks the scope {scope}: at api.slack.com/apps open your app, OAuth & Permissions, add it, and \
                 install again"
            )));
        }
        let me = Me { user: text("user_id"), bot: text("bot_id") };
        let cursor: Cursor =
            after.and_then(|after| serde_json::from_value(after.clone()).ok()).unwrap_or_default();
        let (envelopes, connections) = self.links.clone().start(me.clone()).await?;
        // Socket Mode, "Using multiple connections": what is said goes to any one of them.
        inward.crowded = if connections > 1 { inward.crowded + 1 } else { 0 };
        let others =
            format!("{} other connections receive with this Slack app, so words go astray", connections - 1);
        match inward.crowded {
            0 => {}
            CROWDED.. => {
                return Err(Trouble::Elsewhere(format!(
                    "{others}: end the other program, or make it an app of its own"
                )));
            }
            _ => return Err(Trouble::Away(format!("{others}; they may be this channel's of before"))),
        }
        inward.missed = self.missed(&cursor, &me).await?;
        inward.cursor = cursor;
        inward.told = Some(envelopes);
        Ok(Known { id: me.user, name: format!("@{} at {}", text("user"), text("team")) })
    }

    async fn receive(&self) -> Result<Batch, Trouble> {
        let mut inward = self.inward.lock().await;
        let Inward { told, ended, missed, cursor, .. } = &mut *inward;
        let gone = || Trouble::Away("Slack: not connected".to_owned());
        let told = told.as_mut().ok_or_else(gone)?;
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some(heard) = missed.pop_front()
        {
            cursor.pass(&heard);
            batch.push(heard);
        }
        if batch.is_empty() {
            if let Some(trouble) = ended.take() {
                return Err(trouble);
            }
            let envelope = told.recv().await.ok_or_else(gone)??;
            self.take(envelope, cursor, &mut batch);
            while batch.len() < BATCH {
                match told.try_recv() {
                    Ok(Ok(envelope)) => self.take(envelope, cursor, &mut batch),
                    Ok(Err(trouble)) => {
                        *ended = Some(trouble);
                        break;
                    }
                    Err(_) => break,
                }
            }
        }
        Ok(Batch { heard: batch, cursor: serde_json::to_value(&*cursor).unwrap_or_default() })
    }

    async fn acknowledge(&self, upto: &Value) -> Result<(), Trouble> {
        let upto = at(upto, "/number").as_u64().unwrap_or(0);
        let mut outstanding = self.outstanding.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((number, ..)) = outstanding.envelopes.front()
            && *number <= upto
        {
            if let Some((_, id, back)) = outstanding.envelopes.pop_front() {
                // Where its connection is gone, Slack says it again, and it is acknowledged then.
                let _ = back.send(id);
            }
        }
        Ok(())
    }

    async fn send(&self, message: &Message) -> Result<Sent, Trouble> {
        outward::send(&self.web, message).await
    }

    async fn edit(&self, sent: &str, message: &Message) -> Result<(), Trouble> {
        outward::edit(&self.web, sent, message).await
    }

    async fn answer(&self, press: &Press, told: &str) -> Result<(), Trouble> {
        let url = at(&press.reply, "/response_url").as_str().unwrap_or_default();
        let told: String = told.chars().take(TEXT_CHARS / 2).collect();
        let what =
            json!({"response_type": "ephemeral", "replace_original": false, "text": text::escaped(&told)});
        self.web.reply(url, &what).await
    }

    /// assistant.threads.setStatus takes threads alone; elsewhere an app has no such sign.
    async fn typing(&self, chat: &Chat) -> Result<(), Trouble> {
        let Some(thread) = &chat.thread else { return Ok(()) };
        let what = [("channel_id", chat.id.as_str()), ("thread_ts", thread), ("status", "is thinking...")];
        self.web.ask("assistant.threads.setStatus", &what).await.map(|_| ())
    }

    async fn fetch(&self, file: &Attached, most: u64) -> Result<Vec<u8>, Trouble> {
        let answer = self.web.file(at(&file.place, "/url").as_str().unwrap_or_default()).await?;
        let status = answer.status();
        let kind =
            answer.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_page = kind.starts_with("text/html") && at(&file.place, "/mimetype") != "text/html";
        if status.is_server_error() || status.as_u16() == 429 {
            return Err(Trouble::Away(format!("Slack's files: {status}")));
        }
        // Without the scope the page to sign in comes in the file's stead.
        if !status.is_success() || is_page {
            return Err(Trouble::Refused(
                "Slack does not hand that file out: it is gone, or the app lacks the scope files:read"
                    .to_owned(),
            ));
        }
        body(answer, most).await.map_err(harmless)
    }
}

/// A token of this kind, or what is missing and where to find it.
fn token(
    secrets: &dyn Fn(&str) -> Option<String>,
    name: &str,
    kind: &str,
    place: &str,
) -> Result<Token, String> {
    let value = secrets(name).unwrap_or_default().trim().to_owned();
    if value.starts_with(kind) && value.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(Token { value, variable: name.to_owned() });
    }
    let what = if value.is_empty() { "has no token in" } else { "has something else in" };
    Err(format!(
        "channels.slack: .env {what} {name}; at api.slack.com/apps open your app, {place}, and write {name}={kind}... there"
    ))
}
