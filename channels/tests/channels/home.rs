//! A house with channels of its own, served by a program that is killed and started at will; and a creature that answers.

use house::channels::Pairing;
use house::{House, clock};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest wait for what must come.
const PATIENCE: Duration = Duration::from_secs(300);

pub struct Home {
    pub house: House,
    root: TempDir,
    names: Vec<String>,
    child: Option<Child>,
    said: usize,
}

/// Programs of the workspace beside each other, as the guardian has them.
fn programs() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors()
        .find(|folder| folder.join("examples/loopback").is_file())
        .expect("built by cargo test")
        .to_owned()
}

impl Home {
    pub fn new(names: &[&str]) -> Self {
        let root = TempDir::new().unwrap();
        let house = House::new(root.path().join("house"));
        for folder in [
            ".self/broker/channels",
            ".self/broker/asks",
            ".self/workspace",
            ".self/mind",
            ".git",
            "creature",
        ] {
            fs::create_dir_all(house.root().join(folder)).unwrap();
        }
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let home = Self { house, root, names, child: None, said: 0 };
        home.names.iter().for_each(|name| fs::create_dir_all(home.folder(name)).unwrap());
        home
    }

    /// A home with one channel on which the owner is paired, served.
    pub fn paired(names: &[&str]) -> Self {
        let mut home = Self::new(names);
        home.names.clone().iter().for_each(|name| home.pair(name));
        home.start();
        home
    }

    pub fn folder(&self, name: &str) -> PathBuf {
        self.root.path().join(format!("platform-{name}"))
    }

    pub fn limits(&self, name: &str, limits: Value) {
        fs::write(self.folder(name).join("limits.json"), limits.to_string()).unwrap();
    }

    pub fn settings(&self, name: &str, settings: Value) {
        fs::write(self.folder(name).join("settings.json"), settings.to_string()).unwrap();
    }

    /// Pairs the owner without a code.
    pub fn pair(&mut self, name: &str) {
        let chat = json!({"id": "100", "thread": null, "is_private": true});
        let owner = json!({"id": "7", "name": "Ann", "chat": chat, "since": clock::stamp()});
        let chats = json!([[format!("{name}-100"), chat]]);
        self.write_state(name, &json!({"owner": owner, "cursor": {"line": 0}, "chats": chats}));
    }

    pub fn write_state(&self, name: &str, state: &Value) {
        fs::write(channels::places::state(&self.house, name), state.to_string()).unwrap();
    }

    pub fn state(&self, name: &str) -> Value {
        let bytes = fs::read(channels::places::state(&self.house, name)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub fn command(&self) -> Command {
        let bin = self.root.path().join("bin");
        if !bin.exists() {
            fs::create_dir_all(&bin).unwrap();
            let built = programs();
            for (name, from) in
                [("channels", "examples/loopback"), ("console", "console"), ("guardian", "guardian")]
            {
                let from = built.join(from);
                if fs::hard_link(&from, bin.join(name)).is_err() {
                    let _ = fs::copy(&from, bin.join(name));
                }
            }
        }
        let mut command = Command::new(bin.join("channels"));
        command
            .arg(self.house.root())
            .args(self.names.iter().map(|name| format!("{name}={}", self.folder(name).display())));
        let log = fs::File::options().create(true).append(true).open(self.root.path().join("log")).unwrap();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).env("TZ", "UTC");
        command
    }

    /// Starts it, and waits until it follows memory: what was said before the first start ever is old.
    pub fn start(&mut self) {
        self.start_cut("");
        self.until("it follows memory", |home| channels::places::talk(&home.house).exists().then_some(()));
    }

    /// Starts it, to be killed at a step: `before_send:2`.
    pub fn start_cut(&mut self, cut: &str) {
        self.kill();
        let mut command = self.command();
        if !cut.is_empty() {
            command.env("LOOPBACK_CUT", cut);
        }
        self.child = Some(command.spawn().unwrap());
    }

    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            child.wait().unwrap();
        }
    }

    /// Waits for its end by itself.
    pub fn until_it_ends(&mut self) {
        let until = Instant::now() + PATIENCE;
        while self.child.as_mut().is_some_and(|child| child.try_wait().unwrap().is_none()) {
            assert!(Instant::now() < until, "it does not end\n{}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
        self.child = None;
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.root.path().join("log")).unwrap_or_default()
    }

    /// Says something on a platform; returns its id.
    pub fn heard(&mut self, name: &str, mut line: Value) -> String {
        self.said += 1;
        let id = format!("{name}-m{}", self.said);
        let fields = line.as_object_mut().unwrap();
        for (key, value) in [
            ("id", json!(id)),
            ("at_ms", json!(clock::wall_ms())),
            ("chat", json!("100")),
            ("from", json!("7")),
            ("name", json!("Ann")),
        ] {
            fields.entry(key).or_insert(value);
        }
        append(&self.folder(name).join("in.jsonl"), &line);
        line["id"].as_str().unwrap().to_owned()
    }

    /// A word of the owner's.
    pub fn say(&mut self, name: &str, word: &str) -> String {
        self.heard(name, json!({"word": word}))
    }

    pub fn trouble(&self, name: &str, line: Value) {
        append(&self.folder(name).join("trouble.jsonl"), &line);
    }

    /// Words of the creature's.
    pub fn answers(&self, thread: &str, text: &str) {
        self.records(&json!({"from": "creature", "kind": "answer", "text": text, "thread": thread, "at": clock::stamp()}));
    }

    pub fn records(&self, message: &Value) {
        let record = json!({"at": clock::stamp(), "life": 7, "kind": "message", "data": message});
        append(&self.house.memory(), &record);
    }

    pub fn sent(&self, name: &str) -> Vec<Value> {
        lines(&self.folder(name).join("out.jsonl"))
            .into_iter()
            .filter(|line| line["op"] != "typing")
            .collect()
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        self.sent(name).iter().map(|line| line["text"].as_str().unwrap_or_default().to_owned()).collect()
    }

    pub fn inbox(&self) -> Vec<Value> {
        lines(&self.house.inbox())
    }

    pub fn words(&self) -> Vec<String> {
        self.inbox().iter().map(|line| line["text"].as_str().unwrap_or_default().to_owned()).collect()
    }

    pub fn until<T>(&self, what: &str, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            if Instant::now() < until {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
            let last = |all: Vec<String>| all.into_iter().rev().take(20).collect::<Vec<_>>();
            let sent: Vec<_> = self.names.iter().map(|name| last(self.texts(name))).collect();
            let log = self.log();
            let log = log.get(log.floor_char_boundary(log.len().saturating_sub(4_000))..).unwrap_or_default();
            panic!(
                "{what}\nthe end of the inbox {:?}\nof what was sent {sent:#?}\n{log}",
                last(self.words())
            );
        }
    }

    /// Waits for a message with this text in it.
    pub fn until_sent(&self, name: &str, part: &str) -> Value {
        self.until(&format!("{name} is sent: {part}"), |home| {
            home.sent(name)
                .into_iter()
                .find(|line| line["text"].as_str().is_some_and(|text| text.contains(part)))
        })
    }

    pub fn until_word(&self, part: &str) -> Value {
        self.until(&format!("the inbox has: {part}"), |home| {
            home.inbox()
                .into_iter()
                .find(|line| line["text"].as_str().is_some_and(|text| text.contains(part)))
        })
    }

    /// Waits until all that was said on a platform is acknowledged.
    pub fn until_acknowledged(&self, name: &str) {
        let all = lines(&self.folder(name).join("in.jsonl")).len().to_string();
        self.until("all is acknowledged", |home| {
            (fs::read_to_string(home.folder(name).join("acknowledged")).unwrap_or_default() == all)
                .then_some(())
        });
    }

    /// Makes the code of a pairing, as the console does.
    pub fn code(&self, name: &str, code: &str) {
        let until = clock::stamp_of(clock::wall_ms() + 600_000);
        let pairing =
            Pairing { channel: name.into(), code: code.into(), until, tries: 5, ..Pairing::default() };
        pairing.write(&self.house).unwrap();
    }

    /// Asks the owner, as the broker does; returns the digest.
    pub fn ask(&self, id: &str, body: &str) -> String {
        let act =
            json!({"kind": "call", "service": "posts", "method": "POST", "path": "/2/tweets", "body": body});
        let digest = channels::thread::key(&[&act.to_string()]).repeat(2);
        let line = json!({"at": clock::stamp(), "event": "asked", "id": id, "kind": "call", "service": "posts",
            "method": "POST", "path": "/2/tweets", "why": "to say hello", "summary": "a post", "digest": digest});
        let stored = json!({"id": id, "state": "asked", "digest": digest, "act": act});
        fs::write(self.house.ask(id), stored.to_string()).unwrap();
        append(&self.house.asks(), &line);
        digest
    }

    pub fn outcome(&self, id: &str, event: &str, result: &str) {
        append(
            &self.house.asks(),
            &json!({"at": clock::stamp(), "event": event, "id": id, "status": 200, "result": result}),
        );
    }

    pub fn given(&self) -> Vec<Value> {
        lines(&self.house.answers())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.kill();
    }
}

pub fn append(path: &Path, line: &Value) {
    let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

pub fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
