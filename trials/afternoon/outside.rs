//! Outside of the house on an afternoon: a mailbox by real servers, and a site behind the owner's proxy.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

const PAGE: &str = "<!doctype html><title>Herons of the pond</title><h1>Hours</h1>\
    <p id=hours></p><script>document.getElementById('hours').textContent = 'The herons are fed at 16:35.'</script>";

/// Dovecot and exim, which end with it.
pub struct Mailbox {
    child: Child,
    input: Option<ChildStdin>,
    pub places: Value,
}

impl Mailbox {
    /// Starts it; the reason where it cannot be had here.
    pub fn start() -> Result<Self, String> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp/mail/alone.mjs");
        let mut command = Command::new("node");
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("node is not to be had: {error}"))?;
        let input = child.stdin.take();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let places: Value = serde_json::from_str(&line).map_err(|error| format!("no mailbox: {error}"))?;
        match places["missing"].as_str() {
            Some(missing) => Err(missing.to_owned()),
            None => Ok(Self { child, input, places }),
        }
    }

    pub fn receives(&mut self, mail: &str) {
        writeln!(self.input.as_mut().unwrap(), "{}", Value::from(mail)).unwrap();
    }

    /// Messages of a folder of it, of all states.
    pub fn messages(&self, folder: &str) -> Vec<String> {
        let root = PathBuf::from(self.places["folder"].as_str().unwrap()).join("Maildir").join(folder);
        let files =
            ["new", "cur"].iter().filter_map(|part| std::fs::read_dir(root.join(part)).ok()).flatten();
        files.flatten().filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect()
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// Starts a proxy that answers for every host with the one page; its address.
pub fn proxy() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serves(stream));
        }
    });
    address
}

fn serves(mut stream: TcpStream) {
    while let Some(head) = head(&mut stream) {
        let answer = if head.starts_with("CONNECT ") {
            "HTTP/1.1 200 OK\r\n\r\n".to_owned()
        } else if head.contains("/hours") {
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{PAGE}",
                PAGE.len()
            )
        } else {
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned()
        };
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// The head of the next request.
fn head(stream: &mut TcpStream) -> Option<String> {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        bytes.push(byte[0]);
    }
    String::from_utf8(bytes).ok()
}
