//! Reads papers (PURPOSE.md, the checklist, scratch), whatever stands in a file's place.

use crate::files::head_linked;
use crate::text::head;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes read of any paper; no purpose or checklist needs more.
const MOST_BYTES: u64 = 64 * 1024;

/// Number of looks for the guardian's copy of a paper, and the time between two looks.
const COPY_LOOKS: u32 = 40;
const COPY_LOOK: Duration = Duration::from_millis(50);

/// Paper as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paper {
    /// Its head; empty when it is missing or unreadable; what it said before, where that is kept, when it is not text.
    pub text: String,
    /// Reason why there is no text, or less than all of it, for the record; empty when all is well.
    pub problem: String,
}

impl Paper {
    /// A short mark of what it says, the same for the same text.
    pub fn mark(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.text.hash(&mut hasher);
        self.problem.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

/// Reads at most the first 64 KiB of a paper; a missing one is empty and no problem.
pub fn read(path: &Path) -> Paper {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let failed = |why: String| Paper { text: String::new(), problem: format!("{name} {why}") };
    let read = match head_linked(path, 0, MOST_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => copy(path).map_err(|_| error),
        read => read,
    };
    let (bytes, size) = match read {
        Ok(read) => read,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Paper::default(),
        Err(error) => return failed(format!("cannot be read: {error}")),
    };
    if bytes.contains(&0) {
        let former = head_linked(&copied(path), 0, MOST_BYTES).map(|(bytes, _)| bytes).unwrap_or_default();
        let text = String::from_utf8_lossy(&former).into_owned();
        return Paper { text, problem: format!("{name} is not text ({size} bytes)") };
    }
    let text = String::from_utf8_lossy(&bytes);
    // A cut in the middle of a character leaves a replacement character that nobody wrote.
    let text = if size > MOST_BYTES { text.trim_end_matches('\u{fffd}') } else { &text };
    let problem = match size > MOST_BYTES {
        true => format!("{name} is {size} bytes long; only its first {MOST_BYTES} are read"),
        false => String::new(),
    };
    Paper { text: text.to_owned(), problem }
}

/// Characters of a prompt of the owner's that count.
const MOST_PROMPT: usize = 4_000;

/// A prompt of the owner's as it is now, or the built-in one where there is none.
pub fn prompt(path: &Path, built_in: &str) -> String {
    let own = read(path).text;
    if own.trim().is_empty() { built_in.trim().to_owned() } else { head(own.trim(), MOST_PROMPT) }
}

/// Where the guardian's copy of a paper lies, of the last that was text.
fn copied(path: &Path) -> PathBuf {
    path.with_file_name(".self").join(path.file_name().unwrap_or_default().to_ascii_lowercase())
}

/// The guardian's copy of a paper. The walls go by inode, not by name: a file that the owner's editor put in place
/// of PURPOSE.md can be read from the next life on, and until then as `.self/purpose.md`, about a second later.
fn copy(path: &Path) -> io::Result<(Vec<u8>, u64)> {
    let copy = copied(path);
    let written = std::fs::metadata(path)?.modified()?;
    for _ in 0..COPY_LOOKS {
        if std::fs::metadata(&copy)?.modified()? >= written {
            break;
        }
        std::thread::sleep(COPY_LOOK);
    }
    head_linked(&copy, 0, MOST_BYTES)
}
