//! The files the index is made of: which there are, whether each is still the one that was read, and how far it was.

use super::bytes::{kept, kept_by_place, sum};
use house::{House, files, records};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

/// Bytes by which a file's beginning, and the place up to which it was read, are known again.
const FIRST_BYTES: u64 = 256;
const TAIL_BYTES: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Reasons of wakes; these come first, for thoughts are counted to them.
    Beats,
    Events,
    History,
    Deaths,
    Asks,
    Memory,
    Ledger,
}

impl Of {
    pub const ALL: [Of; 7] =
        [Of::Beats, Of::Events, Of::History, Of::Deaths, Of::Asks, Of::Memory, Of::Ledger];

    /// Whether nothing of the index names a record of such a file.
    pub fn is_of_reasons(self) -> bool {
        matches!(self, Of::Beats | Of::Events)
    }

    /// Whether the file may go, and what was read of it stay.
    pub fn may_go(self) -> bool {
        !matches!(self, Of::Memory | Of::Ledger)
    }
}

kept_by_place!(Of);

/// A file, and how far it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub of: Of,
    /// Its name in `.self/`; empty once it is gone.
    pub name: String,
    pub inode: u64,
    first: u64,
    first_bytes: u64,
    pub read_bytes: u64,
    tail: u64,
    /// Whether it was read up to within a line that is too long.
    pub is_within: bool,
    /// Its length when it was last read to its end.
    pub seen_bytes: u64,
}

kept!(Source { of, name, inode, first, first_bytes, read_bytes, tail, is_within, seen_bytes });

/// A file that is there.
pub struct There {
    pub of: Of,
    pub path: PathBuf,
    pub inode: u64,
    pub bytes: u64,
}

/// Every file there is, in the order in which they are read.
pub fn there(house: &House) -> Vec<There> {
    let mut found = Vec::new();
    let mut put = |of: Of, path: PathBuf| {
        let meta = std::fs::symlink_metadata(&path).ok().filter(|meta| meta.is_file() && meta.len() > 0);
        found.extend(meta.map(|meta| There { of, path, inode: meta.ino(), bytes: meta.len() }));
    };
    records::with_before(house.bookkeeping()).into_iter().for_each(|path| put(Of::Beats, path));
    records::with_before(house.events()).into_iter().for_each(|path| put(Of::Events, path));
    put(Of::History, house.history());
    put(Of::Deaths, house.deaths());
    put(Of::Asks, house.asks());
    for (of, path) in [(Of::Memory, house.memory()), (Of::Ledger, house.ledger())] {
        records::older(&path, "").into_iter().chain([path]).for_each(|path| put(of, path));
    }
    found
}

/// The sum of a part of a file; `None` where it does not have it.
fn part(file: &File, from: u64, bytes: u64) -> Option<u64> {
    let mut part = vec![0; usize::try_from(bytes).ok()?];
    file.read_exact_at(&mut part, from).ok()?;
    Some(sum(&part))
}

impl Source {
    pub fn new(there: &There) -> Option<Self> {
        let file = files::open(&there.path).ok()??;
        let first_bytes = there.bytes.min(FIRST_BYTES);
        let first = part(&file, 0, first_bytes)?;
        Some(Self {
            of: there.of,
            name: name(there),
            inode: there.inode,
            first,
            first_bytes,
            read_bytes: 0,
            tail: 0,
            is_within: false,
            seen_bytes: 0,
        })
    }

    /// Whether the file still begins as it did, and reads as it did where it was read up to.
    pub fn is_same(&self, file: &File) -> bool {
        let tail_bytes = self.read_bytes.min(TAIL_BYTES);
        part(file, 0, self.first_bytes) == Some(self.first)
            && (tail_bytes == 0 || part(file, self.read_bytes - tail_bytes, tail_bytes) == Some(self.tail))
    }

    /// Notes how far the file was read.
    pub fn reached(&mut self, file: &File, read_bytes: u64) {
        let tail_bytes = read_bytes.min(TAIL_BYTES);
        self.tail = part(file, read_bytes - tail_bytes, tail_bytes).unwrap_or(0);
        self.read_bytes = read_bytes;
    }
}

/// A file's name in `.self/`, also where it stands in a folder there.
pub fn name(there: &There) -> String {
    there.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
