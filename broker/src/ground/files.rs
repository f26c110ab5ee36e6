//! Small files, safely: whole replacement, synced append, bounded reads that follow no link.

use anyhow::{Context, Result, bail};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

const AT_ONCE: i32 = nix::libc::O_NONBLOCK | nix::libc::O_NOFOLLOW;

/// Largest small file that is read, in bytes.
pub const SMALL_FILE_BYTES: u64 = 1 << 20;

/// What identifies a file's content without reading it. Compared for inequality only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    inode: u64,
    pub bytes: u64,
    modified: (i64, i64),
}

pub fn mark(path: &Path) -> Option<Mark> {
    let meta = std::fs::symlink_metadata(path).ok().filter(|meta| meta.is_file())?;
    Some(Mark { inode: meta.ino(), bytes: meta.size(), modified: (meta.mtime(), meta.mtime_nsec()) })
}

/// A small file's bytes; `None` when it is missing. Anything but a regular file of modest size is an error.
pub fn read_small(path: &Path) -> Result<Option<Vec<u8>>> {
    let file = match OpenOptions::new().read(true).custom_flags(AT_ONCE).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("failed to open {}", path.display())),
    };
    if !file.metadata().is_ok_and(|meta| meta.is_file()) {
        bail!("{} is not a regular file", path.display());
    }
    let mut bytes = Vec::new();
    let read = file.take(SMALL_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("failed to read {}", path.display()))?;
    if bytes.len() as u64 > SMALL_FILE_BYTES {
        bail!("{} is larger than {SMALL_FILE_BYTES} bytes", path.display());
    }
    Ok(Some(bytes))
}

/// Replaces a file whole: write aside, sync, rename, sync the folder.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let aside = path.with_extension("aside");
    let write = || -> std::io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o644)
            .custom_flags(AT_ONCE)
            .open(&aside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&aside, path)?;
        path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    };
    write().with_context(|| format!("failed to write {}", path.display()))
}

/// The same for what nobody else on this machine may read.
pub fn replace_secret(path: &Path, bytes: &[u8]) -> Result<()> {
    let aside = path.with_extension("aside");
    let write = || -> std::io::Result<()> {
        // One left behind may have any mode.
        let _ = std::fs::remove_file(&aside);
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(AT_ONCE).open(&aside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&aside, path)?;
        path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    };
    write().with_context(|| format!("failed to write {}", path.display()))
}

/// Appends one line and syncs it.
pub fn append_line(path: &Path, line: &str) -> Result<()> {
    let append = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).custom_flags(AT_ONCE).open(path)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    };
    append().with_context(|| format!("failed to append to {}", path.display()))
}
