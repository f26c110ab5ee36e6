//! Decides which of two ledgers continues the other: money is never given back by a ledger that ends earlier.

use anyhow::Result;
use house::lines::Lines;
use house::{House, files};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Longest line of a ledger that is read.
const MOST_LINE_BYTES: usize = 64 << 10;

/// The last line of a ledger, by number and hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub seq: u64,
    pub hash: String,
}

/// Relation of a backup's ledger to the house's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The one that is there is the same or goes on from the backup's.
    HereIsLater,
    /// The backup's goes on from the one that is there, or nothing has lived here yet.
    BackupIsLater,
    /// Each has lines that the other has not.
    Apart,
}

/// Compares the ledger of the house with that of another, whose state lies in `state`.
pub fn compare(house: &House, state: &Path) -> Result<Relation> {
    let (here, theirs) = (files_of(&house.state_folder())?, files_of(state)?);
    let (mine, their) = (last(&here, &house.anchor())?, last(&theirs, &state.join("broker/anchor.json"))?);
    Ok(match (mine, their) {
        (None, None) if !house.state().exists() => Relation::BackupIsLater,
        (_, None) => Relation::HereIsLater,
        (None, Some(_)) => Relation::BackupIsLater,
        (Some(mine), Some(their)) if has(&here, &their)? || mine == their => Relation::HereIsLater,
        (Some(mine), Some(_)) if has(&theirs, &mine)? => Relation::BackupIsLater,
        _ => Relation::Apart,
    })
}

/// The files of a ledger, the newest last.
fn files_of(state: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(state).into_iter().flatten() {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("ledger-") && name.ends_with(".jsonl") {
            found.push(entry.path());
        }
    }
    found.sort();
    found.push(state.join("ledger.jsonl"));
    Ok(found)
}

/// The last line on record: of the ledger, or of the broker's note of it where the ledger has lost that line.
fn last(ledgers: &[PathBuf], anchor: &Path) -> Result<Option<End>> {
    let mut last = None;
    for path in ledgers {
        each(path, |end| {
            last = Some(end);
            false
        })?;
    }
    let anchor = files::read_small(anchor)?.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let noted = anchor.as_ref().and_then(|anchor| end_of(anchor.get("end")?)).filter(|end| end.seq > 0);
    Ok(match (last, noted) {
        (Some(last), Some(noted)) if noted.seq > last.seq => Some(noted),
        (None, noted) => noted,
        (last, _) => last,
    })
}

fn has(ledgers: &[PathBuf], end: &End) -> Result<bool> {
    let mut found = false;
    for path in ledgers {
        each(path, |line| {
            found |= line == *end;
            found
        })?;
    }
    Ok(found)
}

/// Hands over every whole line that is one of a ledger, until `ends` says so.
fn each(path: &Path, mut ends: impl FnMut(End) -> bool) -> Result<()> {
    let Some(file) = files::open(path)? else { return Ok(()) };
    let mut lines = Lines::new(file, MOST_LINE_BYTES);
    lines.each(|line| {
        let value = line.and_then(|line| serde_json::from_slice::<Value>(line).ok());
        !value.as_ref().and_then(end_of).is_some_and(&mut ends)
    });
    Ok(())
}

fn end_of(line: &Value) -> Option<End> {
    let hash = line.get("hash")?.as_str()?.to_owned();
    Some(End { seq: line.get("seq")?.as_u64()?, hash })
}
