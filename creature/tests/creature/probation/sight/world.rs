//! A house whose creature talks with a faithful model server, through a door that is the broker as far as it knows.

use crate::broker::TOKEN;
use crate::faithful::{Faithful, Rules, Say, Seen, Wire};
use crate::house::{Living, TempHouse};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

/// Answers `/status` and `/taint` itself and hands all else to the model's server, byte by byte.
pub struct Door {
    address: SocketAddr,
    pub status: Arc<Mutex<Value>>,
}

impl Door {
    fn new(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let status = Arc::new(Mutex::new(Value::Null));
        let (told, server) = (Arc::clone(&status), server.trim_start_matches("http://").to_owned());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (told, server) = (Arc::clone(&told), server.clone());
                thread::spawn(move || {
                    let _ = pass(stream, &told, &server);
                });
            }
        });
        Self { address, status }
    }

    fn base(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn pass(mut client: TcpStream, status: &Mutex<Value>, server: &str) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if client.read(&mut byte)? == 0 {
            return Ok(());
        }
        head.extend_from_slice(&byte);
    }
    let text = String::from_utf8_lossy(&head).to_string();
    assert!(text.contains(TOKEN), "a request without the token of this life");
    let own = match text.split(' ').nth(1) {
        Some("/status") => Some(status.lock().unwrap().to_string()),
        Some("/taint") => {
            client.read_exact(&mut [0; 2])?;
            Some(json!({"ok": true}).to_string())
        }
        _ => None,
    };
    if let Some(body) = own {
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        return client.write_all(answer.as_bytes());
    }
    let mut upstream = TcpStream::connect(server)?;
    upstream.write_all(&head)?;
    let (mut from, mut to) = (client.try_clone()?, upstream.try_clone()?);
    let up = thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        // The client hung up: so does the way to the model.
        let _ = to.shutdown(Shutdown::Both);
    });
    let _ = std::io::copy(&mut upstream, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    let _ = up.join();
    Ok(())
}

/// How calls travel, as the owner sets it.
pub const NATIVE: &str = "native";
pub const JSON: &str = "json";
pub const AUTO: &str = "auto";

pub struct World {
    pub house: TempHouse,
    pub server: Faithful,
    pub door: Door,
    wire: Wire,
}

impl World {
    pub fn new(
        wire: Wire,
        rules: Rules,
        form: &str,
        mind: impl FnMut(&Seen) -> Say + Send + 'static,
    ) -> Self {
        let server = Faithful::start(wire, rules, mind);
        let door = Door::new(&server.origin());
        let mut house = TempHouse::new();
        house.broker = Some(door.base());
        house.owner(&format!(
            "[model]\ndeadline_s = 20\ntools = \"{form}\"\n[rest]\nshortest_s = 1\nlongest_s = 300\n"
        ));
        let world = Self { house, server, door, wire };
        world.offer(json!({"window": 200_000}));
        world
    }

    /// What the status says of the model, beside its wire and name.
    pub fn offer(&self, more: Value) {
        let wire = self.wire;
        let path = if wire == Wire::Anthropic { "/llm/anthropic" } else { "/llm/openai/v1" };
        let mut model =
            json!({"wire": wire.name(), "name": wire.model(), "path": path, "address": "local:1"});
        model.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        *self.door.status.lock().unwrap() =
            json!({"model": model, "budget": {}, "services": [], "tainted": false, "asks_waiting": 0});
    }

    /// A creature that finds its toolchain, as the guardian would have it.
    pub fn live(&self, life: u64) -> Living {
        let mut command = self.house.command(life);
        for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
            let usual = || Some(Path::new(&std::env::var_os("HOME")?).join(folder).into_os_string());
            command.envs(std::env::var_os(name).or_else(usual).map(|path| (name, path)));
        }
        let named = |name| Some((name, std::env::var_os(name)?));
        command.envs(["RUSTUP_TOOLCHAIN", "CARGO", "CARGO_NET_OFFLINE"].into_iter().filter_map(named));
        // Within walls no other place is writable.
        let temporary = self.house.path(".self/workspace/tmp");
        std::fs::create_dir_all(&temporary).unwrap();
        command.env("TMPDIR", temporary);
        Living { child: command.spawn().unwrap() }
    }

    /// Puts a copy of the creature's source into the house.
    pub fn with_source(self) -> Self {
        copy(Path::new(env!("CARGO_MANIFEST_DIR")), &self.house.path("creature"));
        self
    }
}

/// What of a folder is source.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().unwrap().is_dir() {
            if name != "target" && !name.starts_with('.') {
                copy(&entry.path(), &to.join(&name));
            }
        } else {
            std::fs::copy(entry.path(), to.join(&name)).unwrap();
        }
    }
}
