//! Records of the guardian, a JSON line for each of its acts and each death; and how such lines are read.

pub mod follow;
pub mod history;
pub mod ledger;
pub mod memory;
pub mod view;

use crate::lines::{Lines, Next};
use crate::{House, bounds, clock, files, repair};
use anyhow::Result;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Largest history or deaths file; a larger one is moved to `kept/` and a new one begun.
const MOST_BYTES: u64 = 16 << 20;
/// Longest line the guardian writes, in bytes.
const MOST_LINE_BYTES: usize = 32 << 10;
/// Longest line that is read as a record, in bytes; the creature writes none that is longer.
pub const LONGEST_LINE: usize = 4 << 20;
/// Bytes to which a search by time narrows a place, and bytes read to learn the time at a place.
const NEAR_BYTES: u64 = 64 << 10;
const LOOK_BYTES: u64 = 2 * LONGEST_LINE as u64;

/// Lines that could not be appended yet are kept in memory, so many at most; then the oldest is lost.
const MOST_OWED: usize = 256;

/// Lines that could not be appended yet, oldest first, each with its file.
static OWED: Mutex<VecDeque<(PathBuf, String)>> = Mutex::new(VecDeque::new());

/// Appends `{"at", "what", …}` to the history. If that fails, on a full disk or while another process holds the file,
/// the line waits in memory for `pay`, and the guardian goes on.
pub fn tell(house: &House, what: &str, data: Value) {
    append(house, house.history(), line(what, data));
}

/// As `tell`, unless the last lines already say the same: a step that is redone after a kill is told once.
pub fn tell_once(house: &House, what: &str, data: Value) {
    let new = line(what, data);
    let same =
        |old: Value| new.as_object().into_iter().flatten().all(|(k, v)| k == "at" || old.get(k) == Some(v));
    let tail = files::tail(&house.history(), 64 << 10);
    if !tail.lines().filter_map(|line| serde_json::from_str(line).ok()).any(same) {
        append(house, house.history(), new);
    }
}

/// Appends a death with its evidence.
pub fn bury(house: &House, death: &Value) {
    append(house, house.deaths(), death.clone());
}

fn line(what: &str, data: Value) -> Value {
    let mut line = Map::new();
    line.insert("at".into(), clock::stamp().into());
    line.insert("what".into(), what.into());
    if let Value::Object(data) = data {
        line.extend(data);
    }
    Value::Object(line)
}

fn append(house: &House, path: PathBuf, value: Value) {
    if std::fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file() || meta.len() > MOST_BYTES) {
        let _ = repair::aside(house, &path);
    }
    let _ = path.parent().map(std::fs::create_dir_all);
    let line = bounds::fitted(value, MOST_LINE_BYTES, Value::to_string);
    let mut owed = OWED.lock().unwrap_or_else(PoisonError::into_inner);
    if owed.len() == MOST_OWED {
        tracing::error!("a line for {} is lost: too many wait to be written", path.display());
        owed.pop_front();
    }
    owed.push_back((path, line));
    if let Err(error) = settle(&mut owed) {
        tracing::error!("{error:#}; the line is written as soon as it can be");
    }
}

/// Appends the lines that could not be appended before, as far as they can be now.
pub fn pay() {
    let _ = settle(&mut OWED.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Each file's lines in their order; a file that cannot be written holds up no other.
fn settle(owed: &mut VecDeque<(PathBuf, String)>) -> Result<()> {
    let (mut held, mut outcome): (Vec<PathBuf>, _) = (Vec::new(), Ok(()));
    owed.retain(|(path, line)| {
        if held.contains(path) {
            return true;
        }
        let written = files::append_line(path, line);
        let stays = written.is_err();
        if stays {
            held.push(path.clone());
            outcome = written;
        }
        stays
    });
    outcome
}

/// Reads the records of a file, oldest first; lines that are no record are counted in `bad`.
pub struct Records {
    lines: Option<Lines>,
    pub bad: usize,
}

/// Files rotated away from this one, oldest first (`memory-<time>.jsonl` for `memory.jsonl`), without those closed
/// before `since`.
pub fn older(path: &Path, since: &str) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_stem()) else { return vec![] };
    let beginning = format!("{}-", name.to_string_lossy());
    let is_older = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let closed = entry.metadata().ok().and_then(|meta| meta.modified().ok());
        let closed = closed.and_then(|closed| jiff::Timestamp::try_from(closed).ok());
        name.starts_with(&beginning)
            && name.ends_with(".jsonl")
            && closed.is_none_or(|closed| format!("{closed:.3}").as_str() >= since)
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.filter(is_older).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// As `older`, and behind them the file itself.
pub fn whole(path: &Path, since: &str) -> impl DoubleEndedIterator<Item = PathBuf> + use<> {
    older(path, since).into_iter().chain([path.to_owned()])
}

impl Records {
    /// Those of a time and later.
    pub fn since(self, since: &str) -> impl Iterator<Item = Value> {
        self.filter(move |record| text(record, "at") >= since)
    }
}

/// The part of a file from before it was begun anew (`feed.before.jsonl` of `feed.jsonl`), and the file.
pub fn with_before(path: PathBuf) -> [PathBuf; 2] {
    [path.with_extension("before.jsonl"), path]
}

/// The records of a file; none where it cannot be read.
pub fn of(path: &Path) -> Records {
    from(path, 0, u64::MAX)
}

/// The records of a file from a place on, within `most` bytes; a line that began before the place is passed over.
pub fn from(path: &Path, place: u64, most: u64) -> Records {
    let file = files::open(path).ok().flatten();
    let file = file.and_then(|mut file| file.seek(SeekFrom::Start(place)).ok().map(|_| file));
    let mut lines = file.map(|file| Lines::new(file, LONGEST_LINE));
    if let Some(lines) = &mut lines {
        lines.allow(most);
        if place > 0 {
            let _ = lines.next_line();
        }
    }
    Records { lines, bad: 0 }
}

/// The newest records of a file, within `most` bytes.
pub fn newest(path: &Path, most: u64) -> Records {
    let bytes = std::fs::metadata(path).map_or(0, |meta| meta.len());
    from(path, bytes.saturating_sub(most), most)
}

/// A place in a file of records in order of time, before the first of `since` and near it.
pub fn place(path: &Path, since: &str) -> u64 {
    place_by(path, |record| {
        let at = text(record, "at");
        (!at.is_empty()).then_some(at < since)
    })
}

/// A place in a file whose records are in order, before the first that is not `before` (`None`: it does not say) and
/// near it: found by halving, so that what is older costs nothing.
pub fn place_by(path: &Path, is_before: impl Fn(&Value) -> Option<bool>) -> u64 {
    let (mut before, mut after) = (0, std::fs::metadata(path).map_or(0, |meta| meta.len()));
    while after - before > NEAR_BYTES {
        let middle = before + (after - before) / 2;
        if from(path, middle, LOOK_BYTES).find_map(|record| is_before(&record)) == Some(true) {
            before = middle;
        } else {
            after = middle;
        }
    }
    before
}

impl Iterator for Records {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        loop {
            let lines = self.lines.as_mut()?;
            let found = match lines.next_line() {
                Next::Line([]) => continue,
                Next::Line(line) => parse(line),
                Next::Long => None,
                Next::End => {
                    let (rest, too_long) = (lines.torn().to_owned(), lines.is_too_long());
                    self.lines = None;
                    if rest.is_empty() && !too_long {
                        return None;
                    }
                    parse(&rest)
                }
            };
            if found.is_some() {
                return found;
            }
            self.bad += 1;
        }
    }
}

pub fn parse(line: &[u8]) -> Option<Value> {
    bounds::read(line).filter(Value::is_object)
}

/// A text field of a document, empty when it is not there.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    view::field(value, name)
}
