//! Knowledge: full-text search over notes, snapshots and memory, and the merging of facts.
//!
//! Invariant: the index holds nothing of its own; missing, garbage or of another version, it is built anew from the files.
//! Invariant: one call reads a bounded number of bytes, the newest first, and says how much it has not read yet.

mod error;
pub mod facts;
mod index;
mod leaves;
mod papers;
mod records;
mod search;

pub use error::Error;
pub use search::{Found, Hit, Question};

use index::Index;
use std::path::{Path, PathBuf};

/// What there is to be found, as a hit names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Note,
    Skill,
    Fact,
    Snapshot,
    Memory,
}

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::Note, Kind::Skill, Kind::Fact, Kind::Snapshot, Kind::Memory];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Note => "note",
            Kind::Skill => "skill",
            Kind::Fact => "fact",
            Kind::Snapshot => "snapshot",
            Kind::Memory => "memory",
        }
    }
}

/// Where it is to be found.
#[derive(Clone, Debug)]
pub struct Places {
    /// Hits are named from here.
    pub root: PathBuf,
    /// Files, and folders of them; only `.md` counts.
    pub papers: Vec<(Kind, PathBuf)>,
    /// The record file; what was moved aside lies beside it as `<stem>-<time>.jsonl`.
    pub memory: PathBuf,
}

/// How far the index has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of memory that are not indexed yet, the oldest.
    pub waiting_bytes: u64,
    /// The index could not be used and was begun anew.
    pub anew: bool,
}

/// Brings the index up to date, reading at most about this many bytes of memory.
pub fn tend(index: &Path, places: &Places, most_bytes: u64) -> Result<Progress, Error> {
    with(index, |index| index.catch_up(places, most_bytes))
        .map(|(waiting_bytes, anew)| Progress { waiting_bytes, anew })
}

/// The same, and then what answers the question.
pub fn search(index: &Path, places: &Places, most_bytes: u64, asked: &Question) -> Result<Found, Error> {
    let (found, anew) = with(index, |index| {
        let waiting_bytes = index.catch_up(places, most_bytes)?;
        Ok(Found { waiting_bytes, ..index.search(places, asked)? })
    })?;
    Ok(Found { anew, ..found })
}

/// Works with the index; one that turns out to be garbage is set aside and the work done with a new one.
fn with<T>(path: &Path, work: impl Fn(&mut Index) -> Result<T, Error>) -> Result<(T, bool), Error> {
    let missing = !path.exists();
    match Index::open(path).and_then(|mut index| work(&mut index)) {
        Err(error) if error.is_garbage() => {
            index::set_aside(path)?;
            Ok((work(&mut Index::open(path)?)?, true))
        }
        done => Ok((done?, missing)),
    }
}
