//! A line of the ledger as bytes: made with its hash, and read only if it is the next one; pure.

use super::entry::Entry;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What the first line of all has before it.
pub const BEGINNING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Bytes of a line at most; a longer one is none of ours.
pub const LONGEST_LINE: usize = 128 << 10;

/// Characters of the longest text in an entry.
const LONGEST_TEXT: usize = 2_000;

const PREV_MARK: &str = ",\"prev\":\"";
const HASH_MARK: &str = ",\"hash\":\"";

/// Where the chain stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Number of the last line; 0 before the first.
    pub seq: u64,
    pub hash: String,
}

impl Default for End {
    fn default() -> Self {
        Self { seq: 0, hash: BEGINNING.into() }
    }
}

#[derive(Serialize)]
struct Written<'a> {
    seq: u64,
    at: &'a str,
    #[serde(flatten)]
    entry: &'a Entry,
    prev: &'a str,
}

/// A line as it was written.
#[derive(Debug, Deserialize)]
pub struct Line {
    pub seq: u64,
    pub at: String,
    #[serde(flatten)]
    pub entry: Entry,
    pub prev: String,
    pub hash: String,
}

/// Adds the entry's line with its newline to `text`; says where the chain stands then.
pub fn add(text: &mut String, end: &End, at: &str, entry: &Entry) -> Result<End, String> {
    let mut entry = entry.clone();
    let Entry { event, service, method, path, decision, call, note, .. } = &mut entry;
    [event, service, method, path, decision, call, note].into_iter().for_each(shorten);
    let seq = end.seq.checked_add(1).ok_or("it has as many lines as can be counted")?;
    let written = Written { seq, at, entry: &entry, prev: &end.hash };
    let mut line = serde_json::to_string(&written).map_err(|error| error.to_string())?;
    let hash = hash(line.as_bytes());
    line.pop();
    text.push_str(&line);
    text.push_str(HASH_MARK);
    text.push_str(&hash);
    text.push_str("\"}\n");
    Ok(End { seq, hash })
}

/// Reads a line without its newline; it must be whole, and its hash its own.
pub fn read(line: &[u8]) -> Result<Line, String> {
    let text = std::str::from_utf8(line).map_err(|_| "not text".to_owned())?;
    let read: Line =
        serde_json::from_str(text).map_err(|error| format!("not a line of a ledger: {error}"))?;
    match link(text)? {
        (prev, hash) if prev == read.prev && hash == read.hash => Ok(read),
        _ => Err("no hash at its end".into()),
    }
}

/// The hash before a line and its own, found to be its own; the rest of it is not read.
pub fn link(text: &str) -> Result<(&str, &str), String> {
    let (before, rest) = text.rsplit_once(HASH_MARK).ok_or("no hash at its end")?;
    let said = rest.strip_suffix("\"}").ok_or("no hash at its end")?;
    let (_, prev) = before.rsplit_once(PREV_MARK).ok_or("no hash of the line before")?;
    match hash(format!("{before}}}").as_bytes()) == said {
        true => Ok((prev.trim_end_matches('"'), said)),
        false => Err("its hash is not its own".into()),
    }
}

/// Reads the line that must come next.
pub fn next(line: &[u8], end: &End) -> Result<(Line, End), String> {
    let read = read(line)?;
    if end.seq.checked_add(1) != Some(read.seq) || read.prev != end.hash {
        return Err(format!("it does not follow line {}", end.seq));
    }
    let end = End { seq: read.seq, hash: read.hash.clone() };
    Ok((read, end))
}

fn shorten(text: &mut String) {
    if let Some((at, _)) = text.char_indices().nth(LONGEST_TEXT) {
        text.truncate(at);
        text.push('…');
    }
}

/// SHA-256 in hexadecimal.
pub fn hash(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
