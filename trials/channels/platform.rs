//! The platform: Telegram's server of the tests as a program of its own, killed and started again as it comes.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The owner of the house, and a group that the owner addresses it in.
pub const OWNER: i64 = 1_001;
pub const GROUP: i64 = -1_000_000_000_700;
pub const BOT: &str = "feral_test_bot";
pub const TOKEN: &str = "4242424242:AAF-a_token_of_tests_and_of_nothing_else";

/// The server, from any thread.
#[derive(Clone)]
pub struct Platform {
    pub port: u16,
    program: PathBuf,
    journal: PathBuf,
    child: Arc<Mutex<Option<Child>>>,
}

impl Platform {
    pub fn start(folder: &Path) -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let program = trials::programs::broker().with_file_name("examples").join("telegram_server");
        let platform = Self { port, program, journal: folder.join("telegram.jsonl"), child: Arc::default() };
        platform.begin();
        platform
    }

    /// Starts it where it is not there, and waits until it answers.
    pub fn begin(&self) {
        let mut child = self.child.lock().unwrap();
        let mut command = Command::new(&self.program);
        command.arg(self.port.to_string()).arg(&self.journal).stdin(Stdio::null()).stdout(Stdio::null());
        *child = Some(command.spawn().unwrap());
        drop(child);
        while self.ask("seen", &json!({ "from": 1_000_000 })).is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn kill(&self) {
        if let Some(mut child) = self.child.lock().unwrap().take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Has the other side of the chats do something; `None`: it is not there just now, or ended before it answered.
    pub fn ask(&self, deed: &str, with: &Value) -> Option<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
        let body = with.to_string();
        // 1.0: what is answered then comes as it is, and not in chunks, however long.
        let head = format!(
            "POST /owner/{deed} HTTP/1.0\r\nHost: owner\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        let at = answer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
        let answer: Value = serde_json::from_slice(answer.get(at..)?).ok()?;
        answer.get("result").cloned()
    }

    /// The same, until it is there.
    pub fn asked(&self, deed: &str, with: &Value) -> Value {
        loop {
            if let Some(answer) = self.ask(deed, with) {
                return answer;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Messages that the bot sent, from this one on.
    pub fn seen(&self, from: usize) -> Vec<Value> {
        let seen = self.asked("seen", &json!({ "from": from }));
        seen["sent"].as_array().cloned().unwrap_or_default()
    }

    /// Says a word, however often the server ends while it does; it stands there once.
    pub fn say(&self, chat: i64, text: &str) {
        let mut with = json!({ "chat": chat, "person": OWNER, "text": text });
        if chat == GROUP {
            with["text"] = json!(format!("@{BOT} {text}"));
            with["entities"] = json!([{ "type": "mention", "offset": 0, "length": BOT.len() + 1 }]);
        }
        while self.asked("has", &json!({ "text": with["text"] })) != json!(true) {
            self.ask("say", &with);
        }
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        if Arc::strong_count(&self.child) == 1 {
            self.kill();
        }
    }
}
