//! The owner's words: reads what is new in `.self/inbox.jsonl`, however that file is edited or replaced.
//!
//! Invariant: a line is heard once, however the file is edited, saved anew or cut; the same line added again is
//! another. A line of which nothing is known any more (the file was gone for a while, the cursor is an older
//! creature's) is rather heard twice than lost.

use ground::{files, text};
use mind::moment::{Word, main_thread};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
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

/// Bytes before the offset whose hash tells one file from another.
const MARK_BYTES: u64 = 256;

/// Lines whose hashes are kept, to tell which lines of an edited file are new; of more, the newest.
const MOST_LINES: usize = 1_000;

/// Milliseconds for which lines that vanished are still known: an editor may be saving the file.
const GONE_MS: i64 = 2_000;

/// Milliseconds since the last write after which a last line without a newline is taken; until then it may grow.
const SETTLED_MS: i64 = 250;

/// Position at which reading stopped, and its file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboxCursor {
    pub offset: u64,
    pub inode: u64,
    /// Hash of the bytes just before the offset.
    pub mark: String,
    pub modified_ms: i64,
    /// Hashes of the lines of the file as it was read, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// Hashes of lines that are in the file no longer, and when that was seen, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<(String, i64)>,
}

/// Words that reading brought, and its problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    pub words: Vec<Word>,
    /// Sentence on what could not be taken as words; empty when all could.
    pub problem: String,
}

/// Reads the words that were not heard yet.
pub fn read(path: &Path, cursor: &mut InboxCursor) -> Heard {
    read_at(path, cursor, jiff::Timestamp::now().as_millisecond())
}

/// Reads the words that were not heard yet at `now_ms`, in milliseconds since 1970.
pub fn read_at(path: &Path, cursor: &mut InboxCursor, now_ms: i64) -> Heard {
    match read_lines(path, cursor, now_ms) {
        Ok((bytes, skipped)) => {
            let mut heard = hear(&bytes);
            heard.problem = format!("{skipped} {}", heard.problem).trim().to_owned();
            heard
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            cursor.known(Vec::new(), now_ms);
            Heard::default()
        }
        Err(error) => {
            Heard { problem: format!("{} cannot be read: {error}", file_named(path)), ..Heard::default() }
        }
    }
}

/// The lines of the file's last `MOST_BYTES` that were not heard yet, and a sentence on what was passed over.
fn read_lines(path: &Path, cursor: &mut InboxCursor, now_ms: i64) -> io::Result<(Vec<u8>, String)> {
    let found = std::fs::metadata(path)?;
    let modified_ms = modified_ms(&found);
    if (found.ino(), found.len(), modified_ms) == (cursor.inode, cursor.offset, cursor.modified_ms) {
        return Ok(Default::default());
    }
    let same = same_file(path, cursor, found.len(), found.ino(), modified_ms)?;
    let start = found.len().saturating_sub(MOST_BYTES);
    let (mut bytes, size) = files::head_linked(path, start, MOST_BYTES)?;
    settled(&mut bytes, modified_ms, now_ms);
    let offset = start + bytes.len() as u64;
    let mut at = start;
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let from = at;
        at += line.len() as u64;
        (from, line.trim_ascii())
    });
    let lines: Vec<(u64, &[u8])> = lines.filter(|(_, line)| !line.is_empty()).collect();
    let marks: Vec<String> = lines.iter().map(|(_, line)| line_mark(line)).collect();
    let heard = match same && (start > 0 || cursor.lines.is_empty() || cursor.lines.len() >= MOST_LINES) {
        // Not all lines before the offset are known by their hashes: the lines behind it are new.
        true => lines.iter().map(|(from, _)| *from < cursor.offset).collect(),
        false => cursor.heard(&marks, start > 0, modified_ms),
    };
    let mut new = Vec::new();
    for ((_, line), _) in lines.iter().zip(heard).filter(|(_, heard)| !heard) {
        new.extend_from_slice(line);
        new.push(b'\n');
    }
    let from = if same { cursor.offset } else { 0 };
    let skipped = match start > from && (same || cursor.offset == 0) {
        true => format!("{} of the {size} bytes of {} were skipped", start - from, file_named(path)),
        false => String::new(),
    };
    let mark = mark(path, offset)?;
    cursor.known(marks, now_ms);
    // A file written a moment ago may change again within the clock's tick, with the same time and length.
    let is_old = now_ms.saturating_sub(modified_ms) >= SETTLED_MS;
    let modified_ms = if is_old { modified_ms } else { 0 };
    (cursor.offset, cursor.inode, cursor.mark, cursor.modified_ms) = (offset, found.ino(), mark, modified_ms);
    Ok((new, skipped))
}

impl InboxCursor {
    /// Says which of these lines were heard: of equal ones the first, as many as were known. `cut`: older lines of
    /// the file were not read.
    fn heard(&self, marks: &[String], cut: bool, modified_ms: i64) -> Vec<bool> {
        let mut known: HashMap<&str, usize> = HashMap::new();
        let saved = |at_ms: i64| modified_ms.saturating_sub(at_ms) < GONE_MS;
        let gone = self.gone.iter().filter(|(_, at_ms)| saved(*at_ms)).map(|(mark, _)| mark);
        for mark in self.lines.iter().chain(gone) {
            *known.entry(mark).or_default() += 1;
        }
        let mut is_heard = |mark: &String| match known.get_mut(mark.as_str()) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        };
        let mut heard: Vec<bool> = marks.iter().map(&mut is_heard).collect();
        if cut || self.lines.len() >= MOST_LINES {
            // Lines before the first known one were heard, and are known no longer.
            let first = heard.iter().position(|heard| *heard).unwrap_or(0);
            heard.iter_mut().take(first).for_each(|heard| *heard = true);
        }
        heard
    }

    /// Keeps the lines of the file as it is now, and for a while those that are in it no longer.
    fn known(&mut self, mut marks: Vec<String>, now_ms: i64) {
        let over = text::keep_last(&mut marks, MOST_LINES);
        let mut left: HashMap<&str, usize> = HashMap::new();
        for mark in &marks {
            *left.entry(mark).or_default() += 1;
        }
        let mut stays = |mark: &str| match left.get_mut(mark) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        };
        let before = std::mem::take(&mut self.lines).into_iter().map(|mark| (mark, now_ms));
        let all: Vec<(String, i64)> =
            before.filter(|_| over == 0).chain(std::mem::take(&mut self.gone)).collect();
        let recent = |at_ms: i64| (now_ms - GONE_MS..=now_ms).contains(&at_ms);
        self.gone = all.into_iter().filter(|(mark, at_ms)| !stays(mark) && recent(*at_ms)).collect();
        self.gone.truncate(MOST_LINES);
        self.lines = marks;
    }
}

/// The hash of a line, the same in every build of the creature.
fn line_mark(line: &[u8]) -> String {
    format!("{:016x}", text::hash(line))
}

fn modified_ms(found: &std::fs::Metadata) -> i64 {
    found.mtime() * 1_000 + found.mtime_nsec() / 1_000_000
}

/// Cuts off a last line that may still grow: a later read takes it.
fn settled(bytes: &mut Vec<u8>, modified_ms: i64, now_ms: i64) {
    if now_ms.saturating_sub(modified_ms) >= SETTLED_MS {
        return;
    }
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    // One line longer than all that is read at once will not get whole by waiting.
    if whole > 0 || (bytes.len() as u64) < MOST_BYTES {
        bytes.truncate(whole);
    }
}

/// Bytes of the lines after the cursor, which is moved behind them, and a sentence on what could not be read.
pub(super) fn fresh(path: &Path, cursor: &mut InboxCursor) -> (Vec<u8>, String) {
    match read_new(path, cursor) {
        Ok(read) => read,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
        Err(error) => (Vec::new(), format!("{} cannot be read: {error}", file_named(path))),
    }
}

fn file_named(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read_new(path: &Path, cursor: &mut InboxCursor) -> io::Result<(Vec<u8>, String)> {
    let found = std::fs::metadata(path)?;
    let modified_ms = modified_ms(&found);
    let same = same_file(path, cursor, found.len(), found.ino(), modified_ms)?;
    let from = if same { cursor.offset } else { 0 };
    if same && found.len() == from {
        return Ok(Default::default());
    }
    let start = from.max(found.len().saturating_sub(MOST_BYTES));
    let (mut bytes, size) = files::head_linked(path, start, MOST_BYTES)?;
    settled(&mut bytes, modified_ms, jiff::Timestamp::now().as_millisecond());
    let skipped = match start > from {
        true => format!("{} of the {size} bytes of {} were skipped", start - from, file_named(path)),
        false => String::new(),
    };
    let offset = start + bytes.len() as u64;
    let mark = mark(path, offset)?;
    *cursor = InboxCursor { offset, inode: found.ino(), mark, modified_ms, ..InboxCursor::default() };
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
    let (bytes, _) = files::head_linked(path, start, offset - start)?;
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
    let over = text::keep_last(&mut heard.words, MOST_WORDS);
    let mut problems = Vec::new();
    if garbage > 0 {
        problems.push(format!("{garbage} line(s) of the inbox are not words"));
    }
    if over > 0 {
        problems.push(format!("{over} older messages of the inbox were passed over"));
    }
    heard.problem = problems.join("; ");
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
