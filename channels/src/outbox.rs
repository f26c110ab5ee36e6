//! Messages to be sent: kept before they are, a synced line a step, until the platform took them or their fate is unknown.
//!
//! Invariant: a key is queued once; `sending` stands before each send. Found so after an end, the fate is unknown.

use crate::channel::{Button, Chat};
use anyhow::Result;
use house::{bounds, clock, files};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::PathBuf;

/// Most bytes of the file that are read: more than all channels may have waiting. Bytes from which on it is written anew, and
/// keys that are known for longer.
const MOST_BYTES: u64 = 512 << 20;
const LARGE_BYTES: u64 = 4 << 20;
const MOST_KEYS: usize = 4_000;
/// Messages of a channel that wait; beyond them, what nobody asked for is left out.
const MOST_WAITING: usize = 2_000;
/// Bytes of them; beyond these only the beginning of a message is kept.
const FULL_BYTES: usize = 16 << 20;
const BEGINNING: usize = 200;

/// Purpose of a message; an answer is never left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The creature's word.
    Answer,
    /// Reply to a command, or to whatever else the owner did.
    Reply,
    Ask,
    Notice,
    /// Lines on acts, by verbosity.
    Acts,
    /// That one before may not have arrived.
    Doubt,
    /// To somebody who is not the owner.
    Refusal,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Reply => "reply",
            Self::Ask => "ask",
            Self::Notice => "notice",
            Self::Acts => "acts",
            Self::Doubt => "doubt",
            Self::Refusal => "refusal",
        }
    }
}

/// A file that goes with a message: read when it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enclosed {
    /// By its path in the workspace.
    Workspace(String),
    /// The exact bytes of an ask, as long as they have this digest.
    Ask {
        id: String,
        digest: String,
    },
    Text {
        name: String,
        text: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    pub key: String,
    pub channel: String,
    pub chat: Chat,
    pub kind: Kind,
    /// When what it says was said.
    pub at: String,
    /// Markdown; where `is_plain`, as it stands.
    pub text: String,
    #[serde(default)]
    pub is_plain: bool,
    #[serde(default)]
    pub buttons: Vec<Button>,
    #[serde(default)]
    pub enclosed: Option<Enclosed>,
    /// The message of ours that it replaces.
    #[serde(default)]
    pub edits: Option<String>,
}

impl Item {
    fn bytes(&self) -> usize {
        let enclosed = match &self.enclosed {
            Some(Enclosed::Text { text, .. }) => text.len(),
            _ => 0,
        };
        self.text.len() + enclosed
    }

    /// Leaves its beginning.
    fn cut(&mut self) {
        self.text = format!(
            "{} (too much waits to be sent here for all of it; it stands in the window and on the page)",
            bounds::brief(&self.text, BEGINNING)
        );
        self.enclosed = None;
    }
}

/// A step of a message, as a line has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    Queued {
        item: Box<Item>,
    },
    Sending {
        key: String,
    },
    /// Nothing of it happened: it waits again; `is_plain`: without formatting from now on.
    Waits {
        key: String,
        #[serde(default)]
        is_plain: bool,
    },
    Sent {
        key: String,
        message: String,
    },
    Doubtful {
        key: String,
        why: String,
    },
    Refused {
        key: String,
        why: String,
    },
    /// Keys of messages that are over, when the file was written anew.
    Over {
        keys: Vec<String>,
    },
}

/// A message that is not over.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub item: Item,
    pub is_sending: bool,
}

pub struct Outbox {
    path: PathBuf,
    waiting: BTreeMap<String, VecDeque<Entry>>,
    keys: HashSet<String>,
    over: VecDeque<String>,
    bytes: u64,
    /// Length at which the file is written anew: twice what had to stay, so that a long queue is not written at each step.
    large: u64,
}

impl Outbox {
    pub fn load(path: PathBuf) -> Result<Self> {
        let bytes = files::read_most(&path, MOST_BYTES)?.unwrap_or_default();
        let mut outbox = Self {
            path,
            waiting: BTreeMap::new(),
            keys: HashSet::new(),
            over: VecDeque::new(),
            bytes: bytes.len() as u64,
            large: LARGE_BYTES,
        };
        // A line that was torn by an end was never acted upon.
        let steps = bytes.split(|byte| *byte == b'\n').filter_map(bounds::read);
        steps.filter_map(|step| serde_json::from_value(step).ok()).for_each(|step| outbox.take(step));
        if !bytes.is_empty() {
            outbox.write_anew()?;
        }
        Ok(outbox)
    }

    /// Keeps a message that is to be sent, unless it was kept before; whether it is new.
    pub fn queue(&mut self, mut item: Item) -> Result<bool> {
        let waiting = self.waiting.get(&item.channel).map_or(0, VecDeque::len);
        let bytes: usize = self.waiting(&item.channel).map(|entry| entry.item.bytes()).sum();
        if bytes > FULL_BYTES && item.bytes() > BEGINNING {
            item.cut();
        }
        let is_left_out =
            waiting >= MOST_WAITING && matches!(item.kind, Kind::Notice | Kind::Acts | Kind::Refusal);
        if is_left_out || self.keys.contains(&item.key) {
            return Ok(false);
        }
        self.step(Step::Queued { item: Box::new(item) })?;
        Ok(true)
    }

    /// Keeps a step, synced, then takes it in.
    pub fn step(&mut self, step: Step) -> Result<()> {
        let mut line = serde_json::to_value(&step)?;
        if let Some(fields) = line.as_object_mut() {
            fields.insert("when".to_owned(), json!(clock::stamp()));
        }
        let line = line.to_string();
        files::append_line(&self.path, &line)?;
        self.bytes += line.len() as u64 + 1;
        self.take(step);
        if self.bytes > self.large { self.write_anew() } else { Ok(()) }
    }

    /// The next message of a channel.
    pub fn next(&self, channel: &str) -> Option<&Entry> {
        self.waiting.get(channel)?.front()
    }

    /// The messages of a channel that wait.
    pub fn waiting(&self, channel: &str) -> impl Iterator<Item = &Entry> {
        self.waiting.get(channel).into_iter().flatten()
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Queued { item } => {
                if self.keys.insert(item.key.clone()) {
                    let channel = self.waiting.entry(item.channel.clone()).or_default();
                    channel.push_back(Entry { item: *item, is_sending: false });
                }
            }
            Step::Sending { key } => self.each(&key, |entry| entry.is_sending = true),
            Step::Waits { key, is_plain } => self.each(&key, |entry| {
                entry.is_sending = false;
                entry.item.is_plain |= is_plain;
            }),
            Step::Sent { key, .. } | Step::Doubtful { key, .. } | Step::Refused { key, .. } => self.end(key),
            Step::Over { keys } => keys.into_iter().for_each(|key| self.end(key)),
        }
    }

    fn each(&mut self, key: &str, change: impl Fn(&mut Entry)) {
        self.waiting.values_mut().flatten().filter(|entry| entry.item.key == key).for_each(change);
    }

    fn end(&mut self, key: String) {
        self.waiting.values_mut().for_each(|entries| entries.retain(|entry| entry.item.key != key));
        self.keys.insert(key.clone());
        self.over.push_back(key);
        while self.over.len() > MOST_KEYS {
            self.over.pop_front().into_iter().for_each(|key| _ = self.keys.remove(&key));
        }
    }

    /// Writes the file anew, without what is over but for its keys.
    fn write_anew(&mut self) -> Result<()> {
        let over = Step::Over { keys: self.over.iter().cloned().collect() };
        let waiting = self.waiting.values().flatten().flat_map(|entry| {
            let queued = Step::Queued { item: Box::new(entry.item.clone()) };
            let sending = entry.is_sending.then(|| Step::Sending { key: entry.item.key.clone() });
            std::iter::once(queued).chain(sending)
        });
        let mut text = String::new();
        for step in std::iter::once(over).chain(waiting) {
            text.push_str(&serde_json::to_string(&step)?);
            text.push('\n');
        }
        files::replace(&self.path, text.as_bytes())?;
        self.bytes = text.len() as u64;
        self.large = LARGE_BYTES.max(self.bytes * 2);
        Ok(())
    }
}
