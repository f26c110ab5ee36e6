//! A scripted broker before a model: answers one connection after the other from a list, and keeps what it was asked.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use model::{Client, Endpoint, Error, Heard, Reply, Talk, Tool, Turn, Wire};
use serde_json::{Value, json};

pub const TOKEN: &str = "0123456789abcdef-of-this-life-secret";

/// Skips a test, and says so, where walls refuse a test its own server.
#[macro_export]
macro_rules! loopback {
    () => {
        if !server::reachable() {
            println!("skipped: walls refuse a test its own server on loopback");
            return;
        }
    };
}

pub fn reachable() -> bool {
    let refused = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::PermissionDenied;
    let tried = TcpListener::bind("127.0.0.1:0").and_then(|own| TcpStream::connect(own.local_addr()?));
    !tried.as_ref().is_err_and(refused)
}

/// What to do with one request.
#[derive(Clone)]
pub enum Step {
    /// A whole answer: status, extra header lines, body.
    Answer(u16, &'static str, String),
    /// A success whose body comes in these pieces; whether its end comes too.
    Pieces(&'static str, Vec<Vec<u8>>, bool),
    /// These bytes, then the connection is closed.
    Raw(Vec<u8>),
    /// These bytes, then silence.
    Stall(Vec<u8>),
    /// A success whose body is this many mebibytes.
    Flood(usize),
}

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub line: String,
    pub headers: Vec<String>,
    pub body: Value,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&String| {
            let found = line.split(':').next().unwrap();
            found.eq_ignore_ascii_case(name)
        };
        let line = self.headers.iter().find(named)?;
        Some(line.split_once(':')?.1.trim())
    }
}

pub struct Server {
    pub origin: String,
    closed: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Serves the steps in order; the last one for ever.
    pub fn new(steps: Vec<Step>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&seen);
        let closed = Arc::new(AtomicBool::new(false));
        let is_closed = Arc::clone(&closed);
        thread::spawn(move || {
            for (turn, stream) in listener.incoming().enumerate() {
                if is_closed.load(Ordering::Relaxed) {
                    return;
                }
                let step = steps[turn.min(steps.len() - 1)].clone();
                let record = Arc::clone(&record);
                thread::spawn(move || serve(stream.unwrap(), step, &record));
            }
        });
        Server { origin, closed, seen }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// How many requests came.
    pub fn asked(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    pub fn client(&self, wire: Wire) -> Client {
        Client::new(self.endpoint(wire)).unwrap().with_first_wait(Duration::from_millis(1))
    }

    pub fn endpoint(&self, wire: Wire) -> Endpoint {
        let (base_url, model) = match wire {
            Wire::Anthropic => (format!("{}/llm/anthropic", self.origin), "claude-test"),
            Wire::Responses => (format!("{}/llm/openai/v1", self.origin), "gpt-test"),
            Wire::Chat => (format!("{}/llm/openai/v1", self.origin), "gpt-test"),
        };
        Endpoint {
            wire,
            base_url,
            model: model.to_string(),
            token: TOKEN.to_string(),
            deadline: Duration::from_secs(20),
            silence: Duration::from_secs(20),
            max_tokens: 900,
            effort: String::new(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // Wakes the listener, which then ends.
        let _ = TcpStream::connect(self.origin.trim_start_matches("http://"));
    }
}

pub const WIRES: [Wire; 3] = [Wire::Anthropic, Wire::Responses, Wire::Chat];

/// What is put to a model, owned.
#[derive(Clone)]
pub struct Asked {
    pub system: String,
    pub tools: Vec<Tool>,
    pub turns: Vec<Turn>,
    pub schema: Option<Value>,
    pub autonomous: bool,
    pub without_thinking: bool,
}

impl Asked {
    pub async fn to(&self, client: &Client) -> Result<Reply, Error> {
        self.heard(client, &mut |_| {}).await
    }

    pub async fn heard(
        &self,
        client: &Client,
        hear: &mut (dyn FnMut(Heard<'_>) + Send),
    ) -> Result<Reply, Error> {
        let talk = Talk {
            system: &self.system,
            tools: &self.tools,
            turns: &self.turns,
            media: &[],
            schema: self.schema.as_ref(),
            autonomous: self.autonomous,
            without_thinking: self.without_thinking,
        };
        client.say(&talk, hear).await
    }
}

pub fn said(text: &str) -> Turn {
    Turn::Said { text: text.to_string() }
}

/// A thought held to JSON.
pub fn ask() -> Asked {
    Asked {
        system: "You are Feral.".to_string(),
        tools: Vec::new(),
        turns: vec![said("Purpose: look around."), said("It is \"now\".")],
        schema: Some(json!({"type": "object", "properties": {"b": {}, "a": {}}})),
        autonomous: false,
        without_thinking: false,
    }
}

/// A conversation with tools.
pub fn talk() -> Asked {
    let tool = |name: &str, strict| Tool {
        name: name.to_string(),
        description: format!("does {name}"),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
        strict,
    };
    Asked { tools: vec![tool("repo_read", false), tool("self_edit", true)], schema: None, ..ask() }
}

pub fn good(wire: Wire) -> Step {
    let body = match wire {
        Wire::Anthropic => include_str!("../golden/anthropic_reply.json"),
        Wire::Responses => include_str!("../golden/responses_reply.json"),
        Wire::Chat => include_str!("../golden/openai_reply.json"),
    };
    Step::Answer(200, "content-type: application/json\r\n", body.to_string())
}

/// An error as the real servers send it; they like to repeat what they were shown.
pub fn bad(status: u16, headers: &'static str, kind: &str, message: &str) -> Step {
    let error = json!({"type": kind, "code": kind, "message": format!("{message} (key {TOKEN})")});
    let body = json!({"type": "error", "error": error, "request_id": "req_1"});
    Step::Answer(status, headers, body.to_string())
}

fn serve(mut stream: TcpStream, step: Step, record: &Mutex<Vec<Seen>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_string());
    }
    let mut seen = Seen { line: lines.remove(0), headers: lines, body: Value::Null };
    let length = seen.header("content-length").map_or(0, |n| n.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    seen.body = serde_json::from_slice(&body).unwrap_or_default();
    record.lock().unwrap().push(seen);
    // A client that has had enough hangs up, so a failed write is no failure here.
    let _ = answer(&mut stream, step);
}

fn answer(stream: &mut TcpStream, step: Step) -> std::io::Result<()> {
    match step {
        Step::Answer(status, headers, body) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}");
            stream.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes())
        }
        Step::Pieces(kind, pieces, ended) => {
            stream.set_nodelay(true)?;
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n");
            let mut bytes = head.into_bytes();
            for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
                bytes.extend(format!("{:x}\r\n", piece.len()).bytes());
                bytes.extend(piece);
                bytes.extend(b"\r\n");
            }
            bytes.extend(if ended { &b"0\r\n\r\n"[..] } else { b"" });
            stream.write_all(&bytes)
        }
        Step::Raw(bytes) => stream.write_all(&bytes),
        Step::Stall(bytes) => {
            stream.write_all(&bytes)?;
            thread::sleep(Duration::from_secs(30));
            Ok(())
        }
        Step::Flood(mebibytes) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
            let piece = vec![b' '; 1 << 20];
            (0..mebibytes).try_for_each(|_| stream.write_all(&piece))
        }
    }
}
