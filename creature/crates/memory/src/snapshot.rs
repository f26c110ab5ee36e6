//! Snapshots of memory: a new file each, named by its time, so that a bad one never costs the one before.

use std::io;
use std::path::{Path, PathBuf};

use ground::files;
use jiff::{SignedDuration, Timestamp};

use crate::{Error, replace};

/// The longest snapshot that is read, in bytes; it goes into every thought.
const MAX_TEXT: u64 = 1 << 20;

/// Snapshot: a compacted summary of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub path: PathBuf,
    pub text: String,
}

/// Writes a snapshot that is newer than every other in the folder, whatever the clock says.
pub fn write(dir: &Path, text: &str) -> Result<PathBuf, Error> {
    let mut at = Timestamp::now();
    if let Some((newest, _)) = all(dir)?.pop() {
        let next = newest.checked_add(SignedDuration::from_millis(1));
        at = next.map_or(at, |next| at.max(next));
    }
    let path = dir.join(format!("{}.md", at.strftime("%Y%m%dT%H%M%S.%3fZ")));
    replace(&path, text.as_bytes())?;
    Ok(path)
}

/// The newest snapshot that can be read and says something; none where there is no folder.
pub fn latest(dir: &Path) -> Result<Option<Snapshot>, Error> {
    for (_, path) in all(dir)?.into_iter().rev() {
        if let Ok(text) = read(&path)
            && !text.trim().is_empty()
        {
            return Ok(Some(Snapshot { path, text }));
        }
    }
    Ok(None)
}

/// Every snapshot by its time, oldest first; files with other names are not ours.
fn all(dir: &Path) -> Result<Vec<(Timestamp, PathBuf)>, Error> {
    let listing = match files::list(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listing => listing.map_err(Error::on(dir, "list the snapshots in"))?,
    };
    let mut found = Vec::new();
    for entry in listing {
        let path = entry.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let time = name.and_then(|name| name.strip_suffix(".md"));
        if let Some(Ok(at)) = time.map(str::parse::<Timestamp>) {
            found.push((at, path));
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> io::Result<String> {
    files::text(path, MAX_TEXT)
}
