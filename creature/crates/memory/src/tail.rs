//! Reads the end of a record file backwards, in growing blocks, so that the cost is that of the tail.
//!
//! Invariant: never holds more than one line of at most `MAX_LINE` and one block beside the records it returns.

use ground::files;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::{Error, MAX_LINE, Record};

/// Bytes of the first block; a tail of small records is one read.
const FIRST_BLOCK: usize = 64 << 10;

/// Bytes of the largest block: the most memory that one read may cost.
const LAST_BLOCK: usize = 1 << 20;

/// Bytes of garbage and of lines too long to keep that a tail may cross before it gives up.
const MOST_DAMAGE: u64 = 256 << 20;

/// Bytes that a bad line counts beside its own, so that a file of bare newlines is given up as well.
const LINE_COST: u64 = 64;

/// The end of a record file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail {
    /// Oldest first.
    pub records: Vec<Record>,
    /// Lines passed on the way that are not records.
    pub garbage_lines: u64,
    /// Lines passed on the way that are too long to be read at all.
    pub oversized_lines: u64,
}

/// The last `most_records` records, of at most `most_bytes` together; a missing file has an empty tail.
///
/// Damage is skipped and counted, not charged to `most_bytes`: a garbage end does not hide what is before it.
/// A line longer than `most_bytes` or `MAX_LINE` is oversized.
pub fn tail(path: &Path, most_records: usize, most_bytes: u64) -> Result<Tail, Error> {
    let file = match files::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Tail::default()),
        file => file.map_err(Error::on(path, "read the end of"))?,
    };
    gather(&file, most_records, most_bytes).map_err(Error::on(path, "read the end of"))
}

/// The length in bytes of the last line before `end` (past `MOST_DAMAGE` a lower bound), and the line itself
/// unless it is longer than `MAX_LINE`.
pub(crate) fn last_line(file: &File, end: u64) -> io::Result<(u64, Option<Vec<u8>>)> {
    let line = Backwards::new(file, end, MAX_LINE).next()?;
    Ok(match line {
        None => (0, None),
        Some(Line::Whole(line)) => (line.len() as u64, Some(line)),
        Some(Line::Oversized(bytes)) => (bytes, None),
    })
}

fn gather(file: &File, most_records: usize, most_bytes: u64) -> io::Result<Tail> {
    let longest = usize::try_from(most_bytes).map_or(MAX_LINE, |most| most.min(MAX_LINE));
    let mut lines = Backwards::new(file, file.metadata()?.len(), longest);
    let mut records = VecDeque::new();
    let (mut kept, mut damage) = (0, 0);
    let mut tail = Tail::default();
    while records.len() < most_records && damage < MOST_DAMAGE {
        match lines.next()? {
            None => break,
            Some(Line::Oversized(bytes)) => {
                tail.oversized_lines += 1;
                damage += bytes;
            }
            Some(Line::Whole(line)) if line.trim_ascii().is_empty() => damage += LINE_COST,
            Some(Line::Whole(line)) => match serde_json::from_slice(&line) {
                Ok(_) if kept + line.len() as u64 > most_bytes => break,
                Ok(record) => {
                    kept += line.len() as u64;
                    records.push_front(record);
                }
                Err(_) => {
                    tail.garbage_lines += 1;
                    damage += line.len() as u64 + LINE_COST;
                }
            },
        }
    }
    tail.records = records.into();
    Ok(tail)
}

enum Line {
    Whole(Vec<u8>),
    Oversized(u64),
}

/// Lines of a file from its end to its start.
struct Backwards<'a> {
    file: &'a File,
    longest: usize,
    block: usize,
    /// Everything before this offset is unread.
    unread: u64,
    /// Bytes read and not yet handed out; they end where the next line ends.
    held: Vec<u8>,
    /// Bytes at the front of `held` that have not been searched for a newline.
    unsearched: usize,
    /// Bytes dropped from the end of a line too long to hold.
    dropped: u64,
    done: bool,
}

impl<'a> Backwards<'a> {
    fn new(file: &'a File, end: u64, longest: usize) -> Self {
        Backwards {
            file,
            longest,
            block: FIRST_BLOCK,
            unread: end,
            held: Vec::new(),
            unsearched: 0,
            dropped: 0,
            done: end == 0,
        }
    }

    fn next(&mut self) -> io::Result<Option<Line>> {
        while !self.done {
            if let Some(at) = self.newline() {
                let line = self.held.split_off(at + 1);
                self.held.truncate(at);
                self.unsearched = at;
                return Ok(Some(self.finished(line)));
            }
            self.unsearched = 0;
            if self.held.len() > self.longest {
                self.dropped += self.held.len() as u64;
                self.held.clear();
            }
            if self.unread == 0 || self.dropped > MOST_DAMAGE {
                self.done = true;
                let line = std::mem::take(&mut self.held);
                return Ok(Some(self.finished(line)));
            }
            self.read_block()?;
        }
        Ok(None)
    }

    fn finished(&mut self, line: Vec<u8>) -> Line {
        let dropped = std::mem::take(&mut self.dropped);
        if dropped > 0 || line.len() > self.longest {
            return Line::Oversized(dropped + line.len() as u64);
        }
        Line::Whole(line)
    }

    fn newline(&self) -> Option<usize> {
        self.held.get(..self.unsearched)?.iter().rposition(|byte| *byte == b'\n')
    }

    fn read_block(&mut self) -> io::Result<()> {
        let size = self.unread.min(self.block as u64);
        let mut held = vec![0; size as usize];
        self.unread -= size;
        self.file.read_exact_at(&mut held, self.unread)?;
        self.unsearched = held.len();
        held.append(&mut self.held);
        self.held = held;
        self.block = (self.block * 2).min(LAST_BLOCK);
        Ok(())
    }
}
