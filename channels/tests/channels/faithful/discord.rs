//! A Discord server on loopback that holds to docs.discord.com: HTTP API and files here, its gateway beside; each rule names its section.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

pub mod gateway;
mod rest;

use super::listening;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::watch;

pub const TOKEN: &str = "MTAwMA.Gabcde.secret-of-the-bot";
pub const BOT: &str = "1000";
pub const OWNER: &str = "2000";
pub const STRANGER: &str = "3000";
/// The chat of the owner and the bot; of a stranger and it; a channel of a server.
pub const DM: &str = "9000";
pub const STRANGERS: &str = "9001";
pub const CHANNEL: &str = "9500";
const GUILD: &str = "8000";
/// Reference, Snowflakes: the id of something made now.
const EPOCH_MS: u64 = 1_420_070_400_000;

/// A misfortune of the next request that this part of a path fits.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    Status(u16),
    /// 429 for this many seconds; of all routes.
    Limited(f64, bool),
    /// An error code of its own, with its status.
    Code(u16, u64),
    /// It happens, and the connection ends without an answer.
    Forgets,
    /// The connection ends, and nothing happened.
    Drops,
}

#[derive(Default)]
pub struct State {
    pub token: String,
    /// Messages of each chat, the oldest first.
    pub messages: BTreeMap<String, Vec<Value>>,
    pub sessions: HashMap<String, gateway::Session>,
    pub next: u64,
    pub faults: VecDeque<(String, Fault)>,
    /// Each request: method, path, the JSON of its body.
    pub requests: Vec<(String, String, Value)>,
    /// Files by path, their bytes and whether their address still counts.
    pub files: HashMap<String, (Vec<u8>, bool)>,
    /// Rules that were broken.
    pub broken: Vec<String>,
    /// Interactions by token: when, and whether they were answered.
    pub interactions: HashMap<String, (Instant, bool)>,
    /// What presses were answered with.
    pub answered: Vec<Value>,
    pub nonces: HashMap<String, String>,
    pub buckets: HashMap<String, (Instant, u32)>,
    /// Messages to one chat within `window`.
    pub limit: u32,
    pub window: Duration,
    pub starts_left: u64,
    /// Whether a message may come, by its text.
    pub may_come: Option<listening::MayCome>,
    pub gateway: gateway::Manners,
}

pub struct Server {
    pub base: String,
    pub state: Arc<Mutex<State>>,
    changed: Arc<watch::Sender<u64>>,
}

impl Server {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let base = format!("http://{at}");
        let state = State {
            token: TOKEN.into(),
            limit: 1_000,
            window: Duration::from_secs(5),
            starts_left: 1_000,
            gateway: gateway::Manners::at(&format!("ws://{at}")),
            ..State::default()
        };
        let (state, changed) = (Arc::new(Mutex::new(state)), Arc::new(watch::channel(0).0));
        let server = Self { base: base.clone(), state: state.clone(), changed: changed.clone() };
        let (of, news) = (state.clone(), changed.clone());
        let opened = move |stream| gateway::connection(stream, of.clone(), news.clone());
        listening::serve(
            listener,
            changed,
            move |parts, body| rest::answer(&state, &base, parts, body),
            opened,
        );
        server
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the next request whose `METHOD path` holds this meet a misfortune.
    pub fn fail(&self, part: &str, fault: Fault) {
        self.state().faults.push_back((part.to_owned(), fault));
    }

    fn tell(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    /// Lets somebody say something; returns the message.
    pub fn say(&self, chat: &str, author: &str, content: &str) -> Value {
        self.say_with(chat, author, content, json!({}))
    }

    /// The same with more of a message's fields.
    pub fn say_with(&self, chat: &str, author: &str, content: &str, more: Value) -> Value {
        let message = self.state().written(chat, author, content, more);
        self.state().dispatch("MESSAGE_CREATE", message.clone());
        self.tell();
        message
    }

    /// Sends an event to all sessions.
    pub fn dispatch(&self, kind: &str, what: Value) {
        self.state().dispatch(kind, what);
        self.tell();
    }

    /// Lets somebody press a button of a message.
    pub fn press(&self, chat: &str, who: &str, message: &str, data: &str) -> String {
        let mut state = self.state();
        let (id, token) = (state.id(), format!("interaction-{}", state.next));
        state.interactions.insert(token.clone(), (Instant::now(), false));
        let what = json!({
            "id": id, "application_id": BOT, "type": 3, "token": token, "version": 1, "channel_id": chat, "context": 1,
            "user": person(who), "message": {"id": message, "channel_id": chat},
            "data": {"component_type": 2, "custom_id": data},
        });
        state.dispatch("INTERACTION_CREATE", what);
        drop(state);
        self.tell();
        id
    }

    /// Waits until the state is so.
    pub async fn until(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        let mut changed = self.changed.subscribe();
        let waited = tokio::time::timeout(Duration::from_secs(20), async {
            while !is_so(&self.state()) {
                let _ = tokio::time::timeout(Duration::from_millis(50), changed.changed()).await;
            }
        });
        waited.await.unwrap_or_else(|_| panic!("never: {what}"));
    }

    /// Fails where a published rule was broken.
    pub fn assert_kept(&self) {
        assert_eq!(self.state().broken, Vec::<String>::new(), "rules that were broken");
    }
}

pub fn person(id: &str) -> Value {
    json!({"id": id, "username": format!("user{id}"), "global_name": null, "bot": id == BOT})
}

impl State {
    /// An id, greater than all before.
    pub fn id(&mut self) -> String {
        self.next += 1;
        (((house::clock::wall_ms() - EPOCH_MS) << 22) + self.next).to_string()
    }

    /// Puts a message into a chat.
    pub fn written(&mut self, chat: &str, author: &str, content: &str, more: Value) -> Value {
        let id = self.id();
        let mut message = json!({
            "id": id, "channel_id": chat, "author": person(author), "content": content, "type": 0,
            "timestamp": "2026-01-01T00:00:00.000000+00:00", "edited_timestamp": null, "mentions": [], "attachments": [],
            "embeds": [], "components": [], "pinned": false, "tts": false,
        });
        for (key, value) in more.as_object().unwrap() {
            message[key] = value.clone();
        }
        self.messages.entry(chat.to_owned()).or_default().push(message.clone());
        // Gateway Events, Message Create: extra fields, which Get Channel Messages does not have.
        if chat == CHANNEL {
            message["guild_id"] = GUILD.into();
        } else {
            message["channel_type"] = 1.into();
        }
        message
    }

    /// Gateway Intents: each session gets what it asked for.
    pub fn dispatch(&mut self, kind: &str, what: Value) {
        for session in self.sessions.values_mut() {
            session.dispatch(kind, &what);
        }
    }

    pub fn count(&self, part: &str) -> usize {
        self.requests.iter().filter(|(method, path, _)| format!("{method} {path}").contains(part)).count()
    }
}
