//! Knowledge: full-text search over notes, snapshots and memory, and the merging of facts.
//!
//! Invariant: all that the index holds is in the files; missing, garbage or of another version, it is rebuilt.
//! Invariant: one call reads a bounded number of bytes of records, the newest first, and says how many are left.

mod error;
pub mod facts;
mod index;
mod papers;
mod records;
mod search;
pub mod skills;

pub use error::Error;
pub use search::{Found, Hit, Question};

use ground::files;
use index::Index;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The kinds of texts that can be found, as a hit names them.
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

/// Places of the texts.
#[derive(Clone, Debug)]
pub struct SearchPaths {
    /// The folder that paths of hits are relative to.
    pub root: PathBuf,
    /// Papers of each kind: files, or folders of them; only `.md` files count.
    pub papers: Vec<(Kind, PathBuf)>,
    /// The record file; logs moved aside lie beside it as `<stem>-<time>.jsonl`.
    pub memory: PathBuf,
}

/// The `.md` files of a folder, sorted by name; for a path that is such a file, itself.
pub fn papers(place: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = match files::list(place) {
        Ok(listing) => listing.map(|entry| entry.path()).collect(),
        Err(_) => vec![place.to_owned()],
    };
    paths.retain(|path| path.extension().is_some_and(|end| end == "md"));
    paths.sort();
    paths
}

/// Length and time of a file, to see that it changed; none of a link (it could lead out of the house) or no file.
pub fn stamp(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some(format!("{}-{}.{:09}", found.len(), found.mtime(), found.mtime_nsec()))
}

/// Brings the index up to date, reading about `most_bytes` of records at most; returns how many bytes still wait.
pub fn update(index: &Path, paths: &SearchPaths, most_bytes: u64) -> Result<u64, Error> {
    Ok(with(index, |index| index.catch_up(paths, most_bytes))?.0)
}

/// Brings the index up to date as `update` does, then answers the question.
pub fn search(index: &Path, paths: &SearchPaths, most_bytes: u64, asked: &Question) -> Result<Found, Error> {
    let (found, anew) = with(index, |index| {
        let unindexed_bytes = index.catch_up(paths, most_bytes)?;
        Ok(Found { unindexed_bytes, ..index.search(paths, asked)? })
    })?;
    Ok(Found { anew, ..found })
}

/// Works with the index, or a new one where it is garbage, which is set aside. True where it was begun anew.
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
