//! A Slack server on loopback that holds to docs.slack.dev: Socket Mode here, the Web API beside; each rule names its page.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod blocks;
pub mod socket;
mod web;

use super::listening;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

pub const BOT_TOKEN: &str = "xoxb-1-2-secret";
pub const APP_TOKEN: &str = "xapp-1-A1-secret";
pub const BOT: &str = "U0BOT";
pub const BOT_ID: &str = "B0BOT";
pub const OWNER: &str = "U0OWNER";
/// The chat of the owner and the app; a channel it is in.
pub const DM: &str = "D0DIRECT";
pub const CHANNEL: &str = "C0GENERAL";

/// A misfortune of the next call of a method.
#[derive(Clone, Debug)]
pub enum Fault {
    Status(u16),
    /// 429 with `Retry-After`.
    Limited(u64),
    /// `ok: false` with this error, and what else stands beside it.
    Error(Value),
    /// It happens, and the connection ends without an answer.
    Forgets,
}

pub struct State {
    pub base: String,
    pub socket_url: String,
    pub bot_token: String,
    pub app_token: String,
    pub scopes: Vec<&'static str>,
    pub messages: BTreeMap<String, Vec<Value>>,
    pub faults: VecDeque<(String, Fault)>,
    pub requests: Vec<(String, Value)>,
    pub broken: Vec<String>,
    pub next: u64,
    /// Addresses of connections that were given and not used.
    pub tickets: Vec<String>,
    pub lines: Vec<mpsc::UnboundedSender<socket::Step>>,
    pub connections_ever: u64,
    /// Connections of another program with the same app.
    pub others: u64,
    /// Envelopes that wait for their acknowledgement.
    pub waiting: HashMap<String, socket::Delivery>,
    pub acknowledged: Vec<String>,
    /// Events API, "Retries": at once after `patience`, then after a minute and after five.
    pub patience: Duration,
    pub minute: Duration,
    pub turn: usize,
    pub posted: HashMap<String, (Instant, u32)>,
    pub files: HashMap<String, (String, Vec<u8>)>,
    pub replies: Vec<Value>,
    /// Whether a message may come, by its text.
    pub may_come: Option<listening::MayCome>,
}

pub struct Server {
    pub state: Arc<Mutex<State>>,
    changed: Arc<watch::Sender<u64>>,
}

impl Server {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let state = State {
            base: format!("http://{at}"),
            socket_url: format!("ws://{at}"),
            bot_token: BOT_TOKEN.into(),
            app_token: APP_TOKEN.into(),
            scopes: web::SCOPES.to_vec(),
            messages: BTreeMap::from([(DM.to_owned(), vec![]), (CHANNEL.to_owned(), vec![])]),
            faults: VecDeque::new(),
            requests: vec![],
            broken: vec![],
            next: 0,
            tickets: vec![],
            lines: vec![],
            connections_ever: 0,
            others: 0,
            waiting: HashMap::new(),
            acknowledged: vec![],
            patience: Duration::from_secs(3),
            minute: Duration::from_secs(60),
            turn: 0,
            posted: HashMap::new(),
            files: HashMap::new(),
            replies: vec![],
            may_come: None,
        };
        let (state, changed) = (Arc::new(Mutex::new(state)), Arc::new(watch::channel(0).0));
        let server = Self { state: state.clone(), changed: changed.clone() };
        let (of, news) = (state.clone(), changed.clone());
        let opened = move |stream| socket::connection(stream, of.clone(), news.clone());
        listening::serve(listener, changed, move |parts, body| web::answer(&state, parts, body), opened);
        server
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn fail(&self, method: &str, fault: Fault) {
        self.state().faults.push_back((method.to_owned(), fault));
    }

    /// Lets somebody write into a chat; returns the message.
    pub fn say(&self, chat: &str, user: &str, text: &str) -> Value {
        self.say_with(chat, user, text, json!({}))
    }

    pub fn say_with(&self, chat: &str, user: &str, text: &str, more: Value) -> Value {
        let message = self.state().written(chat, user, text, more);
        let mut event = message.clone();
        event["channel"] = chat.into();
        event["event_ts"] = message["ts"].clone();
        if chat == DM {
            event["channel_type"] = "im".into();
            self.event(event);
        } else if text.contains(&format!("<@{BOT}>")) {
            // Event app_mention: only messages that mention the app, in channels it is in.
            event["type"] = "app_mention".into();
            self.event(event);
        }
        message
    }

    /// Sends an event of the Events API.
    pub fn event(&self, event: Value) {
        let payload = json!({
            "type": "event_callback", "team_id": "T1", "api_app_id": "A1", "event_id": self.state().id("Ev"), "event": event,
        });
        self.deliver("events_api", payload);
    }

    pub fn deliver(&self, kind: &str, payload: Value) {
        let delivery = socket::Delivery { kind: kind.to_owned(), payload, attempt: 0 };
        socket::deliver(&self.state, delivery);
        self.changed.send_modify(|version| *version += 1);
    }

    /// Lets somebody press a button of a message of the app's.
    pub fn press(&self, user: &str, message: &str, value: &str) {
        let base = self.state().base.clone();
        let when = self.state().ts();
        let payload = json!({
            "type": "block_actions", "user": {"id": user, "username": "somebody"}, "trigger_id": "1.2.3",
            "channel": {"id": DM, "name": "directmessage"}, "message": {"ts": message},
            "response_url": format!("{base}/actions/T1/{when}"),
            "actions": [{"type": "button", "action_id": "button-0", "value": value, "action_ts": when}],
        });
        self.deliver("interactive", payload);
    }

    /// Lets the connections that are open meet this.
    pub fn meet(&self, step: &socket::Step) {
        for line in &self.state().lines {
            let _ = line.send(step.clone());
        }
    }

    pub async fn until(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        let mut changed = self.changed.subscribe();
        let waited = tokio::time::timeout(Duration::from_secs(20), async {
            while !is_so(&self.state()) {
                let _ = tokio::time::timeout(Duration::from_millis(50), changed.changed()).await;
            }
        });
        waited.await.unwrap_or_else(|_| panic!("never: {what}"));
    }

    pub fn assert_kept(&self) {
        assert_eq!(self.state().broken, Vec::<String>::new(), "rules that were broken");
    }
}

impl State {
    pub fn id(&mut self, kind: &str) -> String {
        self.next += 1;
        format!("{kind}{:08}", self.next)
    }

    /// A timestamp, greater than all before.
    pub fn ts(&mut self) -> String {
        self.next += 1;
        let ms = house::clock::wall_ms();
        format!("{}.{:06}", ms / 1_000, self.next % 1_000_000)
    }

    pub fn written(&mut self, chat: &str, user: &str, text: &str, more: Value) -> Value {
        let mut message = json!({"type": "message", "user": user, "text": text, "ts": self.ts()});
        for (key, value) in more.as_object().unwrap() {
            message[key] = value.clone();
        }
        self.messages.entry(chat.to_owned()).or_default().push(message.clone());
        message
    }

    pub fn count(&self, method: &str) -> usize {
        self.requests.iter().filter(|(asked, _)| asked == method).count()
    }
}
