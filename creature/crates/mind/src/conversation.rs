//! A conversation with a model: what was said, thought and done, append-only in one file, whole after any end.
//!
//! Invariant: what was put to a model is never changed; a call has one result, also where a life was killed meanwhile.

use agenda::standing::redact;
use ground::files;
use model::{Answer, Turn};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes of a file; a longer conversation is begun anew.
pub(super) const MOST_BYTES: u64 = 32 << 20;

/// Conversations kept; the one whose file changed longest ago goes first.
const MOST_KEPT: usize = 24;

/// Bytes per token, before the model has counted its tokens.
const BYTES_A_TOKEN: f64 = 3.5;

/// The mark in `shown` of a line that no thought has answered yet.
pub const UNANSWERED: &str = "just";

/// Head of a conversation: another model, system or list of tools begins another conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// The owner's thread of talk; none for the creature's own work.
    pub thread: Option<String>,
    pub model: String,
    /// Hash of all the model is given before the turns, and of how it is reached.
    pub fingerprint: String,
    /// Bytes of system and tools.
    #[serde(default)]
    pub head_bytes: u64,
    /// This conversation continues another.
    #[serde(default)]
    pub taken_up: bool,
    /// Calls travel in a JSON thought, and their results as text.
    #[serde(default)]
    pub json: bool,
}

/// Line of a conversation's file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    Head {
        head: Head,
    },
    /// Words of ours, and a hash of each part of the situation they showed, by title.
    Said {
        text: String,
        life: u64,
        at_s: i64,
        #[serde(default)]
        shown: BTreeMap<String, String>,
    },
    /// Reply of the model, as it gave it; `tokens`: of the whole conversation up to its end.
    Thought {
        raw: Value,
        calls: Vec<Called>,
        tokens: u64,
        at_s: i64,
    },
    /// A call begins; where the life ends before it is `Done`, its outcome is unknown.
    Began {
        id: String,
    },
    Done {
        id: String,
        text: String,
        failed: bool,
    },
    /// The creature rested: nothing that it began waits to be continued.
    Rested,
}

/// A call as its conversation knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Called {
    pub id: String,
    pub tool: String,
}

/// A call that waits for its result.
#[derive(Clone, Debug)]
struct Open {
    call: Called,
    began: bool,
    done: Option<Answer>,
}

/// Conversation, as its file has it.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    path: PathBuf,
    pub head: Head,
    pub turns: Vec<Turn>,
    /// Hash of what was last shown of each part of the situation, by title; mark of each line, by hash.
    pub shown: BTreeMap<String, String>,
    open: Vec<Open>,
    /// Tokens up to the end of the first thought.
    first_tokens: Option<u64>,
    /// Tokens up to the end of the last thought, and bytes since.
    tokens: u64,
    bytes_since: u64,
    /// Time at which something was last put to the model, and by which life.
    pub at_s: i64,
    /// Time at which it began.
    pub began_s: i64,
    pub life: u64,
    rested: bool,
    /// The last thought's results are there, and no thought has followed.
    returned: bool,
    /// Oddity of the server that answered last, for the owner; empty where all is well.
    pub server_oddity: String,
    /// The model was told that a reply could not be read, and has given none since that could.
    pub misread: bool,
    /// Words put behind the last of the results that are awaited.
    pub note: String,
}

impl Conversation {
    /// Begins a conversation in place of what the file held; `first` is written with it at once.
    pub fn begin(path: PathBuf, head: Head, first: Vec<Entry>) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            clear(folder, fs::Metadata::is_dir)?;
            fs::create_dir_all(folder)?;
            clear(&path, fs::Metadata::is_file)?;
            prune(folder, &path);
        }
        let mut new = Self::empty(path, head.clone());
        let mut lines = line(&Entry::Head { head })?;
        for entry in first {
            lines.extend(line(&entry)?);
            new.take(entry).ok_or_else(odd)?;
        }
        memory::replace(&new.path, &lines).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(new)
    }

    fn empty(path: PathBuf, head: Head) -> Self {
        Self { path, bytes_since: head.head_bytes, head, rested: true, ..Self::default() }
    }

    /// Reads a conversation; a torn last line is cut off. None where there is none, or none that can be continued.
    pub fn load(path: &Path) -> Option<Self> {
        let bytes = files::whole(path, MOST_BYTES).ok()?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut lines = bytes.get(..whole)?.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let Ok(Entry::Head { head }) = serde_json::from_slice(lines.next()?) else { return None };
        let mut read = Self::empty(path.to_path_buf(), head);
        for line in lines {
            read.take(serde_json::from_slice(line).ok()?)?;
        }
        if whole < bytes.len() {
            files::open_with(OpenOptions::new().write(true), path)
                .and_then(|file| file.set_len(whole as u64))
                .ok()?;
        }
        Some(read)
    }

    /// Writes an entry down that follows from those before; after an error neither file nor conversation has it.
    pub fn add(&mut self, entry: Entry) -> io::Result<()> {
        let line = line(&entry)?;
        let mut file = files::open_with(OpenOptions::new().append(true), &self.path)?;
        let before = file.metadata()?.len();
        let written = file.write_all(&line).and_then(|()| file.sync_data());
        let kept = written.and_then(|()| self.take(entry).ok_or_else(odd));
        if kept.is_err() {
            // Half a line would make the whole file unreadable with the next one.
            let _ = file.set_len(before);
        }
        kept
    }

    /// Applies an entry; none, and nothing is changed, where it does not follow from those before.
    fn take(&mut self, entry: Entry) -> Option<()> {
        match entry {
            Entry::Head { .. } => return None,
            Entry::Said { text, life, at_s, shown } => {
                if !self.open.is_empty() {
                    return None;
                }
                self.bytes_since += text.len() as u64;
                (self.life, self.at_s, self.rested) = (life, at_s, false);
                self.began_s = if self.turns.is_empty() { at_s } else { self.began_s };
                self.shown.extend(shown);
                self.turns.push(Turn::Said { text });
            }
            Entry::Thought { raw, calls, tokens, at_s } => {
                if !self.open.is_empty() || self.turns.is_empty() {
                    return None;
                }
                self.open = calls.into_iter().map(|call| Open { call, began: false, done: None }).collect();
                self.first_tokens.get_or_insert(tokens);
                (self.tokens, self.bytes_since, self.at_s, self.returned) = (tokens, 0, at_s, false);
                // What was said is answered: the same words, said again, are new.
                self.shown.values_mut().filter(|mark| *mark == UNANSWERED).for_each(String::clear);
                self.turns.push(Turn::Thought { raw });
            }
            Entry::Began { id } => self.open.iter_mut().find(|open| open.call.id == id)?.began = true,
            Entry::Done { id, text, failed } => {
                let open = self.open.iter_mut().find(|open| open.call.id == id && open.done.is_none())?;
                self.bytes_since += text.len() as u64;
                open.done = Some(Answer { id, text, failed });
                if self.open.iter().all(|open| open.done.is_some()) {
                    let open = std::mem::take(&mut self.open);
                    self.turns.push(match self.head.json {
                        true => Turn::Said { text: in_words(&open) },
                        false => {
                            Turn::Results { results: open.into_iter().filter_map(|open| open.done).collect() }
                        }
                    });
                    self.returned = true;
                }
            }
            Entry::Rested => self.rested = true,
        }
        Some(())
    }

    /// Writes down that a call begins; nothing where no call of this id waits.
    pub fn began(&mut self, id: &str) -> io::Result<()> {
        if self.waits(id) { self.add(Entry::Began { id: id.to_owned() }) } else { Ok(()) }
    }

    /// Writes down a call's result as the model reads it, without what looks like a secret.
    pub fn done(&mut self, id: &str, shown: &str, failed: bool) -> io::Result<()> {
        if !self.waits(id) {
            return Ok(());
        }
        let mut text = redact(shown.trim_end());
        if self.open.iter().filter(|open| open.done.is_none()).count() == 1 {
            text += &std::mem::take(&mut self.note);
        }
        if text.is_empty() {
            text = "(nothing)".to_owned();
        }
        self.add(Entry::Done { id: id.to_owned(), text, failed })
    }

    /// Gives each call that an earlier life left open a result: not run, or of unknown outcome.
    pub fn close(&mut self) -> io::Result<()> {
        let left: Vec<(String, bool)> = self
            .open
            .iter()
            .filter(|open| open.done.is_none())
            .map(|open| (open.call.id.clone(), open.began))
            .collect();
        for (id, began) in left {
            let text = match began {
                true => {
                    "outcome unknown: the life that made this call ended while it ran. Look at what is there before you do it again."
                }
                false => {
                    "not run: something ended before it was its turn. Call it again if it is still needed."
                }
            };
            self.add(Entry::Done { id, text: text.to_owned(), failed: true })?;
        }
        Ok(())
    }

    /// Whether a call waits for its result.
    pub fn waits(&self, id: &str) -> bool {
        self.open.iter().any(|open| open.call.id == id && open.done.is_none())
    }

    /// Whether calls or results of the last thought wait, and the creature has not rested since.
    pub fn is_unfinished(&self) -> bool {
        !self.rested && (!self.open.is_empty() || self.returned)
    }

    /// Whether the model has something to answer to.
    pub fn is_turn_of_model(&self) -> bool {
        self.open.is_empty() && matches!(self.turns.last(), Some(Turn::Said { .. } | Turn::Results { .. }))
    }

    /// Tokens up to the end of the first thought; none before that.
    pub fn first_tokens(&self) -> Option<u64> {
        self.first_tokens
    }

    /// Tokens of the next request, estimated from bytes since the last thought.
    pub fn tokens(&self) -> u64 {
        self.tokens + estimate(self.bytes_since)
    }
}

/// The results of calls as one text, each under its tool's name.
fn in_words(open: &[Open]) -> String {
    let told = |open: &Open| {
        let text = open.done.as_ref().map(|done| done.text.as_str()).unwrap_or_default();
        format!("## {}\n{text}\n\n", open.call.tool)
    };
    format!("{RESULTS_HEAD}\n\n{}", open.iter().map(told).collect::<String>())
}

/// Heads the results of calls that travel in a JSON thought.
pub const RESULTS_HEAD: &str = "# What came of your calls, in their order";

/// Tokens of so many bytes, estimated.
pub fn estimate(bytes: u64) -> u64 {
    // Byte counts are far below what a float holds exactly.
    (bytes as f64 / BYTES_A_TOKEN).ceil() as u64
}

fn odd() -> io::Error {
    io::Error::other("an entry that does not follow from those before")
}

fn line(entry: &Entry) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    Ok(line)
}

/// The file of a thread's conversation; that of the creature's own work where there is no thread.
pub fn file(folder: &Path, thread: Option<&str>) -> PathBuf {
    let Some(thread) = thread else { return folder.join("work.jsonl") };
    let plain: String = thread.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
    let exact = plain == thread && thread.chars().all(|letter| !letter.is_ascii_uppercase());
    let mark = if exact { String::new() } else { format!("-{}", fingerprint(&[thread])) };
    folder.join(format!("talk-{plain}{mark}.jsonl"))
}

/// A hash of several texts and where each ends, as 16 hex digits.
pub fn fingerprint(texts: &[&str]) -> String {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0xff]));
    format!("{:016x}", ground::text::hash(&bytes.collect::<Vec<u8>>()))
}

/// Moves aside what lies at `path` and is not of the right kind.
fn clear(path: &Path, is_right: impl Fn(&fs::Metadata) -> bool) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !is_right(&found) => memory::set_aside(path),
        _ => Ok(()),
    }
}

/// Deletes the conversations above `MOST_KEPT` that changed longest ago, never `spared`.
fn prune(folder: &Path, spared: &Path) {
    let mut found: Vec<_> = files::entries(folder)
        .filter(|entry| entry.path() != spared)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    found.sort();
    let over = (found.len() + 1).saturating_sub(MOST_KEPT);
    for (_, path) in found.into_iter().take(over) {
        let _ = files::remove(&path);
    }
}
