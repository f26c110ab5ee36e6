//! A stand-in for the broker in a few lines: it hears whole requests, knows one token and answers with raw bytes.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use hands::Broker;

pub const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

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

/// What the server heard.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    pub method: String,
    pub target: String,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Heard {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

pub struct Site {
    pub port: u16,
    pub heard: Arc<Mutex<Vec<Heard>>>,
}

impl Site {
    /// Answers every request with what `answer` returns.
    pub fn new(answer: impl Fn(&Heard) -> Vec<u8> + Send + Sync + 'static) -> Site {
        // The client may hang up first: at the size cap, or at the deadline.
        Site::raw(move |heard, stream| drop(stream.write_all(&answer(heard))))
    }

    /// Lets `answer` write to the connection itself; it is closed afterwards.
    pub fn raw(answer: impl Fn(&Heard, &mut TcpStream) + Send + Sync + 'static) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (answer, notes) = (Arc::new(answer), heard.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (answer, notes) = (answer.clone(), notes.clone());
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let Some(request) = hear(&mut stream) else { return };
                    assert_eq!(request.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
                    notes.lock().unwrap().push(request.clone());
                    answer(&request, &mut stream);
                });
            }
        });
        Site { port, heard }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn broker(&self) -> Broker {
        Broker::new(&self.url("/"), TOKEN).unwrap()
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }
}

/// A whole answer; `headers` end in `\r\n` each.
pub fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut whole =
        format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len())
            .into_bytes();
    whole.extend_from_slice(body);
    whole
}

pub fn html(body: &str) -> Vec<u8> {
    answer("200 OK", "Content-Type: text/html; charset=utf-8\r\n", body.as_bytes())
}

pub fn json(status: &str, body: &str) -> Vec<u8> {
    answer(status, "Content-Type: application/json\r\n", body.as_bytes())
}

/// What a service answered, as the broker passes it on.
pub fn passed(status: u16, body: &str) -> Vec<u8> {
    let said = serde_json::json!({
        "ok": true, "status": status, "content_type": "application/json", "body": body, "truncated": false
    });
    json("200 OK", &said.to_string())
}

/// A refusal in the broker's words.
pub fn refusal(status: &str, kind: &str, headers: &str) -> Vec<u8> {
    let error = serde_json::json!({"type": kind, "message": "no such luck", "hint": "try elsewhere"});
    let body = serde_json::json!({"type": "error", "error": error}).to_string();
    answer(status, &format!("x-feral-error: {kind}\r\n{headers}"), body.as_bytes())
}

fn hear(stream: &mut TcpStream) -> Option<Heard> {
    let mut bytes = Vec::new();
    let mut part = [0_u8; 4096];
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&part[..count]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let mut heard =
        Heard { method: first.next()?.to_owned(), target: first.next()?.to_owned(), ..Heard::default() };
    for line in lines {
        let (name, value) = line.split_once(": ")?;
        heard.headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length: usize = heard.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = bytes[end + 4..].to_vec();
    while body.len() < length {
        let count = stream.read(&mut part).ok().filter(|count| *count > 0)?;
        body.extend_from_slice(&part[..count]);
    }
    heard.body = String::from_utf8_lossy(&body).into_owned();
    Some(heard)
}
