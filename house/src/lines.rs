//! Reads a file line by line in constant memory: skips overlong lines, leaves an unfinished last line for later.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};

/// Bytes read at once, and kept of the line buffer after a longer line.
const BLOCK: usize = 64 << 10;

/// A position in a file that moves forward; lines appended meanwhile are read by a later call.
pub struct Lines {
    reader: BufReader<File>,
    /// Length of the longest line that is returned, in bytes.
    longest: usize,
    /// The line returned last, or the beginning of one whose newline is not there yet.
    line: Vec<u8>,
    /// Whether `line` is complete and was returned.
    is_whole: bool,
    /// Whether the current line is too long, or began before the start position: it is skipped to its newline.
    is_over: bool,
    /// Position in the file, and the position up to which reading is allowed.
    at: u64,
    until: u64,
}

pub enum Next<'a> {
    /// A line, without its newline.
    Line(&'a [u8]),
    /// The end of a line that was too long to be returned.
    Long,
    /// Nothing more for now.
    End,
}

impl Lines {
    /// Reads from the file's current position to its end.
    pub fn new(mut file: File, longest: usize) -> Self {
        let at = file.stream_position().unwrap_or(0);
        let reader = BufReader::with_capacity(BLOCK, file);
        Self { reader, longest, line: Vec::new(), is_whole: false, is_over: false, at, until: u64::MAX }
    }

    /// Allows `bytes` more from here, so that one look takes a bounded time.
    pub fn allow(&mut self, bytes: u64) {
        self.until = self.at.saturating_add(bytes);
    }

    pub fn next_line(&mut self) -> Next<'_> {
        if std::mem::take(&mut self.is_whole) {
            self.forget();
        }
        loop {
            let room = if self.is_over { BLOCK } else { self.longest + 1 - self.line.len() };
            let room = (room as u64).min(self.until.saturating_sub(self.at));
            let read = self.reader.by_ref().take(room).read_until(b'\n', &mut self.line).unwrap_or(0);
            self.at += read as u64;
            if read == 0 {
                return Next::End;
            }
            let ended = self.line.pop_if(|last| *last == b'\n').is_some();
            if ended && !self.is_over {
                self.is_whole = true;
                return Next::Line(&self.line);
            }
            if self.is_over || self.line.len() > self.longest {
                self.forget();
                self.is_over = !ended;
                if ended {
                    return Next::Long;
                }
            }
        }
    }

    /// Hands on each line, `None` for one that was too long, until `each` says that it is enough or nothing more is there.
    pub fn each(&mut self, mut each: impl FnMut(Option<&[u8]>) -> bool) {
        loop {
            let goes_on = match self.next_line() {
                Next::Line(line) => each(Some(line)),
                Next::Long => each(None),
                Next::End => false,
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Skips to position `place`, as far as is allowed, without parsing lines; returns how many it skipped. A line
    /// that begins before `place` and ends behind it is later reported as `Long`.
    pub fn pass(&mut self, place: u64) -> u64 {
        let mut passed = 0;
        self.is_whole = false;
        self.forget();
        loop {
            let room = place.min(self.until).saturating_sub(self.at);
            let block = self.reader.fill_buf().unwrap_or_default();
            let block = block.get(..block.len().min(room as usize)).unwrap_or_default();
            let (Some(last), taken) = (block.last(), block.len()) else { return passed };
            self.is_over = *last != b'\n';
            passed += block.iter().filter(|byte| **byte == b'\n').count() as u64;
            self.reader.consume(taken);
            self.at += taken as u64;
        }
    }

    /// The unfinished last line, once all others were returned; empty where it is too long.
    pub fn torn(&self) -> &[u8] {
        if self.is_whole { &[] } else { &self.line }
    }

    /// Whether the unfinished last line is too long already.
    pub fn is_too_long(&self) -> bool {
        self.is_over
    }

    /// Position in the file, in bytes from its beginning.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Length of the file now.
    pub fn bytes(&self) -> u64 {
        self.reader.get_ref().metadata().map_or(0, |meta| meta.len())
    }

    fn forget(&mut self) {
        self.line.clear();
        self.line.shrink_to(BLOCK);
    }
}
