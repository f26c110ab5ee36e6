//! A throwaway house, the creature living in it as a process, and a scripted model behind a stand-in for the broker.

use crate::broker::{self, Answer, Asked, StandIn};
use memory::Record;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// How often an event is looked for before a test gives it up: looks, not seconds, for a machine may stand still.
const LOOKS: u32 = 24_000;

/// The creature; known to the tests of its own package only, the others start none.
const BINARY: &str = match option_env!("CARGO_BIN_EXE_creature") {
    Some(path) => path,
    None => "",
};

/// Polls until there is a result.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    looked_for(&mut look).unwrap_or_else(|| panic!("{what}: was not so in {LOOKS} looks"))
}

fn looked_for<T>(look: &mut impl FnMut() -> Option<T>) -> Option<T> {
    (0..LOOKS).find_map(|_| {
        look().or_else(|| {
            std::thread::sleep(Duration::from_millis(10));
            None
        })
    })
}

pub struct TempHouse {
    dir: TempDir,
    /// Address of the broker its creature is told of.
    pub broker: Option<String>,
}

impl TempHouse {
    /// A house with a purpose, no broker, rests of 1 to 300 s, and calls that travel in a JSON thought: scripts speak so.
    pub fn new() -> Self {
        Self::within(TempDir::new().unwrap())
    }

    /// The same in memory where there is such a folder: a week syncs ten thousand times.
    pub fn in_memory() -> Self {
        Self::within(TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap())
    }

    fn within(dir: TempDir) -> Self {
        let house = Self { dir, broker: None };
        house.write("PURPOSE.md", "# Purpose\n\nBe curious about small things.\n");
        house.owner("[model]\ntools = \"json\"\n[rest]\nshortest_s = 1\n");
        std::fs::create_dir_all(house.path("self")).unwrap();
        house
    }

    /// A house whose creature thinks with a scripted model in the given wire.
    pub fn with_model(provider: &str, script: &Script, longest_s: u64) -> Self {
        script.offer(broker::offer(provider));
        let house = Self { broker: Some(script.broker.base()), ..Self::new() };
        house.owner(&format!(
            "[model]\ndeadline_s = 20\ntools = \"json\"\n[rest]\nshortest_s = 1\nlongest_s = {longest_s}\n"
        ));
        house
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    pub fn write(&self, relative: &str, text: impl AsRef<[u8]>) {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes the owner's settings, and hands them over as the guardian does.
    pub fn owner(&self, toml: &str) {
        let settings: Value = toml::from_str(toml).unwrap();
        self.write("owner.toml", toml);
        self.write(".self/settings.json", json!({"life": 1, "told": [], "settings": settings}).to_string());
    }

    pub fn say(&self, line: &str) {
        self.add(".self/inbox.jsonl", &format!("{line}\n"));
    }

    pub fn add(&self, relative: &str, text: &str) {
        use std::io::Write;
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    pub fn records(&self) -> Vec<Record> {
        self.last_records(1_000)
    }

    pub fn last_records(&self, most: usize) -> Vec<Record> {
        memory::tail(&self.path(".self/memory.jsonl"), most, 256 << 20).unwrap().records
    }

    /// The newest lines of the bookkeeping.
    pub fn booked(&self) -> Vec<Record> {
        let read = |name: &str| {
            memory::tail(&self.path(&format!(".self/mind/{name}")), 100_000, 64 << 20).unwrap().records
        };
        [read("bookkeeping.before.jsonl"), read("bookkeeping.jsonl")].concat()
    }

    /// Memory and bookkeeping together, by time.
    pub fn all_records(&self) -> Vec<Record> {
        let mut all = [self.booked(), self.last_records(200_000)].concat();
        all.sort_by(|one, other| one.at.cmp(&other.at));
        all
    }

    /// Waits for a record of this kind, of memory or bookkeeping, that satisfies `wanted`.
    pub fn record(&self, kind: &str, wanted: impl Fn(&Value) -> bool) -> Record {
        let mut look = || self.all_records().into_iter().find(|r| r.kind == kind && wanted(&r.data));
        looked_for(&mut look).unwrap_or_else(|| {
            panic!("no such {kind} in {LOOKS} looks; log:\n{}\nrecords: {:#?}", self.log(), self.records())
        })
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    pub fn command(&self, life: u64) -> Command {
        let log = std::fs::OpenOptions::new().append(true).create(true).open(self.path("log")).unwrap();
        let mut command = Command::new(BINARY);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.dir.path())
            .env("FERAL_HOUSE", self.dir.path())
            .env("FERAL_LIFE", life.to_string())
            .env("FERAL_COMMIT", "0123456789abcdef0123456789abcdef01234567")
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        if let Some(base) = &self.broker {
            command.env("FERAL_BROKER", base).env("FERAL_BROKER_TOKEN", broker::TOKEN);
            command.env("CARGO_HTTP_PROXY", base.replace("://", &format!("://life:{}@", broker::TOKEN)));
        }
        command
    }

    pub fn live(&self, life: u64) -> Living {
        Living { child: self.command(life).spawn().unwrap() }
    }
}

/// A creature as a process; ended when dropped.
pub struct Living {
    pub child: Child,
}

impl Living {
    /// Asks it to leave; how it ended.
    pub fn leave(mut self) -> ExitStatus {
        kill(self.pid(), Signal::SIGTERM).unwrap();
        wait_for("the end of the creature", || self.child.try_wait().unwrap())
    }

    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap())
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the scripted model answers next.
#[derive(Clone)]
pub enum Line {
    /// A thought, in the wire's own envelope.
    Says(String),
    /// An error of this status.
    Fails(u16),
    /// A refusal of the broker's own: status, type, seconds to wait.
    Refuses(u16, &'static str, Option<u64>),
    /// Nothing for a long time.
    Hangs,
}

/// A model behind the broker, in both wires; the last line is repeated.
pub struct Script {
    pub broker: StandIn,
    pub asked: Arc<Mutex<Vec<Value>>>,
    offered: Arc<Mutex<Value>>,
}

impl Script {
    pub fn new(lines: Vec<Line>) -> Self {
        let mut at = 0;
        Self::sighted(move |_| {
            at += 1;
            lines[(at - 1).min(lines.len() - 1)].clone()
        })
    }

    /// A model whose next step depends on what stood in the request.
    pub fn sighted(mut decide: impl FnMut(&Shown) -> Line + Send + 'static) -> Self {
        let (asked, offered) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Value::Null)));
        let (noting, offering) = (Arc::clone(&asked), Arc::clone(&offered));
        let broker = StandIn::new(move |request: &Asked| {
            let anthropic = match request.path.as_str() {
                "/status" => return broker::status(offering.lock().unwrap().clone(), &[]),
                "/llm/anthropic/v1/messages" => true,
                "/llm/openai/v1/chat/completions" => false,
                _ => return broker::refusal(404, "not_found", None),
            };
            noting.lock().unwrap().push(request.body.clone());
            match decide(&Shown::of(&request.body)) {
                Line::Hangs => Answer::Hangs,
                Line::Fails(status) => broker::answer(status, &json!({"error": {"message": "no"}})),
                Line::Refuses(status, kind, wait_s) => broker::refusal(status, kind, wait_s),
                Line::Says(text) if anthropic => broker::answer(200, &in_messages(&text)),
                Line::Says(text) => broker::answer(200, &in_chat(&text)),
            }
        });
        Self { broker, asked, offered }
    }

    /// What the broker's status says of models from now on.
    pub fn offer(&self, model: Value) {
        *self.offered.lock().unwrap() = model;
    }

    /// Waits for the request with this index.
    pub fn request(&self, index: usize) -> Value {
        wait_for("a request to the model", || self.asked.lock().unwrap().get(index).cloned())
    }

    /// The text put to the model with this request, its whole conversation, without the system prompt.
    pub fn situation(&self, index: usize) -> String {
        messages(&self.request(index)).iter().map(Value::to_string).collect()
    }

    /// What this request has beyond the longest one before it that it goes on from; all of it where it begins anew.
    pub fn news(&self, index: usize) -> String {
        let mine = messages(&self.request(index));
        let all = self.asked.lock().unwrap().clone();
        let before = all[..index].iter().map(messages).filter(|before| mine.starts_with(before));
        let known = before.map(|before| before.len()).max().unwrap_or(0);
        mine[known..].iter().filter(|one| one["role"] != "assistant").map(Value::to_string).collect()
    }
}

/// What a model has before it: the whole conversation, and what was said since it spoke last.
pub struct Shown {
    pub all: String,
    pub new: String,
}

impl std::ops::Deref for Shown {
    type Target = str;

    fn deref(&self) -> &str {
        &self.all
    }
}

impl Shown {
    fn of(body: &Value) -> Self {
        let messages = messages(body);
        let spoke = messages.iter().rposition(|one| one["role"] == "assistant").map_or(0, |at| at + 1);
        Self { all: all_said(body), new: messages[spoke..].iter().map(all_said).collect() }
    }
}

fn messages(body: &Value) -> Vec<Value> {
    let all = body["messages"].as_array().cloned().unwrap_or_default();
    all.into_iter().filter(|one| one["role"] != "system").collect()
}

/// All text of a request, in either wire.
fn all_said(body: &Value) -> String {
    match body {
        Value::String(text) => format!("{text}\n"),
        Value::Array(parts) => parts.iter().map(all_said).collect(),
        Value::Object(fields) => fields.values().map(all_said).collect(),
        _ => String::new(),
    }
}

fn in_messages(text: &str) -> Value {
    json!({
        "model": "scripted", "stop_reason": "end_turn", "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 5},
    })
}

pub fn in_chat(text: &str) -> Value {
    json!({
        "model": "scripted",
        "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 16, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 5}},
    })
}

/// A thought as a model would say it.
pub fn thought(intent: &str, calls: Value, sleep_s: u64) -> Line {
    let thought = json!({"monologue": "I think.", "intent": intent, "tool_calls": calls, "sleep_s": sleep_s});
    Line::Says(thought.to_string())
}
