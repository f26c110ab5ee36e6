//! Bookkeeping: wakes, changes of the agenda and turns of sub-sessions, in a file of its own beside memory.
//!
//! Invariant: bounded in bytes; lines are in memory's form, each synced. A lost or garbage file costs no life.

use crate::paths::House;
use memory::{Error, Log, Record};
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes past which the file becomes `bookkeeping.before.jsonl` and begins anew.
const MOST_BYTES: u64 = 4 << 20;

/// Most records and bytes a life looks back on: what a death may have left undone is at the end.
const LOOK_BACK: (usize, u64) = (100, 1 << 20);

/// A writer of the bookkeeping; its file is opened when first needed.
#[derive(Debug)]
pub struct Books {
    path: PathBuf,
    log: Option<Log>,
    hidden: String,
}

impl Books {
    pub fn new(house: &House) -> Self {
        Self { path: house.books(), log: None, hidden: String::new() }
    }

    /// Another writer of the same file.
    pub fn again(&self) -> Self {
        Self { path: self.path.clone(), log: None, hidden: self.hidden.clone() }
    }

    /// Keeps this secret out of every line from now on.
    pub fn hide(&mut self, secret: &str) {
        self.hidden = secret.to_owned();
    }

    /// Appends one line and returns when it is on the disk; after an error nothing of the line stays.
    pub fn append(&mut self, record: &Record) -> Result<(), Error> {
        let found = fs::symlink_metadata(&self.path);
        if found.as_ref().is_ok_and(|found| found.is_file() && found.len() > MOST_BYTES) {
            let before = before(&self.path);
            let moved = fs::rename(&self.path, &before).or_else(|_| {
                memory::set_aside(&before)?;
                fs::rename(&self.path, &before)
            });
            let _ =
                moved.inspect_err(|error| tracing::warn!("failed to begin the bookkeeping anew: {error}"));
        } else if found.is_ok_and(|found| !found.is_file()) {
            // Where this fails, opening the file fails below and says why.
            let _ = memory::set_aside(&self.path);
        }
        let log = match &mut self.log {
            Some(log) => log,
            None => {
                let (mut log, _) = Log::open(&self.path)?;
                log.hide(&self.hidden);
                self.log.insert(log)
            }
        };
        log.append(record)
    }
}

/// The newest records of the bookkeeping, oldest first; a file that cannot be read has none.
pub fn newest(house: &House) -> Vec<Record> {
    let (most, bytes) = LOOK_BACK;
    let read = |path: &Path, most: usize| {
        let tail = memory::tail(path, most, bytes).inspect_err(|error| tracing::warn!("failed to {error}"));
        tail.map_or(Vec::new(), |tail| tail.records)
    };
    let path = house.books();
    let now = read(&path, most);
    let mut all = read(&before(&path), most.saturating_sub(now.len()));
    all.extend(now);
    all
}

/// The files of the bookkeeping, the older first.
pub fn files(house: &House) -> [PathBuf; 2] {
    let path = house.books();
    [before(&path), path]
}

fn before(path: &Path) -> PathBuf {
    path.with_file_name("bookkeeping.before.jsonl")
}
