//! The broker's small files: read and appended as in `house`, replaced whole and synced.

use anyhow::{Context, Result};
pub use house::files::{Mark, append_line, mark, open_by, open_lock, open_owners, sync_folder, system};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Largest small file that is read, in bytes.
pub const SMALL_FILE_BYTES: u64 = 1 << 20;

/// A small file's bytes; `None` when it is missing. Anything but a regular file of modest size is an error.
pub fn read_small(path: &Path) -> Result<Option<Vec<u8>>> {
    house::files::read_most(path, SMALL_FILE_BYTES)
}

/// The lines of a small file that can be read; none where it is missing.
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let bytes = read_small(path)?.unwrap_or_default();
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// As the lines of a file, the last without its end.
pub fn in_lines<T: Serialize>(all: impl IntoIterator<Item = T>) -> Result<String> {
    let lines: Result<Vec<String>, _> = all.into_iter().map(|line| serde_json::to_string(&line)).collect();
    Ok(lines?.join("\n"))
}

/// Replaces a file whole, and syncs it.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_by(&path.with_extension("aside"), path, 0o644, bytes)
}

/// As `replace`, readable by this user alone.
pub fn replace_secret(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_by(&path.with_extension("aside"), path, 0o600, bytes)
}

/// Replaces whatever is at `path`, a link too: writes `aside`, syncs, renames, syncs the folder. A kill leaves at
/// most that one file, which the next call replaces.
pub fn replace_by(aside: &Path, path: &Path, mode: u32, bytes: &[u8]) -> Result<()> {
    let write = || -> std::io::Result<()> {
        // One left behind by a kill may have any mode.
        let _ = std::fs::remove_file(aside);
        let mut file = open_by(OpenOptions::new().write(true).create_new(true).mode(mode), aside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(aside, path)?;
        sync_folder(path)
    };
    write().with_context(|| format!("failed to write {}", path.display()))
}
