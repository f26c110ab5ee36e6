//! Records in the index: those newly appended first, then backwards through the old ones, in bounded steps.
//!
//! Of each log one stretch of bytes is indexed, `low..high`; a log is known by its first bytes, whatever its name.

use crate::index::Index;
use crate::{Error, SearchPaths};
use ground::files;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes indexed with one commit; more than the longest line.
const STEP: u64 = 8 << 20;

/// Bytes of a log's beginning by which it is known.
const HEAD: u64 = 200;

/// Low bits of a row's number that hold the record's offset; the bits above hold the log's number.
pub(crate) const OFFSET_BITS: u32 = 40;

/// Kinds of records that say nothing worth finding.
const SILENT: [&str; 2] = ["heartbeat", "agenda"];

/// Bytes of a record's words that are indexed; the rest is in the record.
const MOST_WORDS: usize = 6_000;

/// A log as the index knows it.
pub(crate) struct Known {
    pub number: i64,
    pub path: PathBuf,
    pub low: u64,
    pub high: u64,
    pub size: u64,
}

/// A line of memory, as far as it is searched.
#[derive(Deserialize)]
pub(crate) struct Line {
    pub at: String,
    pub kind: String,
    data: Value,
}

impl Line {
    /// The text of what the owner said or the creature chose to remember; none of other records.
    pub(crate) fn told(&self) -> Option<&str> {
        let text = |key: &str| self.data.get(key).and_then(Value::as_str).unwrap_or_default();
        let tells = match self.kind.as_str() {
            "message" => text("from") == "owner",
            "observation" => text("about") == "note",
            _ => false,
        };
        tells.then(|| text("text"))
    }

    /// Every text of the data, without keys, numbers and punctuation of JSON.
    pub(crate) fn words(&self) -> String {
        let mut words = String::new();
        gather(&self.data, &mut words);
        words
    }
}

fn gather(value: &Value, words: &mut String) {
    match value {
        Value::String(text) => {
            let room = MOST_WORDS.saturating_sub(words.len());
            words.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
            words.push(' ');
        }
        Value::Array(list) => list.iter().for_each(|value| gather(value, words)),
        Value::Object(map) => map.values().for_each(|value| gather(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl Index {
    /// Indexes about `most_bytes` at most; returns how many still wait.
    pub(crate) fn take_records(&mut self, paths: &SearchPaths, most_bytes: u64) -> Result<u64, Error> {
        let (mut left, mut waiting) = (most_bytes, 0);
        for mut log in self.logs(paths)?.into_iter().rev() {
            while left > 0 && (log.high < log.size || log.low > 0) {
                let forwards = log.high < log.size;
                let (from, to) = match forwards {
                    true => (log.high, log.size.min(log.high + STEP)),
                    false => (log.low.saturating_sub(STEP), log.low),
                };
                let bytes = read(&log.path, from, to)?;
                left = left.saturating_sub(to - from);
                let taking = self.database.transaction()?;
                if forwards {
                    let end = match bytes.iter().rposition(|byte| *byte == b'\n') {
                        Some(at) => at + 1,
                        // A line longer than any record is passed by; a short one may still grow.
                        None if bytes.len() as u64 >= STEP => bytes.len(),
                        None => 0,
                    };
                    take(&taking, log.number, from, bytes.get(..end).unwrap_or_default())?;
                    log.high += end as u64;
                } else {
                    let begin = match bytes.iter().position(|byte| *byte == b'\n') {
                        Some(at) if from > 0 && at + 1 < bytes.len() => at + 1,
                        _ => 0,
                    };
                    log.low = from + begin as u64;
                    take(&taking, log.number, log.low, bytes.get(begin..).unwrap_or_default())?;
                }
                let sql = "UPDATE logs SET low = ?2, high = ?3 WHERE number = ?1";
                taking.execute(sql, params![log.number, log.low as i64, log.high as i64])?;
                taking.commit()?;
                if forwards && log.high == from {
                    log.size = from; // The last line is not ended yet.
                }
            }
            waiting += log.low;
            waiting += if log.size - log.high > STEP { log.size - log.high } else { 0 };
        }
        Ok(waiting)
    }

    /// Every log there is, oldest first. Fails as stale where a log is shorter than what was indexed of it.
    pub(crate) fn logs(&self, paths: &SearchPaths) -> Result<Vec<Known>, Error> {
        let mut known = Vec::new();
        for path in files::logs(&paths.memory) {
            let Some((head, size)) = head(&path)? else { continue };
            let sql = "SELECT number, low, high FROM logs WHERE head = ?1";
            let known_as = |row: &Row| -> rusqlite::Result<(i64, i64, i64)> {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            };
            let (number, low, high) = match self.database.query_row(sql, [&head], known_as).optional()? {
                Some((number, low, high)) => (number, low.unsigned_abs(), high.unsigned_abs()),
                None => {
                    // A new log is read from its end, so that the newest is known first.
                    let sql = "INSERT INTO logs (head, low, high) VALUES (?1, ?2, ?2)";
                    let end = last_newline(&path, size)?;
                    self.database.execute(sql, params![head, end as i64])?;
                    (self.database.last_insert_rowid(), end, end)
                }
            };
            if size < high {
                return Err(Error::Stale);
            }
            known.push(Known { number, path, low, high, size });
        }
        known.sort_by_key(|log| log.number);
        Ok(known)
    }
}

fn take(taking: &Connection, number: i64, from: u64, bytes: &[u8]) -> Result<(), Error> {
    let mut adding = taking.prepare("INSERT INTO records (rowid, text) VALUES (?1, ?2)")?;
    let mut at = from;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        // Lines that are no records are passed by.
        if let Ok(record) = serde_json::from_slice::<Line>(line)
            && !SILENT.contains(&&*record.kind)
        {
            adding.execute(params![(number << OFFSET_BITS) + at as i64, record.words()])?;
        }
        at += line.len() as u64;
    }
    Ok(())
}

/// The first bytes of a log, and its size; none where it has no whole first line yet, or is no file.
fn head(path: &Path) -> Result<Option<(Vec<u8>, u64)>, Error> {
    let Some(found) = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file) else { return Ok(None) };
    let mut head = read(path, 0, found.len().min(HEAD))?;
    match head.iter().position(|byte| *byte == b'\n') {
        Some(at) => head.truncate(at),
        None if found.len() < HEAD => return Ok(None),
        None => {}
    }
    Ok(Some((head, found.len())))
}

/// The offset at which the last whole line ends.
fn last_newline(path: &Path, size: u64) -> Result<u64, Error> {
    let from = size.saturating_sub(STEP);
    let last = read(path, from, size)?.iter().rposition(|byte| *byte == b'\n');
    Ok(last.map_or(from, |at| from + at as u64 + 1))
}

fn read(path: &Path, from: u64, to: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; (to - from) as usize];
    let read = files::open(path).and_then(|file| file.read_exact_at(&mut bytes, from));
    read.map_err(Error::file("read", path))?;
    Ok(bytes)
}
