//! Cursors: what the loop has already seen, counted and told, kept between lives.
//!
//! Invariant: a lost or garbage file costs repetition at worst, never a life: counts come back from memory.

use super::inbox::InboxCursor;
use ground::files;
use ground::text::{keep_last, shorten};
use memory::Record;
use mind::moment::Word;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Bytes of the file that are read; everything it may hold at its longest fits.
const MOST_BYTES: u64 = 16 << 20;

/// Most keys kept in `told`; the guardian shows eight ends and eight falls.
const MOST_TOLD: usize = 64;

/// Events kept until a thought has them; of more, the oldest are only counted.
const MOST_NEWS: usize = 256;

/// Characters of one event.
const MOST_EVENT: usize = 1_200;

/// Thoughts after which an unanswered word is taken for unanswerable.
const MOST_SEEN: u32 = 10;

/// Bytes of the words that wait for an answer; past this the oldest are passed over.
const MOST_WAITING: usize = 1 << 20;

/// Cursors kept between lives, replaced whole: a part for each stage that moves it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cursors {
    #[serde(flatten)]
    pub counts: Counts,
    #[serde(flatten)]
    pub owner: OwnersWord,
    #[serde(flatten)]
    pub events: Events,
    #[serde(flatten)]
    pub papers: KnownPapers,
    /// Fields that a newer creature keeps here; written back, so that a rollback does not lose them.
    #[serde(flatten)]
    pub newer: Map<String, Value>,
}

/// Counts over all lives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    pub wakes: u64,
    /// Readable thoughts.
    pub thoughts: u64,
    /// `thoughts` when the last snapshot was written.
    pub snapshot_at: u64,
}

/// Position up to which the inbox was heard, and its words that wait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnersWord {
    pub inbox: InboxCursor,
    /// The owner's words not yet answered.
    pub words: Vec<Waiting>,
    /// Work that the owner's word interrupted, until it is taken up again.
    pub interrupted: Option<Interrupted>,
}

/// Events to tell to thoughts, and marks of what was told to anyone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Events {
    pub asks: InboxCursor,
    /// Position in what MCP servers tell.
    pub servers: InboxCursor,
    /// Keys of the ends, falls, outcomes of asks and reports of sub-sessions that were told.
    pub told: Vec<String>,
    /// Events that no thought has had yet, oldest first.
    pub news: Vec<String>,
    /// Number of events there was no room to keep.
    pub gathered: u64,
    /// The day (UTC, `YYYY-MM-DD`) on which the owner was last told that the money runs short.
    pub money_told: String,
}

/// Marks of papers already noticed, and when items of the checklist are due.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KnownPapers {
    /// Mark of the PURPOSE.md last noticed; empty before the first.
    pub purpose: String,
    /// Mark of the checklist a thought was last shown; empty before the first.
    pub checklist: String,
    /// Recurring items of the checklist, and when each is due, in seconds since 1970.
    pub items: BTreeMap<String, i64>,
}

/// A word of the owner's that waits for an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    #[serde(flatten)]
    pub word: Word,
    /// Thoughts that have seen it.
    #[serde(default)]
    pub seen: u32,
    /// Marks of the outages for which the owner was told that it waits.
    #[serde(default)]
    pub told: Vec<String>,
    /// Its id in memory, until it is remembered and taken in; then empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
}

impl Waiting {
    /// A word just heard.
    pub fn new(word: Word) -> Self {
        Self { word, seen: 0, told: Vec::new(), id: String::new() }
    }
}

/// A word of the owner's that stands in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    pub word: Word,
    /// The creature answered on its thread since.
    pub answered: bool,
    /// Its id in memory; empty in records of older creatures.
    pub id: String,
    /// An equal word in the inbox is this one, not the same said again.
    pub is_same_if_equal: bool,
}

/// Work that waits while the owner is answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Interrupted {
    pub at: String,
    /// Next step that the interrupted thought intended.
    pub what: String,
    /// Words of the owner.
    pub said: Vec<String>,
}

impl Cursors {
    /// Reads the file; what is wrong with it comes back as a sentence, with empty cursors.
    pub fn load(path: &Path) -> (Self, Option<String>) {
        let bytes = match files::head(path, 0, MOST_BYTES) {
            Ok((bytes, _)) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::lost(None),
            Err(error) => {
                let _ = memory::set_aside(path);
                return Self::lost(Some(format!("cannot be read: {error}")));
            }
        };
        match serde_json::from_slice(&bytes) {
            Ok(cursors) => (cursors, None),
            Err(error) => {
                // The next save replaces the file; a failure to set this one aside costs no life.
                let _ = memory::set_aside(path);
                Self::lost(Some(format!("is garbage: {error}")))
            }
        }
    }

    fn lost(why: Option<String>) -> (Self, Option<String>) {
        (Self::default(), why.map(|why| format!("cursors.json {why}; started afresh from memory")))
    }

    /// Replaces the file whole.
    pub fn save(&self, path: &Path) -> Result<(), memory::Error> {
        memory::state::write(path, self)
    }
}

impl Counts {
    /// Raises the counts to what memory proves: a crash may have come after a record and before the save.
    pub fn correct(&mut self, records: &[Record]) {
        let number = |data: &Value, key: &str| data.get(key).and_then(Value::as_u64).unwrap_or(0);
        for record in records {
            match record.kind.as_str() {
                "thought" if record.data.get("garbled").is_none() => {
                    self.thoughts = self.thoughts.max(number(&record.data, "thought"));
                    self.wakes = self.wakes.max(number(&record.data, "wake"));
                }
                "heartbeat" => {
                    self.thoughts = self.thoughts.max(number(&record.data, "thoughts"));
                    self.wakes = self.wakes.max(number(&record.data, "wake"));
                }
                "snapshot" => {
                    self.snapshot_at = self.snapshot_at.max(number(&record.data, "thoughts"));
                }
                _ => {}
            }
        }
    }

    /// The number of the next thought.
    pub fn next_thought(&self) -> u64 {
        self.thoughts.saturating_add(1)
    }

    /// Notes that a snapshot has all until now.
    pub fn summed_up(&mut self) {
        self.snapshot_at = self.thoughts;
    }
}

impl OwnersWord {
    /// Whether the owner said something that no thought has seen.
    pub fn is_unseen(&self) -> bool {
        self.words.iter().any(|waiting| waiting.seen == 0)
    }

    /// Whether a word on this thread that a thought has seen waits for an answer.
    pub fn awaits_answer(&self, thread: &str) -> bool {
        self.words.iter().any(|waiting| waiting.seen > 0 && waiting.word.thread == thread)
    }

    /// Takes off the words of a thread that were seen and are answered.
    pub fn answered(&mut self, thread: &str) {
        self.words.retain(|waiting| waiting.seen == 0 || waiting.word.thread != thread);
    }

    /// Counts a thought that was shown the words of a thread; those it is the last one for are passed over.
    pub fn shown(&mut self, thread: &str) {
        let shown = self.words.iter_mut().filter(|waiting| waiting.word.thread == thread);
        shown.for_each(|waiting| waiting.seen = waiting.seen.saturating_add(1));
        self.words.retain(|waiting| waiting.seen < MOST_SEEN);
    }

    /// Passes over the oldest words that wait, where there are more than are kept, but for the last; returns how many.
    pub fn pass_over(&mut self) -> usize {
        let mut bytes = 0;
        let is_over = |waiting: &Waiting| {
            bytes += waiting.word.text.len();
            bytes > MOST_WAITING
        };
        let over = self.words.iter().rev().position(is_over).map_or(0, |kept| self.words.len() - kept.max(1));
        self.words.drain(..over);
        over
    }
}

impl Events {
    pub fn has_told(&self, key: &str) -> bool {
        self.told.iter().any(|told| told == key)
    }

    /// Whether `key` was not told yet; from now on it is.
    pub fn first_telling(&mut self, key: String) -> bool {
        if self.told.contains(&key) {
            return false;
        }
        self.told.push(key);
        keep_last(&mut self.told, MOST_TOLD);
        true
    }

    /// Queues an event for the next thought that has room for it.
    pub fn tell(&mut self, event: impl Into<String>) {
        self.news.push(shorten(&event.into(), MOST_EVENT));
        let over = keep_last(&mut self.news, MOST_NEWS);
        self.gathered = self.gathered.saturating_add(over as u64);
    }

    /// Takes off the events that a thought had; what came while it thought stays.
    pub fn take_news(&mut self, shown: &[String]) {
        for event in shown {
            if let Some(at) = self.news.iter().rposition(|known| known == event) {
                self.news.remove(at);
            }
        }
        if self.news.is_empty() {
            self.gathered = 0;
        }
    }
}
