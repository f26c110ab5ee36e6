//! The index's entries: whole blocks of them on disk, what no block holds yet in memory; each block with its sum.

use super::bytes::{kept, sum};
use super::entry::{ENTRY_BYTES, Entry};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Entries of a block.
const BLOCK: usize = 256;
const BLOCK_BYTES: usize = BLOCK * ENTRY_BYTES;
/// Blocks held in memory where the disk does not take them; a reader beside the page holds all that is new.
const MOST_HELD: usize = 4_096;

/// A block on disk: the time its entries span, and their sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    from_ms: u64,
    to_ms: u64,
    sum: u64,
}

kept!(Block { from_ms, to_ms, sum });

/// The part of the entries that is saved beside their file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    pub blocks: Vec<Block>,
    /// The bytes of the entries that no block holds yet.
    pub rest: Vec<u8>,
}

kept!(Saved { blocks, rest });

#[derive(Debug, Default)]
pub struct Store {
    /// The file of the entries; `None` where there is none yet, or none may be had.
    file: Option<File>,
    /// Whether this process may write it.
    writes: bool,
    saved: Saved,
    /// Blocks that the file does not have, by number.
    held: BTreeMap<usize, Vec<u8>>,
    damaged: AtomicBool,
}

impl Store {
    pub fn new(file: Option<File>, writes: bool, saved: Saved) -> Self {
        let there = file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |meta| meta.len());
        let wanted = (saved.blocks.len() * BLOCK_BYTES) as u64;
        let damaged = AtomicBool::new(there < wanted || saved.rest.len() >= BLOCK_BYTES);
        Self { file, writes, saved, held: BTreeMap::new(), damaged }
    }

    /// The same file, with nothing in it.
    pub fn emptied(self) -> Self {
        Self::new(self.file, self.writes, Saved::default())
    }

    /// Whether something of it could not be read as it was written.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    pub fn add(&mut self, entry: &Entry) {
        entry.put(&mut self.saved.rest);
        if self.saved.rest.len() < BLOCK_BYTES {
            return;
        }
        let bytes = std::mem::take(&mut self.saved.rest);
        let (mut from_ms, mut to_ms) = (u64::MAX, 0);
        for entry in entries(&bytes) {
            (from_ms, to_ms) = (from_ms.min(entry.begun_ms()), to_ms.max(entry.at_ms));
        }
        let number = self.saved.blocks.len();
        let place = (number * BLOCK_BYTES) as u64;
        let file = self.file.as_ref().filter(|_| self.writes);
        let is_written = file.is_some_and(|file| file.write_all_at(&bytes, place).is_ok());
        self.saved.blocks.push(Block { from_ms, to_ms, sum: sum(&bytes) });
        if !is_written && self.held.len() < MOST_HELD {
            self.held.insert(number, bytes);
        }
    }

    /// Every entry of a span, block by block; false where some of it could not be read.
    pub fn each(&self, from_ms: u64, to_ms: u64, mut take: impl FnMut(&Entry)) -> bool {
        let is_in = |entry: &Entry| entry.at_ms >= from_ms && entry.begun_ms() <= to_ms;
        let (mut is_whole, mut bytes) = (true, vec![0; BLOCK_BYTES]);
        for (number, block) in self.saved.blocks.iter().enumerate() {
            if block.to_ms < from_ms || block.from_ms > to_ms {
                continue;
            }
            let held = self.held.get(&number);
            let place = (number * BLOCK_BYTES) as u64;
            let is_read = held.is_some()
                || self.file.as_ref().is_some_and(|file| file.read_exact_at(&mut bytes, place).is_ok());
            let found = held.unwrap_or(&bytes);
            if !is_read || (held.is_none() && sum(found) != block.sum) {
                self.damaged.store(true, Ordering::Relaxed);
                is_whole = false;
                continue;
            }
            entries(found).filter(&is_in).for_each(|entry| take(&entry));
        }
        entries(&self.saved.rest).filter(is_in).for_each(|entry| take(&entry));
        is_whole
    }

    /// Returns the state to save beside the file; `None` where the file lacks some of its entries.
    pub fn save(&self) -> Option<&Saved> {
        let file = self.file.as_ref().filter(|_| self.writes && self.held.is_empty())?;
        file.sync_data().is_ok().then_some(&self.saved)
    }

    pub fn writes(&self) -> bool {
        self.writes
    }
}

fn entries(bytes: &[u8]) -> impl Iterator<Item = Entry> {
    bytes.as_chunks::<ENTRY_BYTES>().0.iter().filter_map(Entry::take)
}
