//! A platform in a folder: what is said to it is lines of a file, what it sends is lines of another; with troubles on demand.
//!
//! It does what the contract of a channel asks of a platform: keeps what was not acknowledged, takes nothing beyond its
//! limits, drops a second message with the same key where it has keys.

use anyhow::{Context, Result};
use async_trait::async_trait;
use channels::channel::{
    Attached, Batch, Channel, Chat, Form, Heard, Known, Limits, Message, Person, Press, Sent, Trouble, Unit,
    What, Word,
};
use channels::format;
use house::files;
use house::records::{self, text, view::field};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

/// Happenings of a batch, and time between two looks at the file.
const BATCH: usize = 100;
const LOOK: Duration = Duration::from_millis(10);

pub struct Loopback {
    folder: PathBuf,
    limits: Limits,
    at: Mutex<usize>,
    /// Passes of each step, and the one at which this process is killed.
    passes: Mutex<HashMap<String, usize>>,
    cut: Option<(String, usize)>,
    /// Time that a send takes.
    send: Duration,
}

impl Loopback {
    pub fn open(folder: PathBuf) -> Result<Self> {
        let told = files::read_small(&folder.join("limits.json"))?.unwrap_or_default();
        let told: Value = serde_json::from_slice(&told).unwrap_or_default();
        let number = |name: &str, usual: u64| field::<Option<u64>>(&told, name).unwrap_or(usual);
        let flag = |name: &str, usual: bool| field::<Option<bool>>(&told, name).unwrap_or(usual);
        let form = match text(&told, "form") {
            "plain" => Form::Plain,
            "discord" => Form::DiscordMarkdown,
            "slack" => Form::SlackMrkdwn,
            "matrix" => Form::MatrixHtml,
            _ => Form::TelegramHtml,
        };
        let limits = Limits {
            text: usize::try_from(number("text", 4_096))?,
            unit: Unit::Chars,
            form,
            file_bytes: number("file_bytes", 1 << 20),
            buttons: flag("buttons", true),
            edits: flag("edits", true),
            typing: flag("typing", true),
            gap: Duration::from_millis(number("gap_ms", 0)),
            keys: field::<Option<u64>>(&told, "keys_ms").map(Duration::from_millis),
            approves: flag("approves", true),
        };
        let cut = std::env::var("LOOPBACK_CUT").ok();
        let cut = cut
            .and_then(|cut| Some((cut.split_once(':')?.0.to_owned(), cut.split_once(':')?.1.parse().ok()?)));
        Ok(Self {
            folder,
            limits,
            at: Mutex::new(0),
            passes: Mutex::default(),
            cut,
            send: Duration::from_millis(number("send_ms", 0)),
        })
    }

    /// Ends this process without a word at the step that was asked for.
    fn step(&self, name: &str) {
        let Ok(mut passes) = self.passes.lock() else { return };
        let passes = passes.entry(name.to_owned()).or_default();
        *passes += 1;
        if self.cut.as_ref().is_some_and(|(step, nth)| step == name && nth == passes) {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::this(), nix::sys::signal::Signal::SIGKILL);
        }
    }

    fn said(&self) -> Vec<Value> {
        let bytes =
            files::read_most(&self.folder.join("in.jsonl"), 64 << 20).ok().flatten().unwrap_or_default();
        // A line without its end is still being written.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines = bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n');
        lines.filter(|line| !line.is_empty()).filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    fn sent(&self) -> Vec<Value> {
        records::of(&self.folder.join("out.jsonl")).collect()
    }

    fn tell(&self, line: &Value) -> Result<(), Trouble> {
        files::append_line(&self.folder.join("out.jsonl"), &line.to_string())
            .map_err(|error| Trouble::Away(format!("{error:#}")))
    }

    /// The next trouble that was asked for of this operation, and whether what was asked happens all the same.
    fn trouble(&self, of: &str) -> Option<(Trouble, bool)> {
        let path = self.folder.join("trouble.jsonl");
        let lines: Vec<Value> = records::of(&path).collect();
        let at = lines.iter().position(|line| text(line, "op") == of)?;
        let line = lines.get(at)?.clone();
        let rest = lines.iter().enumerate().filter(|(nth, _)| *nth != at || field(&line, "always"));
        let rest: String = rest.map(|(_, line)| format!("{line}\n")).collect();
        files::replace(&path, rest.as_bytes()).ok()?;
        let why = text(&line, "why").to_owned();
        let trouble = match text(&line, "kind") {
            "slower" => Trouble::Slower(Duration::from_millis(field(&line, "ms"))),
            "doubtful" => Trouble::Doubtful(why),
            "form" => Trouble::Form(why),
            "refused" => Trouble::Refused(why),
            "revoked" => Trouble::Revoked(why),
            "elsewhere" => Trouble::Elsewhere(why),
            _ => Trouble::Away(why),
        };
        Some((trouble, field(&line, "happens")))
    }

    fn fails(&self, of: &str) -> Result<(), Trouble> {
        self.trouble(of).map_or(Ok(()), |(trouble, _)| Err(trouble))
    }

    fn line(&self, op: &str, message: &Message, id: &str) -> Value {
        let file = message.file.as_ref().map(|file| {
            json!({"name": file.name, "bytes": file.bytes.len(), "text": String::from_utf8_lossy(&file.bytes)})
        });
        json!({"op": op, "chat": message.chat.id, "thread": message.chat.thread, "text": message.text,
            "form": format!("{:?}", message.form), "buttons": message.buttons, "file": file, "key": message.key,
            "message": id})
    }

    fn within(&self, message: &Message) -> Result<(), Trouble> {
        let length = format::length(&message.text, self.limits.unit);
        if length > self.limits.text || (length == 0 && message.file.is_none()) {
            return Err(Trouble::Refused(format!("a message of {length} is not taken")));
        }
        Ok(())
    }
}

#[async_trait]
impl Channel for Loopback {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    async fn connect(&self, after: Option<&Value>) -> Result<Known, Trouble> {
        self.fails("connect")?;
        self.step("connect");
        let acknowledged =
            files::read_small(&self.folder.join("acknowledged")).ok().flatten().unwrap_or_default();
        let acknowledged: usize = String::from_utf8_lossy(&acknowledged).trim().parse().unwrap_or(0);
        let after = after.map_or(0, |after| field::<u64>(after, "line"));
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        if let Ok(mut at) = self.at.lock() {
            *at = acknowledged.min(after);
        }
        Ok(Known { id: "feral".into(), name: "@feral_bot".into() })
    }

    async fn receive(&self) -> Result<Batch, Trouble> {
        loop {
            self.fails("receive")?;
            let from = self.at.lock().map(|at| *at).unwrap_or_default();
            let said = self.said();
            let new: Vec<Heard> = said.iter().skip(from).take(BATCH).filter_map(heard).collect();
            let to = said.len().min(from + BATCH);
            if to > from {
                if let Ok(mut at) = self.at.lock() {
                    *at = to;
                }
                self.step("receive");
                return Ok(Batch { heard: new, cursor: json!({"line": to}) });
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn acknowledge(&self, upto: &Value) -> Result<(), Trouble> {
        self.step("before_acknowledge");
        self.fails("acknowledge")?;
        let line: u64 = field(upto, "line");
        files::replace(&self.folder.join("acknowledged"), line.to_string().as_bytes())
            .map_err(|error| Trouble::Away(format!("{error:#}")))?;
        self.step("after_acknowledge");
        Ok(())
    }

    async fn send(&self, message: &Message) -> Result<Sent, Trouble> {
        self.step("before_send");
        tokio::time::sleep(self.send).await;
        self.within(message)?;
        let trouble = self.trouble("send");
        if let Some((trouble, false)) = trouble {
            return Err(trouble);
        }
        let sent = self.sent();
        let same = |line: &&Value| self.limits.keys.is_some() && text(line, "key") == message.key;
        let id = match sent.iter().find(same) {
            Some(line) => text(line, "message").to_owned(),
            None => {
                let id = format!("sent-{}", sent.len());
                self.tell(&self.line("send", message, &id))?;
                id
            }
        };
        self.step("after_send");
        trouble.map_or(Ok(Sent { message: id }), |(trouble, _)| Err(trouble))
    }

    async fn edit(&self, sent: &str, message: &Message) -> Result<(), Trouble> {
        self.within(message)?;
        self.fails("edit")?;
        self.tell(&self.line("edit", message, sent))
    }

    async fn answer(&self, press: &Press, told: &str) -> Result<(), Trouble> {
        self.fails("answer")?;
        self.tell(&json!({"op": "answer", "data": press.data, "text": told}))
    }

    async fn typing(&self, chat: &Chat) -> Result<(), Trouble> {
        self.tell(&json!({"op": "typing", "chat": chat.id}))
    }

    async fn fetch(&self, file: &Attached, most: u64) -> Result<Vec<u8>, Trouble> {
        self.fails("fetch")?;
        // As platforms do, it names a file and keeps what is in it.
        let said = self.said();
        let of = said.iter().find(|line| text(line, "id") == text(&file.place, "id"));
        let nth = usize::try_from(field::<u64>(&file.place, "nth")).unwrap_or_default();
        let held = of.and_then(|line| field::<&[Value]>(line, "files").get(nth));
        let held = held.ok_or_else(|| Trouble::Refused("there is no such file".into()))?;
        // A file that comes when another one lies in the folder.
        let until = text(held, "until");
        while !until.is_empty() && !self.folder.join(until).exists() {
            tokio::time::sleep(LOOK).await;
        }
        let bytes = text(held, "text").as_bytes().to_vec();
        if bytes.len() as u64 > most { Err(Trouble::Refused("it is too large".into())) } else { Ok(bytes) }
    }
}

/// A happening, of the line that tells it.
fn heard(line: &Value) -> Option<Heard> {
    let said = |name: &str| text(line, name).to_owned();
    let files = field::<&[Value]>(line, "files").iter().enumerate().map(|(nth, file)| Attached {
        name: text(file, "name").to_owned(),
        bytes: field(file, "bytes"),
        place: json!({"id": text(line, "id"), "nth": nth}),
    });
    let message = if said("message").is_empty() { said("id") } else { said("message") };
    let word = |text: String| Word {
        message: message.clone(),
        text,
        files: files.collect(),
        is_addressed: field(line, "addressed"),
    };
    let has = |name: &str| line.get(name).is_some();
    let what = match () {
        () if has("word") => What::Word(word(said("word"))),
        () if has("edited") => What::Edited(word(said("edited"))),
        () if has("deleted") => What::Deleted { message: said("deleted") },
        () if has("unread") => What::Unread { why: said("unread") },
        () if has("press") => What::Press(Press { data: said("press"), message, reply: Value::Null }),
        () => return None,
    };
    let chat = Chat {
        id: said("chat"),
        thread: field::<Option<&str>>(line, "thread").map(str::to_owned),
        is_private: !field::<bool>(line, "group"),
    };
    let from = Person { id: said("from"), name: said("name"), is_bot: field(line, "bot") };
    Some(Heard { id: said("id"), at_ms: field(line, "at_ms"), chat, from, what })
}

/// Opens each channel of `NAME=FOLDER` words.
pub fn opened(words: &[String]) -> Result<Vec<(String, PathBuf, Loopback)>> {
    let each = words.iter().map(|word| {
        let (name, folder) = word.split_once('=').context("wants NAME=FOLDER")?;
        let folder = PathBuf::from(folder);
        Ok((name.to_owned(), folder.clone(), Loopback::open(folder)?))
    });
    each.collect()
}
