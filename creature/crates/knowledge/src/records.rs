//! Memory in the index: what was appended first, then backwards through what is old, in bounded steps.
//!
//! Of each log one stretch is indexed, `low..high`; a log is known by how it begins, whatever it is called by now.

use crate::index::Index;
use crate::leaves::Line;
use crate::{Error, Places};
use rusqlite::{Connection, OptionalExtension, params};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes taken in with one commit; more than the longest line.
const STEP: u64 = 8 << 20;

/// Bytes of a log's beginning by which it is known.
const HEAD: u64 = 200;

/// A row's number is its log's, and below this many bits the offset.
pub(crate) const OFFSET_BITS: u32 = 40;

/// Kinds that say nothing worth finding.
const SILENT: [&str; 2] = ["heartbeat", "agenda"];

/// A log as the index knows it.
pub(crate) struct Known {
    pub number: i64,
    pub path: PathBuf,
    pub low: u64,
    pub high: u64,
    pub size: u64,
}

impl Index {
    /// Takes in at most about this many bytes; how many still wait.
    pub(crate) fn take_records(&mut self, places: &Places, most_bytes: u64) -> Result<u64, Error> {
        let logs = self.logs(places)?;
        let (mut left, mut waiting) = (most_bytes, 0);
        for mut log in logs.into_iter().rev() {
            let reading = |cause| Error::file(format!("read {}", log.path.display()))(cause);
            let file = File::open(&log.path).map_err(reading)?;
            while left > 0 && (log.high < log.size || log.low > 0) {
                let before = (log.low, log.high);
                let (from, to) = match log.high < log.size {
                    true => (log.high, log.size.min(log.high + STEP)),
                    false => (log.low.saturating_sub(STEP), log.low),
                };
                let mut bytes = vec![0; (to - from) as usize];
                file.read_exact_at(&mut bytes, from).map_err(reading)?;
                left = left.saturating_sub(to - from);
                let taking = self.database.transaction()?;
                if from == log.high {
                    log.high = forwards(&taking, &log, &bytes)?;
                } else {
                    log.low = backwards(&taking, &log, from, &bytes)?;
                }
                let sql = "UPDATE logs SET low = ?2, high = ?3 WHERE number = ?1";
                taking.execute(sql, params![log.number, log.low as i64, log.high as i64])?;
                taking.commit()?;
                if before == (log.low, log.high) {
                    log.size = log.high; // The last line is not ended yet.
                }
            }
            waiting += log.low;
            waiting += if log.size - log.high > STEP { log.size - log.high } else { 0 };
        }
        Ok(waiting)
    }

    /// Every log there is, oldest first. One that became shorter was another one: then nothing here is true any more.
    pub(crate) fn logs(&self, places: &Places) -> Result<Vec<Known>, Error> {
        let mut known = Vec::new();
        for path in beside(&places.memory) {
            let Some((head, size)) = head(&path)? else { continue };
            let sql = "SELECT number, low, high FROM logs WHERE head = ?1";
            let found = self
                .database
                .query_row(sql, [&head], |row| {
                    Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
                })
                .optional()?;
            let (number, low, high) = match found {
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
                return Err(Error::stale());
            }
            known.push(Known { number, path, low, high, size });
        }
        known.sort_by_key(|log| log.number);
        Ok(known)
    }
}

/// Takes in whole lines from `log.high` on; where the next begins.
fn forwards(taking: &Connection, log: &Known, bytes: &[u8]) -> Result<u64, Error> {
    let end = match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(at) => at + 1,
        // A line longer than any record is passed by; a short one may still grow.
        None if bytes.len() as u64 >= STEP => bytes.len(),
        None => 0,
    };
    take(taking, log.number, log.high, bytes.get(..end).unwrap_or_default())?;
    Ok(log.high + end as u64)
}

/// Takes in whole lines up to `log.low`; where the first of them begins.
fn backwards(taking: &Connection, log: &Known, from: u64, bytes: &[u8]) -> Result<u64, Error> {
    let begin = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(at) if from > 0 && at + 1 < bytes.len() => at + 1,
        _ => 0,
    };
    let first = from + begin as u64;
    take(taking, log.number, first, bytes.get(begin..).unwrap_or_default())?;
    Ok(first)
}

fn take(taking: &Connection, number: i64, from: u64, bytes: &[u8]) -> Result<(), Error> {
    let mut adding = taking.prepare("INSERT INTO records (rowid, text) VALUES (?1, ?2)")?;
    let mut at = from;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        // What is not a record says nothing.
        if let Ok(record) = serde_json::from_slice::<Line>(line)
            && !SILENT.contains(&&*record.kind)
        {
            adding.execute(params![(number << OFFSET_BITS) + at as i64, record.words()])?;
        }
        at += line.len() as u64;
    }
    Ok(())
}

/// The log and those moved aside, oldest first.
fn beside(memory: &Path) -> Vec<PathBuf> {
    let stem = memory.file_stem().unwrap_or_default().to_string_lossy().into_owned() + "-";
    let listing = memory.parent().and_then(|folder| fs::read_dir(folder).ok());
    let mut logs: Vec<PathBuf> = listing
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with(&stem) && name.ends_with(".jsonl")
        })
        .map(|entry| entry.path())
        .collect();
    logs.sort();
    logs.push(memory.to_path_buf());
    logs
}

/// How a log begins, and its size; none where it has no whole first line yet, or cannot be read.
fn head(path: &Path) -> Result<Option<(Vec<u8>, u64)>, Error> {
    // Asked before opening: opening a pipe would wait for ever.
    let Ok(found) = fs::metadata(path).and_then(|found| match found.is_file() {
        true => Ok(found.len()),
        false => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    }) else {
        return Ok(None);
    };
    let mut head = vec![0; found.min(HEAD) as usize];
    let reading = Error::file(format!("read {}", path.display()));
    File::open(path).and_then(|file| file.read_exact_at(&mut head, 0)).map_err(reading)?;
    if let Some(at) = head.iter().position(|byte| *byte == b'\n') {
        head.truncate(at);
    } else if found < HEAD {
        return Ok(None);
    }
    Ok(Some((head, found)))
}

/// Where the last whole line ends.
fn last_newline(path: &Path, size: u64) -> Result<u64, Error> {
    let from = size.saturating_sub(STEP);
    let mut bytes = vec![0; (size - from) as usize];
    let reading = Error::file(format!("read {}", path.display()));
    File::open(path).and_then(|file| file.read_exact_at(&mut bytes, from)).map_err(reading)?;
    Ok(bytes.iter().rposition(|byte| *byte == b'\n').map_or(from, |at| from + at as u64 + 1))
}
