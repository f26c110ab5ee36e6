//! Reads all records since a moment, oldest first and one at a time, from a log and those moved aside before it.
//!
//! Invariant: holds one line of at most `MAX_LINE` bytes, whatever the span; says where a cap left some unread.
//! Records are taken to stand in the order of their times; where a clock was put back, some may be passed over.

use crate::{Error, MAX_LINE, Record};
use ground::files;
use jiff::Timestamp;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek, SeekFrom};
use std::path::Path;

/// Bytes of the file that a search reads through rather than halves again; also the size of the read buffer.
const STRETCH: u64 = 64 << 10;

/// Result of reading: how much of the span could be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// Time of the oldest record there is, if it is later than the time asked for.
    pub begins: Option<Timestamp>,
    /// More bytes than the cap lie in the span: its beginning was not read.
    pub capped: bool,
    /// Lines that are no records, or too long to be read.
    pub garbage_lines: u64,
}

/// The time of a line, whatever else is in it.
#[derive(Deserialize)]
struct Dated {
    at: Timestamp,
}

/// Calls `see` with every record since `from`, oldest first, of the newest `most_bytes`. A missing log has none.
pub fn since(
    path: &Path,
    from: Timestamp,
    most_bytes: u64,
    see: &mut dyn FnMut(Timestamp, Record),
) -> Result<Read, Error> {
    let mut read = Read::default();
    let (mut parts, mut left) = (Vec::new(), most_bytes);
    for path in files::logs(path).into_iter().rev() {
        let fault = Error::on(&path, "look back on");
        let Some((file, size)) = open(&path).map_err(fault)? else { continue };
        let fault = Error::on(&path, "look back on");
        let (start, first) = seek(&file, size, from).map_err(fault)?;
        let capped = size - start > left;
        let start = if capped { size - left } else { start };
        left -= size - start;
        parts.push((path, file, start, size));
        (read.capped, read.begins) = (capped, first.filter(|first| *first > from).or(read.begins));
        if capped || first.is_some_and(|first| first <= from) {
            read.begins = None;
            break;
        }
    }
    for (path, file, start, size) in parts.into_iter().rev() {
        let shown = show(&file, start, size, from, &mut read, see);
        shown.map_err(Error::on(&path, "look back on"))?;
    }
    Ok(read)
}

/// The file and its size; none where there is none, or something else in its place.
fn open(path: &Path) -> io::Result<Option<(File, u64)>> {
    let file = match files::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound || files::is_in_the_way(&error) => {
            return Ok(None);
        }
        file => file?,
    };
    let size = file.metadata()?.len();
    Ok(Some((file, size)))
}

/// An offset before which nothing is as late as `from`, found by halving; and the time of the first record.
fn seek(file: &File, size: u64, from: Timestamp) -> io::Result<(u64, Option<Timestamp>)> {
    let first = dated_after(file, 0, size)?.map(|(_, at)| at);
    let (mut low, mut high) = (0, size);
    while high - low > STRETCH {
        let middle = low + (high - low) / 2;
        match dated_after(file, middle, high)? {
            Some((at, time)) if time < from => low = at,
            Some(_) | None => high = middle,
        }
    }
    Ok((low, first))
}

/// Finds the first dated line that begins after `start` and before `end`: its offset and its time.
fn dated_after(file: &File, start: u64, end: u64) -> io::Result<Option<(u64, Timestamp)>> {
    let mut lines = Lines::new(file, start)?;
    let mut line = Vec::new();
    if start > 0 && !lines.next(&mut line)? {
        return Ok(None);
    }
    while lines.at < end {
        let at = lines.at;
        if !lines.next(&mut line)? {
            break;
        }
        if let Ok(dated) = serde_json::from_slice::<Dated>(&line) {
            return Ok(Some((at, dated.at)));
        }
    }
    Ok(None)
}

fn show(
    file: &File,
    start: u64,
    end: u64,
    from: Timestamp,
    read: &mut Read,
    see: &mut dyn FnMut(Timestamp, Record),
) -> io::Result<()> {
    let (mut lines, mut line) = (Lines::new(file, start)?, Vec::new());
    while lines.at < end {
        let whole = lines.at == 0 || lines.at > start;
        if !lines.next(&mut line)? {
            break;
        }
        let record = serde_json::from_slice::<Record>(&line).ok();
        match record.and_then(|record| Some((record.at.parse::<Timestamp>().ok()?, record))) {
            Some((at, record)) if at >= from => see(at, record),
            Some(_) => {}
            // The first line may be the end of one that begins before.
            None => read.garbage_lines += u64::from(whole && !line.trim_ascii().is_empty()),
        }
    }
    Ok(())
}

/// Lines of a file from an offset on; a line too long to hold comes as its beginning.
struct Lines<'a> {
    reader: BufReader<&'a File>,
    at: u64,
}

impl<'a> Lines<'a> {
    fn new(file: &'a File, at: u64) -> io::Result<Self> {
        let mut reader = BufReader::with_capacity(STRETCH as usize, file);
        reader.seek(SeekFrom::Start(at))?;
        Ok(Self { reader, at })
    }

    /// Reads the next line, without its end; false where there is none.
    fn next(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        let mut read = (&mut self.reader).take(MAX_LINE as u64).read_until(b'\n', line)?;
        if line.pop_if(|last| *last == b'\n').is_none() {
            read += self.reader.skip_until(b'\n')?;
        }
        self.at += read as u64;
        Ok(read > 0)
    }
}
