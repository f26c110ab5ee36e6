//! Follows a file of records as it grows, also over its rotation: a bounded part at a look, none lost, none handed out twice.

use super::{LONGEST_LINE, parse};
use crate::files;
use crate::lines::Lines;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::Metadata;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A place in a file, by which a later process goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cursor {
    pub inode: u64,
    /// When the file was made, nanoseconds of the wall clock: an inode number is given again. 0: not known.
    pub born_ns: u64,
    pub place: u64,
}

impl Cursor {
    fn of(metadata: &Metadata) -> Self {
        let born = metadata.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let born_ns = born.and_then(|born| u64::try_from(born.as_nanos()).ok()).unwrap_or(0);
        Self { inode: metadata.ino(), born_ns, place: 0 }
    }

    /// Whether both are places of one file, as far as is known.
    fn is_of(&self, other: &Self) -> bool {
        let is_born = self.born_ns == other.born_ns || self.born_ns == 0 || other.born_ns == 0;
        self.inode == other.inode && is_born
    }
}

pub struct Follow {
    path: PathBuf,
    /// The open file, and its beginning. What is appended before a rotation is read there after it.
    open: Option<(Lines, Cursor)>,
    /// The place to go on at, where the file could not be opened so far.
    from: Cursor,
}

impl Follow {
    /// From the first record on.
    pub fn new(path: PathBuf) -> Self {
        Self { path, open: None, from: Cursor::default() }
    }

    /// From where a cursor was; in another file than its, from the first record on.
    pub fn resumed(path: PathBuf, at: Cursor) -> Self {
        let mut follow = Self { from: at, ..Self::new(path) };
        follow.resume();
        follow
    }

    fn resume(&mut self) {
        let at = self.from;
        self.seek(at.place);
        if self.open.as_ref().is_some_and(|(lines, of)| !of.is_of(&at) || lines.bytes() < at.place) {
            self.seek(0);
        }
    }

    /// From the end on: only what is appended from now on.
    pub fn at_end(path: PathBuf) -> Self {
        let mut follow = Self::new(path);
        follow.seek(u64::MAX);
        follow
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Goes on at a place in the file that is there now, at its end at the latest; false where none is.
    pub fn seek(&mut self, place: u64) -> bool {
        let Ok(Some(mut file)) = files::open(&self.path) else { return false };
        let (of, bytes) =
            file.metadata().map_or((Cursor::default(), 0), |meta| (Cursor::of(&meta), meta.len()));
        let _ = file.seek(SeekFrom::Start(place.min(bytes)));
        self.open = Some((Lines::new(file, LONGEST_LINE), of));
        true
    }

    /// The open file's lines.
    pub fn lines(&mut self) -> Option<&mut Lines> {
        self.open.as_mut().map(|(lines, _)| lines)
    }

    /// The place behind the last line that was handed on or passed over.
    pub fn cursor(&self) -> Cursor {
        let at =
            |(lines, of): &(Lines, Cursor)| Cursor { place: lines.at() - lines.torn().len() as u64, ..*of };
        self.open.as_ref().map_or(self.from, at)
    }

    /// Hands on each new record within `most` bytes until `each` says that it is enough; `None` for a line that was too
    /// long. Returns whether another look would hand on more at once.
    pub fn look(&mut self, most: u64, mut each: impl FnMut(Option<Value>) -> bool) -> bool {
        if self.open.is_none() {
            self.resume();
        }
        let Some((lines, Cursor { inode, .. })) = &mut self.open else { return false };
        lines.allow(most);
        lines.each(|line| match line.map(parse) {
            Some(None) => true,
            Some(record) => each(record),
            None => each(None),
        });
        let is_all = lines.at() >= lines.bytes();
        let there = std::fs::metadata(&self.path).map_or(*inode, |meta| meta.ino());
        match is_all && (there != *inode || lines.at() > lines.bytes()) {
            true => self.seek(0),
            false => !is_all,
        }
    }
}
