//! A house whose broker has keys and money, the real binary, and requests of both wires to it.

use broker::ledger::chain::{self, End};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub const LIFE: &str = "1111111111111111111111111111111111111111111111111111111111111111";
pub const ANTHROPIC_KEY: &str = "sk-ant-test-0123456789abcdef";
pub const OPENAI_KEY: &str = "sk-oai-test-fedcba9876543210";

pub struct Paid {
    pub folder: tempfile::TempDir,
    pub at: SocketAddr,
    pub child: Child,
    pub client: reqwest::Client,
    upstream: String,
}

pub fn house(settings: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join(".self/broker")).unwrap();
    let tokens = json!({"life": {"number": 7, "token": LIFE}, "build": {"token": "2".repeat(64)}});
    std::fs::write(folder.path().join(".self/broker/tokens.json"), tokens.to_string()).unwrap();
    std::fs::write(folder.path().join("owner.toml"), settings).unwrap();
    folder
}

impl Paid {
    pub fn start(settings: &str, upstream: &str) -> Self {
        Self::start_in(house(settings), upstream)
    }

    pub fn start_in(folder: tempfile::TempDir, upstream: &str) -> Self {
        let (child, at) = spawn(folder.path(), upstream);
        // As rustls would otherwise ask which of its providers is meant.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { folder, at, child, client, upstream: upstream.to_owned() }
    }

    /// Kills it as a power cut would, and starts another in the same house.
    pub fn restart(&mut self) {
        self.kill();
        self.restart_dead();
    }

    pub fn restart_dead(&mut self) {
        (self.child, self.at) = spawn(self.folder.path(), &self.upstream);
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn post(&self, wire: &str, body: &Value) -> reqwest::RequestBuilder {
        let path = match wire {
            "anthropic" => "/llm/anthropic/v1/messages",
            "responses" => "/llm/openai/v1/responses",
            _ => "/llm/openai/v1/chat/completions",
        };
        self.at_path(path).body(body.to_string())
    }

    pub fn at_path(&self, path: &str) -> reqwest::RequestBuilder {
        let url = format!("http://{}{path}", self.at);
        self.client.post(url).header("x-api-key", LIFE).header("content-type", "application/json")
    }

    /// From here on calls are the owner's: a word came after the inbox was looked at, by a call no cap has room for.
    pub async fn speak(&self) {
        let too_dear = request("anthropic", &json!({"do": "plain"}), 1_000_000_000);
        assert_eq!(self.post("anthropic", &too_dear).send().await.unwrap().status(), 429);
        std::fs::write(self.folder.path().join(".self/inbox.jsonl"), "read this\n").unwrap();
    }

    pub async fn status(&self) -> Value {
        let url = format!("http://{}/status", self.at);
        let answer = self.client.get(url).bearer_auth(LIFE).send().await.unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }

    pub fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap_or_default()
    }

    pub fn ledger(&self) -> Read {
        read(self.folder.path())
    }

    /// Waits until as many lines of a kind are there.
    pub fn wait_for(&self, event: &str, count: usize) -> Read {
        crate::outside::happens(|| self.ledger().of(event).len() >= count);
        self.ledger()
    }
}

impl Drop for Paid {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[allow(clippy::zombie_processes)]
fn spawn(house: &Path, upstream: &str) -> (Child, SocketAddr) {
    let log = house.join("broker.log");
    let before = std::fs::read_to_string(&log).unwrap_or_default().len();
    let stderr = File::options().create(true).append(true).open(&log).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_broker"))
        .args(["--house", house.to_str().unwrap()])
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap())
        .env("HOME", house)
        .env("RUST_LOG", "debug")
        .env("ANTHROPIC_API_KEY", ANTHROPIC_KEY)
        .env("OPENAI_API_KEY", OPENAI_KEY)
        .env("ANTHROPIC_BASE_URL", upstream)
        .env("OPENAI_BASE_URL", format!("{upstream}/v1"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .unwrap();
    let serving = || {
        let said = std::fs::read_to_string(&log).unwrap();
        let at = said.get(before..).unwrap_or_default().split_once("serving on ");
        let at = at.map(|(_, at)| at.split_whitespace().next().unwrap().parse().unwrap());
        assert!(at.is_some() || child.try_wait().unwrap().is_none(), "the broker ended: {said}");
        at
    };
    let at = crate::outside::found(serving).expect("the broker serves");
    (child, at)
}

/// A request; `told` says what the server beyond does.
pub fn request(wire: &str, told: &Value, max_tokens: u64) -> Value {
    let is_stream = !matches!(told["do"].as_str(), None | Some("plain" | "silent" | "error"));
    let mut body = match wire {
        "anthropic" => json!({"model": "claude-sonnet-5-5", "max_tokens": max_tokens}),
        "responses" => json!({"model": "gpt-6.1-terra", "max_output_tokens": max_tokens}),
        _ => json!({"model": "gpt-6.1-terra", "max_completion_tokens": max_tokens}),
    };
    let said = if wire == "responses" { "input" } else { "messages" };
    body[said] = json!([{"role": "user", "content": told.to_string()}]);
    if is_stream {
        body["stream"] = json!(true);
    }
    body
}

/// A ledger that was read from its first line, and verified.
pub struct Read {
    pub lines: Vec<chain::Line>,
}

impl Read {
    pub fn of(&self, event: &str) -> Vec<&chain::Line> {
        self.lines.iter().filter(|line| line.entry.event == event).collect()
    }

    /// The settling line of each call.
    pub fn settled(&self) -> BTreeMap<&str, &chain::Line> {
        let settled = self.of("settle");
        let by_call: BTreeMap<&str, &chain::Line> =
            settled.iter().map(|line| (line.entry.call.as_str(), *line)).collect();
        assert_eq!(by_call.len(), settled.len(), "no call is settled twice");
        by_call
    }

    /// The highest sum of what was settled and what was open, at any line.
    pub fn highest(&self) -> u64 {
        let (mut sum, mut highest) = (0_u64, 0);
        let mut open = BTreeMap::new();
        for line in &self.lines {
            let (call, cost) = (line.entry.call.as_str(), line.entry.cost_micro_usd.unwrap_or(0));
            match line.entry.event.as_str() {
                "reserve" => {
                    assert!(open.insert(call, cost).is_none(), "reserved once");
                    sum += cost;
                }
                "settle" => sum = sum - open.remove(call).expect("reserved before it is settled") + cost,
                _ => {}
            }
            highest = highest.max(sum);
        }
        highest
    }
}

pub fn read(house: &Path) -> Read {
    let text = std::fs::read(house.join(".self/ledger.jsonl")).unwrap_or_default();
    let (mut end, mut lines) = (End::default(), Vec::new());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        // One that is being written.
        let Some(line) = line.strip_suffix(b"\n") else { break };
        let (line, next) =
            chain::next(line, &end).unwrap_or_else(|why| panic!("line {}: {why}", end.seq + 1));
        lines.push(line);
        end = next;
    }
    Read { lines }
}
