//! Knowledge: full-text search over notes, snapshots and memory, and the merging of facts.
//!
//! Invariant: the index holds nothing of its own; missing, garbage or of another version, it is built anew from the files.
//! Invariant: one call reads a bounded number of bytes, the newest first, and says how much it has not read yet.

mod error;
pub mod facts;
mod index;
mod papers;
mod records;
mod search;

pub use error::Error;
pub use search::{Found, Hit, Question};

use index::Index;
use std::fs;
use std::os::unix::fs::MetadataExt;
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

/// The `.md` files of a folder, by name; of a file that is one, itself.
pub fn papers(place: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = match fs::read_dir(place) {
        Ok(listing) => listing.flatten().map(|entry| entry.path()).collect(),
        Err(_) => vec![place.to_owned()],
    };
    paths.retain(|path| path.extension().is_some_and(|end| end == "md"));
    paths.sort();
    paths
}

/// What tells one state of a file from another; none where there is no file, for a link could lead out of the house.
pub fn stamp(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(format!("{}-{}.{:09}", found.len(), found.mtime(), found.mtime_nsec()))
}

/// Brings the index up to date, reading at most about this many bytes of memory; how many still wait.
pub fn tend(index: &Path, places: &Places, most_bytes: u64) -> Result<u64, Error> {
    Ok(with(index, |index| index.catch_up(places, most_bytes))?.0)
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
