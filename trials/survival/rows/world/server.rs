//! A model on loopback that can be in every kind of trouble, and counts what it is asked.

use serde_json::json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How a server can fail whoever asks it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trouble {
    None,
    /// A status, with what it says to wait.
    Status(u16, Option<&'static str>),
    /// Success, with this body.
    Body(&'static str),
    /// A reply of the wire, with this text for a thought.
    Says(&'static str),
    /// Half of what was promised, then the end.
    Half,
    /// A reply of 50 MB.
    Huge,
    /// The head of a reply, some of it, then nothing for ever.
    Stall,
    /// A byte now and then, for ever.
    Trickle,
    /// Not a word.
    Mute,
    /// The connection is taken and dropped.
    Dropped,
    /// Nobody listens.
    Down,
}

pub const HUGE_BYTES: u64 = 50 << 20;

#[derive(Clone)]
pub struct Server {
    address: SocketAddr,
    trouble: Arc<Mutex<Trouble>>,
    asked: Arc<AtomicU64>,
    /// Bytes of bodies that could be sent.
    sent: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            trouble: Arc::new(Mutex::new(Trouble::None)),
            asked: Arc::default(),
            sent: Arc::default(),
            over: Arc::default(),
        };
        let listening = server.clone();
        std::thread::spawn(move || listening.listen(Some(listener)));
        server
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn fall_into(&self, trouble: Trouble) {
        *self.trouble.lock().unwrap() = trouble;
    }

    /// Calls since it was started, answered or not.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    pub fn sent_bytes(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    pub fn close(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    fn trouble(&self) -> Trouble {
        *self.trouble.lock().unwrap()
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    fn listen(&self, mut listener: Option<TcpListener>) {
        while !self.is_over() {
            std::thread::sleep(Duration::from_millis(5));
            if self.trouble() == Trouble::Down {
                listener = None;
                continue;
            }
            let Some(open) = &listener else {
                listener = TcpListener::bind(self.address).ok();
                continue;
            };
            open.set_nonblocking(true).unwrap();
            while let Ok((connection, _)) = open.accept() {
                let server = self.clone();
                std::thread::spawn(move || server.serve(connection));
            }
        }
    }

    /// One connection, one request; whoever hangs up early is let go.
    fn serve(&self, mut connection: TcpStream) {
        connection.set_nonblocking(false).unwrap();
        let trouble = self.trouble();
        if trouble == Trouble::Dropped {
            self.asked.fetch_add(1, Ordering::SeqCst);
            return;
        }
        if read_request(&mut connection).is_none() {
            return;
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        let _ = self.answer(&mut connection, trouble);
    }

    fn answer(&self, to: &mut TcpStream, trouble: Trouble) -> std::io::Result<()> {
        let refusal = r#"{"type":"error","error":{"type":"some_error","message":"no, said the server"}}"#;
        let rest = json!({"monologue": "nothing to do", "intent": "rest", "tool_calls": [], "sleep_s": 1});
        match trouble {
            Trouble::None => whole(to, 200, "", &reply(&rest.to_string())),
            Trouble::Status(status, Some(wait)) => {
                whole(to, status, &format!("Retry-After: {wait}\r\n"), refusal)
            }
            Trouble::Status(status, None) => whole(to, status, "", refusal),
            Trouble::Body(text) => whole(to, 200, "", text),
            Trouble::Says(text) => whole(to, 200, "", &reply(text)),
            Trouble::Half => {
                let text = reply(&rest.to_string());
                to.write_all(head(200, "", text.len() as u64).as_bytes())?;
                to.write_all(&text.as_bytes()[..text.len() / 2])
            }
            Trouble::Huge => {
                to.write_all(head(200, "", HUGE_BYTES).as_bytes())?;
                let piece = [b'x'; 64 << 10];
                for _ in 0..HUGE_BYTES / piece.len() as u64 {
                    to.write_all(&piece)?;
                    self.sent.fetch_add(piece.len() as u64, Ordering::SeqCst);
                }
                Ok(())
            }
            Trouble::Stall => {
                to.write_all(head(200, "", 1_000).as_bytes())?;
                to.write_all(b"{\"content\": [")?;
                self.hold()
            }
            Trouble::Trickle => {
                // Whole events of a stream: the broker passes on neither a plain reply nor half a line before its end.
                let head = head(200, "", 1 << 30).replace("application/json", "text/event-stream");
                to.write_all(head.as_bytes())?;
                while !self.is_over() {
                    to.write_all(b": still here\n\n")?;
                    std::thread::sleep(Duration::from_millis(50));
                }
                Ok(())
            }
            Trouble::Mute => self.hold(),
            Trouble::Dropped | Trouble::Down => Ok(()),
        }
    }

    fn hold(&self) -> std::io::Result<()> {
        while !self.is_over() {
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

/// A reply of the wire with this text.
fn reply(text: &str) -> String {
    json!({"id": "m", "type": "message", "role": "assistant", "model": "scripted", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 12, "output_tokens": 34}})
    .to_string()
}

fn head(status: u16, more: &str, bytes: u64) -> String {
    format!(
        "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {bytes}\r\n{more}Connection: close\r\n\r\n"
    )
}

fn whole(to: &mut TcpStream, status: u16, more: &str, text: &str) -> std::io::Result<()> {
    to.write_all(head(status, more, text.len() as u64).as_bytes())?;
    to.write_all(text.as_bytes())
}

/// Reads one request to its end.
fn read_request(from: &mut TcpStream) -> Option<()> {
    let mut bytes = Vec::new();
    let mut piece = [0_u8; 16 << 10];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(0, |text| text.trim().parse().unwrap_or(0));
            if bytes.len() >= end + 4 + length {
                return Some(());
            }
        }
        match from.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
        }
    }
}
