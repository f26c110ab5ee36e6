//! The files the index is made of: which there are, whether each is still the one that was read, and how far it was.

use super::rows::{by_place, rows};
use house::{House, files, records};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Bytes by which the place up to which a file was read is known again.
const TAIL_BYTES: usize = 64;
/// Most files an entry can name.
const MOST_SOURCES: usize = 10_000;

by_place! {
    Of {
        /// Reasons of wakes; these come first, for thoughts are counted to them.
        Beats,
        Events,
        History,
        Deaths,
        Asks,
        Memory,
        Ledger,
    }
}

impl Of {
    /// Whether nothing of the index names a record of such a file.
    pub fn is_of_reasons(self) -> bool {
        matches!(self, Of::Beats | Of::Events)
    }

    /// Whether the file may go, and what was read of it stay.
    pub fn may_go(self) -> bool {
        !matches!(self, Of::Memory | Of::Ledger)
    }
}

rows! {
    /// A file, and how far it was read.
    "INTO source" Source {
        number: u16,
        of: Of,
        /// Its name in `.self/`; empty once it is gone: its records can no longer be shown, what was read of it stays.
        name: String,
        inode: i64,
        read_bytes: u64,
        /// The last bytes that were read.
        tail: Vec<u8>,
        /// Whether it was read up to within a line that is too long.
        is_within: bool,
        /// Its length when it was last read to its end.
        seen_bytes: u64,
    }
}

/// A file that is there.
pub struct There {
    pub of: Of,
    pub path: PathBuf,
    pub bytes: u64,
    inode: i64,
}

/// Every file there is, in the order in which they are read.
pub fn there(house: &House) -> Vec<There> {
    let mut found = Vec::new();
    let mut put = |of: Of, path: PathBuf| {
        let meta = std::fs::symlink_metadata(&path).ok().filter(|meta| meta.is_file() && meta.len() > 0);
        found.extend(meta.map(|meta| There { of, path, bytes: meta.len(), inode: meta.ino().cast_signed() }));
    };
    records::with_before(house.bookkeeping()).into_iter().for_each(|path| put(Of::Beats, path));
    records::with_before(house.events()).into_iter().for_each(|path| put(Of::Events, path));
    put(Of::History, house.history());
    put(Of::Deaths, house.deaths());
    put(Of::Asks, house.asks());
    for (of, path) in [(Of::Memory, house.memory()), (Of::Ledger, house.ledger())] {
        records::whole(&path, "").for_each(|path| put(of, path));
    }
    found
}

/// Compares the files that were read with those there are; on the first look, by what they hold. Returns how each
/// stands, new ones last; `None` where something that was read is not there any more.
pub fn compared(before: Vec<Source>, there: &[There], is_first: bool) -> Option<Vec<Source>> {
    let mut sources = Vec::new();
    for mut source in before {
        let file = there.iter().find(|file| source.is_of(file));
        let is_same = |file: &&There| {
            source.read_bytes <= file.bytes
                && (!is_first || open(&file.path).is_some_and(|it| source.is_same(&it)))
        };
        match (file.filter(is_same), file) {
            (Some(file), _) => {
                source.name = file.name();
                sources.push(source);
            }
            // Begun anew in place, or its number was given to another file: that one is read as a new one.
            (None, _) if source.of.is_of_reasons() => {}
            (None, None) if source.of.may_go() => {
                (source.name, source.inode) = (String::new(), 0);
                sources.push(source);
            }
            _ => return None,
        }
    }
    for file in there {
        if sources.len() < MOST_SOURCES && !sources.iter().any(|source| source.is_of(file)) {
            let number = sources.iter().map(|source| source.number).max().map_or(0, |most| most + 1);
            sources.push(Source::new(number, file));
        }
    }
    Some(sources)
}

/// The bytes of a file before a place; `None` where it does not have them.
fn part(file: &File, until: u64, bytes: usize) -> Option<Vec<u8>> {
    let mut part = vec![0; bytes];
    file.read_exact_at(&mut part, until.checked_sub(bytes as u64)?).ok()?;
    Some(part)
}

pub fn open(path: &Path) -> Option<File> {
    files::open(path).ok().flatten()
}

impl There {
    /// The file's name, also where it stands in a folder of `.self/`.
    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl Source {
    fn new(number: u16, there: &There) -> Self {
        let (of, name, inode, tail) = (there.of, there.name(), there.inode, Vec::new());
        Self { number, of, name, inode, read_bytes: 0, tail, is_within: false, seen_bytes: 0 }
    }

    pub fn is_of(&self, there: &There) -> bool {
        self.of == there.of && self.inode == there.inode
    }

    /// Whether the file still reads as it did where it was read up to.
    pub fn is_same(&self, file: &File) -> bool {
        part(file, self.read_bytes, self.tail.len()).as_ref() == Some(&self.tail)
    }

    /// Notes how far the file was read.
    pub fn reached(&mut self, file: &File, read_bytes: u64) {
        self.tail = part(file, read_bytes, TAIL_BYTES.min(read_bytes as usize)).unwrap_or_default();
        self.read_bytes = read_bytes;
    }
}
