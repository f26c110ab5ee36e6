//! The one writer of a record file: mends a torn end, appends whole lines, syncs each.
//!
//! Invariant: an append that fails cuts the file back to what it was, or else the next append ends its half line.

use ground::files;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::replace::set_aside;
use crate::tail::last_line;
use crate::{Error, Record};

/// The longest line written, in bytes; a longer record keeps its envelope and the head of its data.
pub const MAX_LINE: usize = 4 << 20;

/// Characters of the data that stay in a record which had to shrink.
const HEAD_CHARS: usize = 2_000;

/// Levels of nesting in a record's data; `serde_json` gives up at 128, the envelope being one.
const MAX_DEPTH: usize = 120;

/// An open log.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    /// Replaced by `[hidden]` in every line; empty where there is nothing to hide.
    hidden: String,
}

/// Damage that opening mended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    /// Bytes of a torn last line, now a garbage line that readers skip; 0 when nothing was lost.
    pub torn_bytes: u64,
}

impl Log {
    /// Opens or creates the log, and ends a torn last line so that the next record starts a line of its own.
    pub fn open(path: &Path) -> Result<(Log, Mended), Error> {
        let mut file = open_file(path)?;
        let mended = mend(&mut file).map_err(Error::on(path, "mend the last line of"))?;
        let path = path.to_path_buf();
        Ok((Log { path, file, hidden: String::new() }, mended))
    }

    /// A second handle on the same open file, with the same word hidden.
    pub fn again(&self) -> Result<Log, Error> {
        let file = self.file.try_clone().map_err(Error::on(&self.path, "open once more"))?;
        Ok(Log { path: self.path.clone(), file, hidden: self.hidden.clone() })
    }

    /// Hides this word in every line that this handle appends from now on; below 16 bytes it is not hidden.
    pub fn hide(&mut self, secret: &str) {
        self.hidden = if secret.len() < 16 { String::new() } else { secret.to_owned() };
    }

    /// Appends one line and returns when it is on the disk; an error says whether half a line of it stays.
    pub fn append(&mut self, record: &Record) -> Result<(), Error> {
        let mut line = line(record).map_err(Error::on(&self.path, "write a record as JSON for"))?;
        if let (false, Ok(text)) = (self.hidden.is_empty(), std::str::from_utf8(&line)) {
            line = text.replace(&self.hidden, "[hidden]").into_bytes();
        }
        if !self.still_at_path() {
            // The file was moved aside or removed: readers of the path would not see what is written to it.
            self.file = open_file(&self.path)?;
        }
        let doing = Error::on(&self.path, "find the end of");
        let (old, torn) = end(&self.file).map_err(doing)?;
        if torn {
            line.insert(0, b'\n');
        }
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        let Err(error) = written else {
            return Ok(());
        };
        let doing = match self.file.set_len(old) {
            Ok(()) => "append (nothing of the record stays) to",
            Err(_) => "append (half a line stays, the next record starts a new one) to",
        };
        Err(Error::on(&self.path, doing)(error))
    }

    /// The path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn still_at_path(&self) -> bool {
        match (fs::symlink_metadata(&self.path), self.file.metadata()) {
            (Ok(named), Ok(open)) => named.dev() == open.dev() && named.ino() == open.ino(),
            _ => false,
        }
    }
}

fn open_file(path: &Path) -> Result<File, Error> {
    let folder = files::folder_of(path);
    let fresh = fs::symlink_metadata(path).is_err();
    if fresh {
        fs::create_dir_all(folder).map_err(Error::on(folder, "create the folder"))?;
    }
    let open = || files::open_with(OpenOptions::new().read(true).append(true).create(true), path);
    let file = match open() {
        // Nothing was ever written to what is no file: records begin anew beside it.
        Err(error) if files::is_in_the_way(&error) => set_aside(path).and_then(|()| open()),
        file => file,
    };
    let file = file.map_err(Error::on(path, "open"))?;
    if fresh {
        files::sync_folder(folder).map_err(Error::on(folder, "sync the folder"))?;
    }
    Ok(file)
}

fn mend(file: &mut File) -> io::Result<Mended> {
    let (length, torn) = end(file)?;
    if !torn {
        return Ok(Mended::default());
    }
    let (torn_bytes, kept) = last_line(file, length)?;
    file.write_all(b"\n")?;
    file.sync_data()?;
    let whole = kept.is_some_and(|line| serde_json::from_slice::<Record>(&line).is_ok());
    let torn_bytes = if whole { 0 } else { torn_bytes };
    Ok(Mended { torn_bytes })
}

/// The file's length, and whether its last line lacks a newline.
fn end(file: &File) -> io::Result<(u64, bool)> {
    let length = file.metadata()?.len();
    if length == 0 {
        return Ok((0, false));
    }
    let mut last = [0];
    file.read_exact_at(&mut last, length - 1)?;
    Ok((length, last != *b"\n"))
}

fn line(record: &Record) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    if line.len() >= MAX_LINE || deeper_than(&record.data, MAX_DEPTH) {
        line = serde_json::to_vec(&shrunk(record))?;
    }
    if line.len() >= MAX_LINE {
        let what = "too long for a line even without its data";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    line.push(b'\n');
    Ok(line)
}

fn shrunk(record: &Record) -> Record {
    let text = record.data.to_string();
    let head: String = text.chars().take(HEAD_CHARS).collect();
    Record { data: json!({"truncated": true, "bytes": text.len(), "head": head}), ..record.clone() }
}

fn deeper_than(value: &Value, levels: usize) -> bool {
    match (value, levels.checked_sub(1)) {
        (Value::Array(_) | Value::Object(_), None) => true,
        (Value::Array(items), Some(left)) => items.iter().any(|item| deeper_than(item, left)),
        (Value::Object(map), Some(left)) => map.values().any(|item| deeper_than(item, left)),
        _ => false,
    }
}
