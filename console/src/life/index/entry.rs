//! A single thing as the index keeps it on disk: 32 bytes that say when, what, how long, and where its record stands.

use super::bytes::{Kept, kept, kept_by_place};

/// Kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Thought,
    /// A reply of the mind's that could not be read.
    Garbled,
    Act,
    ActFailed,
    /// A call that was paid for: for the owner's words, and of the creature's own accord.
    Money,
    MoneyOwn,
}

impl Kind {
    pub const ALL: [Kind; 6] =
        [Kind::Thought, Kind::Garbled, Kind::Act, Kind::ActFailed, Kind::Money, Kind::MoneyOwn];
}

kept_by_place!(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it was on record, in milliseconds since the epoch; it began `length_ms` before.
    pub at_ms: u64,
    /// Where its record begins in its file.
    pub offset: u64,
    /// The number of the thought it is or belongs to; 0 where there is none.
    pub number: u32,
    /// A thought's tokens, the text of an act's tool, millionths of a dollar.
    pub value: u32,
    pub length_ms: u32,
    pub file: u16,
    pub kind: Kind,
}

kept!(Entry { at_ms, offset, number, value, length_ms, file, kind });

/// Bytes of an entry: those of its fields, and one that fills up.
pub const ENTRY_BYTES: usize = 32;

impl Entry {
    pub fn begun_ms(&self) -> u64 {
        self.at_ms.saturating_sub(u64::from(self.length_ms))
    }

    pub fn put(&self, out: &mut Vec<u8>) {
        Kept::put(self, out);
        out.push(0);
    }

    pub fn take(bytes: &[u8; ENTRY_BYTES]) -> Option<Self> {
        Kept::take(&mut bytes.as_slice())
    }
}
