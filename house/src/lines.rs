//! Lines of a file in constant memory: each bounded, longer ones passed over, a last one without its end left for later.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};

/// Bytes read at once, and kept of a buffer that was larger.
const BLOCK: usize = 64 << 10;

/// A file on its way through; what is appended meanwhile comes with a later look.
pub struct Lines {
    reader: BufReader<File>,
    /// Bytes of the longest line that is handed out.
    longest: usize,
    /// The line handed out last, or the beginning of one whose end is not there yet.
    line: Vec<u8>,
    /// It was handed out.
    is_whole: bool,
    /// The one that comes is too long, or was begun before we came: it is read to its end and not kept.
    is_over: bool,
    /// Where in the file we are, and how far we may go.
    at: u64,
    until: u64,
}

pub enum Next<'a> {
    /// Without its end.
    Line(&'a [u8]),
    /// One that was too long.
    Long,
    /// Nothing more for now.
    End,
}

impl Lines {
    /// From where the file stands on, to its end.
    pub fn new(mut file: File, longest: usize) -> Self {
        let at = file.stream_position().unwrap_or(0);
        let reader = BufReader::with_capacity(BLOCK, file);
        Self { reader, longest, line: Vec::new(), is_whole: false, is_over: false, at, until: u64::MAX }
    }

    /// Goes so many bytes further and no more, so that a look takes its time and no longer.
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

    /// Passes over lines up to a place in the file, as far as is allowed, and looks into none: how many. One that goes on
    /// behind that place is `Long` later.
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

    /// The beginning of a line whose end is not there, once all else was handed out; empty where it is too long.
    pub fn torn(&self) -> &[u8] {
        if self.is_whole { &[] } else { &self.line }
    }

    /// Whether what is there of the last line is too long already.
    pub fn is_too_long(&self) -> bool {
        self.is_over
    }

    /// Bytes from the file's beginning to where we are.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Bytes of the file now.
    pub fn bytes(&self) -> u64 {
        self.reader.get_ref().metadata().map_or(0, |meta| meta.len())
    }

    fn forget(&mut self) {
        self.line.clear();
        self.line.shrink_to(BLOCK);
    }
}
