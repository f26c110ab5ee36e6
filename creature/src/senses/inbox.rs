//! The owner's words: reads what is new in `.self/inbox.jsonl`, wherever that file came from.
//!
//! Invariant: a word is rather heard twice than lost: a cursor that may belong to another file is dropped.

use super::papers;
use crate::mind::moment::{Word, main_thread};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bytes of new words read at once; of more, the newest.
const MOST_BYTES: u64 = 256 * 1024;

/// Characters of one message that are kept.
const MOST_CHARS: usize = 8_000;

/// Characters of the name of a thread.
const MOST_THREAD: usize = 64;

/// Messages taken at once; of more, the newest.
const MOST_WORDS: usize = 50;

/// Bytes before the offset that tell a file from another.
const MARK_BYTES: u64 = 256;

/// A last line without a newline is taken once the file is this old; until then it may still grow.
const SETTLED_MS: i64 = 250;

/// Where reading stopped, and in which file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboxCursor {
    pub offset: u64,
    pub inode: u64,
    /// Of what stands just before the offset.
    pub mark: String,
    pub modified_ms: i64,
}

/// What reading brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    pub words: Vec<Word>,
    /// What could not be taken as words, in one sentence; empty when all could.
    pub odd: String,
}

/// Reads the words after the cursor and moves it behind them.
pub fn read(path: &Path, cursor: &mut InboxCursor) -> Heard {
    let (bytes, skipped) = fresh(path, cursor);
    let mut heard = hear(&bytes);
    heard.odd = format!("{skipped} {}", heard.odd).trim().to_owned();
    heard
}

/// Bytes of the lines after the cursor, which is moved behind them, and a sentence on what could not be read.
pub(super) fn fresh(path: &Path, cursor: &mut InboxCursor) -> (Vec<u8>, String) {
    match read_new(path, cursor) {
        Ok(read) => read,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
        Err(error) => (Vec::new(), format!("{} cannot be read: {error}", named(path))),
    }
}

fn named(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read_new(path: &Path, cursor: &mut InboxCursor) -> io::Result<(Vec<u8>, String)> {
    let found = std::fs::metadata(path)?;
    let modified_ms = found.mtime() * 1_000 + found.mtime_nsec() / 1_000_000;
    let same = same_file(path, cursor, found.len(), found.ino(), modified_ms)?;
    let from = if same { cursor.offset } else { 0 };
    if same && found.len() == from {
        return Ok(Default::default());
    }
    let start = from.max(found.len().saturating_sub(MOST_BYTES));
    let (mut bytes, size) = papers::head(path, start, MOST_BYTES)?;
    let now_ms = jiff::Timestamp::now().as_millisecond();
    if now_ms.saturating_sub(modified_ms) < SETTLED_MS {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // One line longer than all that is read at once will not get whole by waiting.
        if whole > 0 || (bytes.len() as u64) < MOST_BYTES {
            bytes.truncate(whole);
        }
    }
    let skipped = match start > from {
        true => format!("{} of the {size} bytes of {} were skipped", start - from, named(path)),
        false => String::new(),
    };
    let offset = start + bytes.len() as u64;
    let mark = mark(path, offset)?;
    *cursor = InboxCursor { offset, inode: found.ino(), mark, modified_ms };
    Ok((bytes, skipped))
}

/// Whether the cursor was made in this very file, and what is before it still stands.
fn same_file(path: &Path, cursor: &InboxCursor, len: u64, inode: u64, modified_ms: i64) -> io::Result<bool> {
    if cursor.offset == 0 || len < cursor.offset || mark(path, cursor.offset)? != cursor.mark {
        return Ok(false);
    }
    // An editor saves into a new file that begins as the old one did; a rotated file is short and new.
    let grown = len > cursor.offset;
    let untouched = len == cursor.offset && modified_ms == cursor.modified_ms;
    Ok(match inode == cursor.inode {
        true => grown || untouched,
        false => cursor.offset >= MARK_BYTES,
    })
}

fn mark(path: &Path, offset: u64) -> io::Result<String> {
    let start = offset.saturating_sub(MARK_BYTES);
    let (bytes, _) = papers::head(path, start, offset - start)?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

/// Reads lines as words: `{"at","text","thread"}`, a JSON string, or bare text. Pure.
pub fn hear(bytes: &[u8]) -> Heard {
    let mut heard = Heard::default();
    let mut garbage = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        match word(line) {
            Some(word) => heard.words.push(word),
            None => garbage += 1,
        }
    }
    let over = heard.words.len().saturating_sub(MOST_WORDS);
    heard.words.drain(..over);
    let mut odd = Vec::new();
    if garbage > 0 {
        odd.push(format!("{garbage} line(s) of the inbox are not words"));
    }
    if over > 0 {
        odd.push(format!("{over} older messages of the inbox were passed over"));
    }
    heard.odd = odd.join("; ");
    heard
}

fn word(line: &[u8]) -> Option<Word> {
    let text = std::str::from_utf8(line).ok()?;
    let (at, text, thread) = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(said)) => {
            let word = |key: &str| said.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            (word("at"), said.get("text").and_then(Value::as_str)?.to_owned(), word("thread"))
        }
        Ok(Value::String(said)) => (String::new(), said, String::new()),
        // What only looks like JSON is still what the owner typed.
        _ => (String::new(), text.to_owned(), String::new()),
    };
    if text.trim().is_empty() || text.chars().any(|c| c.is_control() && !"\n\r\t".contains(c)) {
        return None;
    }
    let at: String = at.chars().take(40).collect();
    let text = text.trim().chars().take(MOST_CHARS).collect();
    let plain = |letter: &char| letter.is_alphanumeric() || "-_.".contains(*letter);
    let thread: String = thread.chars().filter(plain).take(MOST_THREAD).collect();
    Some(Word { at, text, thread: if thread.is_empty() { main_thread() } else { thread } })
}
