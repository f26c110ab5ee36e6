//! Reads papers (PURPOSE.md, the checklist, scratch): the head of a text file, whatever is in its place.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::Path;

/// Bytes read of any paper; beyond that nothing is a purpose or a checklist.
const MOST_BYTES: u64 = 64 * 1024;

/// What stands in a paper.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paper {
    /// Its head; empty when it is missing, unreadable or not text.
    pub text: String,
    /// Why there is no text, or less than all of it, for the record; empty when all is well.
    pub odd: String,
}

impl Paper {
    /// A short mark of what it says, the same for the same text.
    pub fn mark(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.text.hash(&mut hasher);
        self.odd.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

/// Reads at most the first 64 KiB of a paper; a missing one is empty and not odd.
pub fn read(path: &Path) -> Paper {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let odd = |why: String| Paper { text: String::new(), odd: format!("{name} {why}") };
    let (bytes, size) = match head(path, 0, MOST_BYTES) {
        Ok(read) => read,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Paper::default(),
        Err(error) => return odd(format!("cannot be read: {error}")),
    };
    if bytes.contains(&0) {
        return odd(format!("is not text ({size} bytes)"));
    }
    let text = String::from_utf8_lossy(&bytes);
    // A cut in the middle of a character leaves a mark of replacement that nobody wrote.
    let text = if size > MOST_BYTES { text.trim_end_matches('\u{fffd}') } else { &text };
    let odd = match size > MOST_BYTES {
        true => format!("{name} is {size} bytes long; only its first {MOST_BYTES} are read"),
        false => String::new(),
    };
    Paper { text: text.to_owned(), odd }
}

/// At most `most` bytes of a regular file from `offset` on, and the file's whole size.
pub fn head(path: &Path, offset: u64, most: u64) -> io::Result<(Vec<u8>, u64)> {
    use std::io::Seek;
    // Asked before opening: opening a pipe would wait for ever.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    file.seek(io::SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok((bytes, size))
}
