//! All that a Telegram server knows of a bot: its chats, its queue of updates, its messages and files.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub const BOT: i64 = 4_242_424_242;
pub const NAME: &str = "feral_test_bot";
pub const TOKEN: &str = "4242424242:AAF-a_token_of_tests_and_of_nothing_else";
/// Bot API, "Getting updates": none is kept longer than 24 hours.
const KEPT_S: u64 = 24 * 3_600;
/// Bot API, `File`: a link is valid for at least an hour.
const LINK_S: u64 = 3_600;
/// Bots FAQ, "My bot is hitting limits": bursts are let pass, then one message a second to a chat; twenty a minute to a group.
const BURST: f64 = 20.0;
/// Kinds that come where `allowed_updates` was never said: all but these (`getUpdates`).
const UNASKED: [&str; 3] = ["chat_member", "message_reaction", "message_reaction_count"];

pub struct State {
    pub token: String,
    pub chats: BTreeMap<i64, Chat>,
    pub queue: VecDeque<(i64, u64, Value)>,
    pub next_update: i64,
    pub allowed: Option<Vec<String>>,
    /// The poll that waits: a later one ends it.
    pub poll: u64,
    pub webhook: bool,
    pub next_message: i64,
    /// All messages of all chats.
    pub messages: BTreeMap<(i64, i64), Value>,
    /// What the bot sent, in order.
    pub sent: Vec<Value>,
    /// What else it did: a method and its arguments.
    pub done: Vec<(String, Map<String, Value>)>,
    pub files: BTreeMap<String, Vec<u8>>,
    pub links: BTreeMap<String, (String, u64)>,
    /// Presses that may be answered.
    pub queries: Vec<String>,
    /// Arguments that no method has: a typing error of a client's.
    pub strays: Vec<String>,
    /// Answers that come before any rule: of this method, so many times.
    pub scripted: Vec<(String, u16, Value)>,
    pub is_flood_kept: bool,
    pub shifted: Duration,
    journal: Option<std::fs::File>,
}

pub struct Chat {
    pub kind: String,
    pub title: String,
    pub is_blocked: bool,
    pub moved_to: Option<i64>,
    pub threads: Vec<i64>,
    bucket: f64,
    filled: Option<f64>,
}

impl Chat {
    pub fn new(kind: &str) -> Self {
        let title = format!("a {kind}");
        Self {
            kind: kind.into(),
            title,
            is_blocked: false,
            moved_to: None,
            threads: Vec::new(),
            bucket: BURST,
            filled: None,
        }
    }

    /// Whether one more message may go now; else after so many seconds.
    pub fn pass(&mut self, now: f64) -> Result<(), u64> {
        let a_second = if self.kind == "private" { 1.0 } else { 20.0 / 60.0 };
        let since = now - self.filled.replace(now).unwrap_or(now);
        self.bucket = (self.bucket + since * a_second).min(BURST);
        if self.bucket < 1.0 {
            return Err(((1.0 - self.bucket) / a_second).ceil() as u64);
        }
        self.bucket -= 1.0;
        Ok(())
    }
}

impl State {
    pub fn new(journal: Option<&Path>) -> Self {
        let mut state = Self {
            token: TOKEN.into(),
            chats: BTreeMap::new(),
            queue: VecDeque::new(),
            next_update: 712_000_001,
            allowed: None,
            poll: 0,
            webhook: false,
            next_message: 1,
            messages: BTreeMap::new(),
            sent: Vec::new(),
            done: Vec::new(),
            files: BTreeMap::new(),
            links: BTreeMap::new(),
            queries: Vec::new(),
            strays: Vec::new(),
            scripted: Vec::new(),
            is_flood_kept: true,
            shifted: Duration::ZERO,
            journal: None,
        };
        if let Some(path) = journal {
            for line in std::fs::read_to_string(path).unwrap_or_default().lines() {
                // The last one may be torn.
                let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
                state.apply(&line);
            }
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("a journal");
            state.journal = Some(file);
            // What was torn ends here.
            state.journal.as_mut().map(|file| file.write_all(b"\n"));
        }
        state
    }

    pub fn now(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + self.shifted
    }

    pub fn now_s(&self) -> u64 {
        self.now().as_secs()
    }

    /// Does what a line says, and writes it down where a journal is kept.
    pub fn keep(&mut self, line: Value) {
        self.apply(&line);
        if let Some(file) = &mut self.journal {
            file.write_all(format!("{line}\n").as_bytes()).expect("the journal takes a line");
        }
    }

    fn apply(&mut self, line: &Value) {
        let number = |name: &str| line[name].as_i64().unwrap_or(0);
        match line["kept"].as_str().unwrap_or_default() {
            "update" => {
                self.next_update = number("id") + 1;
                self.queue.push_back((number("id"), number("at") as u64, line["update"].clone()));
            }
            "confirmed" => {
                let from = number("from");
                self.queue.retain(|(id, ..)| *id >= from);
            }
            "message" => {
                let message = line["message"].clone();
                let (chat, id) = (message["chat"]["id"].as_i64().unwrap_or(0), number("id"));
                self.next_message = self.next_message.max(id + 1);
                self.chats
                    .entry(chat)
                    .or_insert_with(|| Chat::new(message["chat"]["type"].as_str().unwrap_or("private")));
                if message["from"]["id"] == json!(BOT) && !self.messages.contains_key(&(chat, id)) {
                    self.sent.push(message.clone());
                }
                self.messages.insert((chat, id), message);
            }
            _ => {}
        }
    }

    /// Queues an update. Update identifiers increase; of those between, others may have been meant for nobody.
    pub fn push(&mut self, kind: &str, what: Value) -> i64 {
        let is_allowed = match &self.allowed {
            Some(kinds) if !kinds.is_empty() => kinds.iter().any(|allowed| allowed == kind),
            _ => !UNASKED.contains(&kind),
        };
        let id = self.next_update + self.next_update % 3;
        if is_allowed {
            let update = json!({ "update_id": id, kind: what });
            self.keep(json!({ "kept": "update", "id": id, "at": self.now_s(), "update": update }));
        }
        id
    }

    /// Forgets what is too old.
    pub fn expire(&mut self) {
        let now = self.now_s();
        self.queue.retain(|(_, at, _)| at + KEPT_S > now);
    }

    /// Forgets what was confirmed by this offset.
    pub fn confirm(&mut self, offset: i64) {
        if self.queue.front().is_some_and(|(id, ..)| *id < offset) {
            self.keep(json!({ "kept": "confirmed", "from": offset }));
        }
    }

    /// A message into a chat; its number there.
    pub fn message(&mut self, chat: i64, from: Value, with: Value) -> Value {
        let id = self.next_message;
        let place = self.chats.entry(chat).or_insert_with(|| Chat::new("private"));
        let mut message = json!({
            "message_id": id, "from": from, "date": 0,
            "chat": { "id": chat, "type": place.kind, "title": place.title },
        });
        message["date"] = json!(self.now_s());
        if let (Value::Object(message), Value::Object(with)) = (&mut message, with) {
            message.extend(with);
        }
        self.keep(json!({ "kept": "message", "id": id, "message": message }));
        message
    }

    /// A file of these bytes, by its id.
    pub fn file(&mut self, bytes: Vec<u8>) -> String {
        let id = format!("file{}", self.files.len() + 1);
        self.files.insert(id.clone(), bytes);
        id
    }

    pub fn link(&mut self, file: &str) -> String {
        let path = format!("documents/{file}_{}.bin", self.links.len());
        self.links.insert(path.clone(), (file.to_owned(), self.now_s() + LINK_S));
        path
    }
}
