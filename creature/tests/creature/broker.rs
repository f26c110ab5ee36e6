//! A stand-in for the broker over real HTTP: its one token, its envelopes and its refusals, as the creature meets them.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

pub const TOKEN: &str = "5ca1ab1e0123456789abcdef0123456789abcdef0123456789abcdef01234567";

/// Skips a test, and says so, where walls refuse a test its own server.
macro_rules! loopback {
    () => {
        if !crate::broker::reachable() {
            println!("skipped: walls refuse a test its own server on loopback");
            return;
        }
    };
}
pub(crate) use loopback;

pub fn reachable() -> bool {
    let refused = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::PermissionDenied;
    let tried = TcpListener::bind("127.0.0.1:0").and_then(|own| TcpStream::connect(own.local_addr()?));
    !tried.as_ref().is_err_and(refused)
}

/// One request of someone who has the token.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub query: BTreeMap<String, String>,
    pub body: Value,
    /// What it says of its class; none where it says nothing.
    pub class: Option<String>,
}

pub enum Answer {
    Is(u16, Vec<(&'static str, String)>, String),
    /// Nothing for a long time.
    Hangs,
}

pub fn answer(status: u16, body: &Value) -> Answer {
    Answer::Is(status, vec![("content-type", "application/json".to_owned())], body.to_string())
}

/// `GET /status`.
pub fn status(model: Value, services: &[&str]) -> Answer {
    let service = |name: &&str| json!({"name": name, "about": "", "rules": [{"method": "*", "path": "/**", "do": "allow"}]});
    let services: Vec<Value> = services.iter().map(service).collect();
    answer(
        200,
        &json!({"model": model, "budget": {}, "services": services, "tainted": false, "asks_waiting": 0}),
    )
}

pub fn offer(wire: &str) -> Value {
    let path = if wire == "anthropic" { "/llm/anthropic" } else { "/llm/openai/v1" };
    json!({"wire": wire, "name": "scripted", "path": path})
}

/// What a service answered.
pub fn passed(status: u16, body: &Value) -> Answer {
    answer(
        200,
        &json!({"ok": true, "status": status, "content_type": "application/json", "body": body.to_string(), "truncated": false}),
    )
}

/// An act that waits for the owner.
pub fn waiting(id: &str) -> Answer {
    answer(
        200,
        &json!({"ok": false, "asked": id, "error": format!("{id} waits for the owner"), "hint": "go on"}),
    )
}

pub fn refusal(status: u16, kind: &str, retry_after_s: Option<u64>) -> Answer {
    let error =
        json!({"type": kind, "message": format!("{kind}, says the stand-in"), "hint": "look at budget.json"});
    let mut headers =
        vec![("content-type", "application/json".to_owned()), ("x-feral-error", kind.to_owned())];
    headers.extend(retry_after_s.map(|seconds| ("retry-after", seconds.to_string())));
    Answer::Is(status, headers, json!({"type": "error", "error": error}).to_string())
}

pub struct StandIn {
    server: Arc<tiny_http::Server>,
    heard: Arc<Mutex<Vec<Asked>>>,
    thread: Option<JoinHandle<()>>,
}

impl StandIn {
    /// Answers what has the token; anything else gets the broker's refusal.
    pub fn new(mut decide: impl FnMut(&Asked) -> Answer + Send + 'static) -> Self {
        let server = Arc::new(tiny_http::Server::http("127.0.0.1:0").unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (serving, noting) = (Arc::clone(&server), Arc::clone(&heard));
        let thread = std::thread::spawn(move || {
            let mut unanswered = Vec::new();
            for mut request in serving.incoming_requests() {
                let asked = read(&mut request);
                let known = request.headers().iter().any(|header| {
                    let (name, value) =
                        (header.field.as_str().as_str().to_lowercase(), header.value.as_str());
                    (name == "authorization" && value == format!("Bearer {TOKEN}"))
                        || (name == "x-api-key" && value == TOKEN)
                });
                let decided = match known {
                    true => {
                        noting.lock().unwrap().push(asked.clone());
                        decide(&asked)
                    }
                    false => refusal(401, "token_unknown", None),
                };
                let Answer::Is(status, headers, body) = decided else {
                    unanswered.push(request);
                    continue;
                };
                let mut response = tiny_http::Response::from_string(body).with_status_code(status);
                for (name, value) in headers {
                    response.add_header(tiny_http::Header::from_bytes(name, value).unwrap());
                }
                let _ = request.respond(response);
            }
        });
        Self { server, heard, thread: Some(thread) }
    }

    pub fn base(&self) -> String {
        format!("http://{}", self.server.server_addr().to_ip().unwrap())
    }

    pub fn client(&self) -> hands::Broker {
        hands::Broker::new(&self.base(), TOKEN).unwrap()
    }

    /// Requests for this path.
    pub fn heard(&self, path: &str) -> Vec<Asked> {
        self.heard.lock().unwrap().iter().filter(|asked| asked.path == path).cloned().collect()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read(request: &mut tiny_http::Request) -> Asked {
    let mut body = String::new();
    request.as_reader().read_to_string(&mut body).unwrap();
    let url = request.url().to_owned();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    let query = query.split('&').filter_map(|pair| pair.split_once('='));
    let class = request.headers().iter().find(|header| header.field.equiv("x-feral-class"));
    let class = class.map(|header| header.value.to_string());
    Asked {
        class,
        method: request.method().to_string(),
        path: path.to_owned(),
        query: query.map(|(name, value)| (name.to_owned(), plain(value))).collect(),
        body: serde_json::from_str(&body).unwrap_or(Value::Null),
    }
}

/// Percent-decoded.
fn plain(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = std::str::from_utf8(after.get(..2).unwrap_or_default()).unwrap_or_default();
        match (first, u8::from_str_radix(hex, 16)) {
            (b'%', Ok(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
                continue;
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(*first),
        }
        rest = after;
    }
    String::from_utf8(bytes).unwrap()
}
