//! A line of the ledger as bytes: written with its hash, and read only if it is the next in the chain; pure.

use super::entry::Entry;
use house::bounds::brief;
use house::printable::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The hash before the first line.
pub const BEGINNING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Longest line, in bytes; the broker writes none that is longer.
pub const LONGEST_LINE: usize = 128 << 10;

/// Longest text in an entry, in characters.
const LONGEST_TEXT: usize = 2_000;

const PREV_MARK: &str = ",\"prev\":\"";
const HASH_MARK: &str = ",\"hash\":\"";

/// The end of the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Number of the last line; 0 if there is none.
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

/// A line as written.
#[derive(Debug, Deserialize)]
pub struct Line {
    pub seq: u64,
    pub at: String,
    #[serde(flatten)]
    pub entry: Entry,
    pub prev: String,
    pub hash: String,
}

/// Appends the entry's line and a newline to `text`; returns the new end of the chain.
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

/// Parses a line without its newline; it must be complete and match its own hash.
pub fn read(line: &[u8]) -> Result<Line, String> {
    let text = std::str::from_utf8(line).map_err(|_| "not text".to_owned())?;
    let read: Line =
        serde_json::from_str(text).map_err(|error| format!("not a line of a ledger: {error}"))?;
    match link(text)? {
        (prev, hash) if prev == read.prev && hash == read.hash => Ok(read),
        _ => Err("no hash at its end".into()),
    }
}

/// The previous hash in a line, and the line's own, after checking the latter; the rest is not parsed.
pub fn link(text: &str) -> Result<(&str, &str), String> {
    let (before, rest) = text.rsplit_once(HASH_MARK).ok_or("no hash at its end")?;
    let said = rest.strip_suffix("\"}").ok_or("no hash at its end")?;
    let (_, prev) = before.rsplit_once(PREV_MARK).ok_or("no hash of the line before")?;
    match hash(format!("{before}}}").as_bytes()) == said {
        true => Ok((prev.trim_end_matches('"'), said)),
        false => Err("its hash is not its own".into()),
    }
}

/// Parses a line that must follow `end`.
pub fn next(line: &[u8], end: &End) -> Result<(Line, End), String> {
    let read = read(line)?;
    if end.seq.checked_add(1) != Some(read.seq) || read.prev != end.hash {
        return Err(format!("it does not follow line {}", end.seq));
    }
    let end = End { seq: read.seq, hash: read.hash.clone() };
    Ok((read, end))
}

fn shorten(text: &mut String) {
    *text = brief(text, LONGEST_TEXT);
}

/// SHA-256 in hexadecimal.
pub fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
