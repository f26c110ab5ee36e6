//! Small files, safely: whole replacement, synced append, bounded reads that nothing can make wait.
//!
//! Invariant: nothing here blocks on a pipe or follows a link in its last step; no read takes more than its cap.

use crate::interrupt;
use anyhow::{Context, Result, bail};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Largest heartbeat, request, order or state file that is read, in bytes.
pub const SMALL_FILE_BYTES: u64 = 256 << 10;

/// Flags of every open: never waits (on a pipe, say), never follows a link.
const SAFE_OPEN: i32 = libc::O_NONBLOCK | libc::O_NOFOLLOW;

/// Errors that mean the system is short: no space, a read-only disk, too many open files, no memory.
pub const SHORTAGES: [i32; 6] =
    [libc::ENOSPC, libc::EDQUOT, libc::EROFS, libc::EMFILE, libc::ENFILE, libc::ENOMEM];

/// Tries of a step that a lease is in the way of, and the time between: 50 s in all.
const LEASED: u32 = 500;
const LEASED_LOOK: Duration = Duration::from_millis(100);

/// Identity of a file's content, known without reading it. Compared for inequality only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    device: u64,
    inode: u64,
    pub bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Mark {
    /// Whether both are of one file, whatever was written to it.
    pub fn is_same_file(self, other: Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// The mark of a regular file; `None` for anything else.
pub fn mark(path: &Path) -> Option<Mark> {
    std::fs::symlink_metadata(path).ok().filter(|meta| meta.is_file()).map(|meta| mark_of(&meta))
}

/// The mark of whatever a path leads to, a folder or a pipe too; of a dangling link, the link's own.
pub fn mark_of_any(path: &Path) -> Option<Mark> {
    let found = std::fs::metadata(path).or_else(|_| std::fs::symlink_metadata(path));
    found.ok().map(|meta| mark_of(&meta))
}

fn mark_of(meta: &std::fs::Metadata) -> Mark {
    Mark {
        device: meta.dev(),
        inode: meta.ino(),
        bytes: meta.size(),
        modified: (meta.mtime(), meta.mtime_nsec()),
        changed: (meta.ctime(), meta.ctime_nsec()),
    }
}

/// Replaces a file whole: write aside, sync, rename, sync the folder.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || -> std::io::Result<()> {
        let mut new = Replacement::write(path, 0o666, bytes)?;
        new.file.sync_all()?;
        if path.is_dir() {
            std::fs::rename(path, path.with_extension(format!("directory-{}", crate::clock::name())))?;
        }
        new.rename(path)?;
        sync_folder(path)
    };
    write().with_context(|| format!("failed to write {}", path.display()))
}

/// Result of replacing a file whose content was expected to be a certain one.
pub enum Replaced {
    Done,
    /// It is another one, and was left as it is.
    Other(Vec<u8>),
    /// There is none any more.
    Gone,
}

/// Replaces a small file whole, where it is still the one expected. Both are exchanged in one step, and exchanged back
/// where it is another one by then: what somebody else wrote meanwhile is never lost.
pub fn replace_expected(path: &Path, is_expected: impl Fn(&[u8]) -> bool, bytes: &[u8]) -> Result<Replaced> {
    let Some(before) = read_small(path)? else { return Ok(Replaced::Gone) };
    if !is_expected(&before) {
        return Ok(Replaced::Other(before));
    }
    let failed = || format!("failed to write {}", path.display());
    let new = Replacement::write(path, 0o666, bytes).with_context(failed)?;
    let meta = std::fs::metadata(path).with_context(failed)?;
    new.file.set_permissions(meta.permissions()).and_then(|()| new.file.sync_all()).with_context(failed)?;
    let exchange = || renameat2(AT_FDCWD, &new.path, AT_FDCWD, path, RenameFlags::RENAME_EXCHANGE);
    exchange().map_err(std::io::Error::from).with_context(failed)?;
    let there = read_small(&new.path);
    if let Ok(Some(there)) = &there
        && is_expected(there)
    {
        sync_folder(path).with_context(failed)?;
        return Ok(Replaced::Done);
    }
    exchange().map_err(std::io::Error::from).with_context(failed)?;
    Ok(there?.map_or(Replaced::Gone, Replaced::Other))
}

/// Replaces a file whole, without syncing: for files that are written anew at every start.
pub fn replace_unsynced(path: &Path, bytes: &[u8]) -> Result<()> {
    Replacement::write(path, 0o666, bytes)
        .and_then(|mut new| new.rename(path))
        .with_context(|| format!("failed to write {}", path.display()))
}

/// As `replace_unsynced`, readable by the owner alone; makes the folder where there is none.
pub fn replace_secret(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        Replacement::write(path, 0o600, bytes)?.rename(path)
    };
    write().with_context(|| format!("failed to write {}", path.display()))
}

/// Ending of the name of a file that is still being written.
pub const BEING_WRITTEN: &str = "aside";

/// A new file beside the one it will replace, under a random name; removed unless it is renamed into place.
pub struct Replacement {
    path: PathBuf,
    pub file: File,
}

impl Replacement {
    /// Creates the file with `mode`, so that its content is never readable under a wider one.
    pub fn write(path: &Path, mode: u32, bytes: &[u8]) -> std::io::Result<Self> {
        let aside = path.with_file_name(format!("{}.{BEING_WRITTEN}", unused_name()));
        let file = open_by(OpenOptions::new().write(true).create_new(true).mode(mode), &aside)?;
        let mut new = Self { file, path: aside };
        new.file.write_all(bytes)?;
        Ok(new)
    }

    /// Renames the file to `to`, replacing whatever has that name and is no folder.
    pub fn rename(&mut self, to: &Path) -> std::io::Result<()> {
        std::fs::rename(&self.path, to)?;
        self.path = PathBuf::new();
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether the system is short of something: then nobody's code is to blame, and the same step may succeed later.
pub fn is_short(error: &std::io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| SHORTAGES.contains(&code))
}

/// Takes a step until no other process holds the file in its way by a lease: the kernel has it given back within 45 s.
pub fn in_time<T>(mut step: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 0..LEASED {
        match step() {
            Err(error) if is_held(&error) && interrupt::check().is_ok() => std::thread::sleep(LEASED_LOOK),
            done => return done,
        }
    }
    step()
}

/// Whether a file could not be opened because another process holds it by a lease: it can be opened soon.
fn is_held(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::WouldBlock)
}

/// A short random name: unused, and not to be guessed in advance.
pub fn unused_name() -> String {
    // The standard library exposes its random numbers only as the keys of a hash map.
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Keeps what this process and its children write from being written by others, whatever umask they were started with.
pub fn close_to_others() {
    use nix::sys::stat::{Mode, umask};
    let before = umask(Mode::all());
    umask(before | Mode::S_IWGRP | Mode::S_IWOTH);
}

/// Makes renames in the folder of `path` last through a power cut.
pub fn sync_folder(path: &Path) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), |folder| open_folder(folder)?.sync_all())
}

/// Appends one line and syncs it; a torn line before it is closed off first.
pub fn append_line(path: &Path, line: &str) -> Result<()> {
    let append = || -> std::io::Result<()> {
        let mut file = open_by(OpenOptions::new().create(true).read(true).append(true), path)?;
        let length = file.metadata()?.len();
        let mut bytes = Vec::with_capacity(line.len() + 2);
        if length > 0 {
            let mut last = [0_u8];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                bytes.push(b'\n');
            }
        }
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        let written = file.write_all(&bytes).and_then(|()| file.sync_data());
        if written.is_err() {
            file.set_len(length)?;
        }
        written
    };
    append().map_err(|error| {
        let held = if error.kind() == ErrorKind::WouldBlock {
            ": another program holds it, for 45 s at most"
        } else {
            ""
        };
        anyhow::Error::new(error).context(format!("failed to append to {}{held}", path.display()))
    })
}

/// A small file's bytes; `None` when it is missing. Anything but a regular file of modest size is an error.
pub fn read_small(path: &Path) -> Result<Option<Vec<u8>>> {
    read_most(path, SMALL_FILE_BYTES)
}

/// As `read_small`, for a file of at most `most` bytes.
pub fn read_most(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    let Some(mut file) = open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    (&mut file)
        .take(most + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("failed to read {}", path.display()))?;
    if bytes.len() as u64 > most {
        bail!("{} is larger than {most} bytes", path.display());
    }
    Ok(Some(bytes))
}

/// The last `most` bytes of a file as lossy text; empty when there is nothing to read.
pub fn tail(path: &Path, most: u64) -> String {
    let read = || -> Result<Vec<u8>> {
        let Some(mut file) = open(path)? else { return Ok(vec![]) };
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// Opens a regular file with these options; never waits, never follows a link. Every other open of a file comes here.
#[allow(clippy::disallowed_methods)]
pub fn open_by(options: &mut OpenOptions, path: &Path) -> std::io::Result<File> {
    let file = options.custom_flags(SAFE_OPEN).open(path)?;
    regular(&file)?;
    Ok(file)
}

/// Opens a regular file for reading; never waits, never follows a link.
pub fn open(path: &Path) -> Result<Option<File>> {
    match open_by(OpenOptions::new().read(true), path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("failed to open {}", path.display())),
    }
}

/// Opens a regular file for writing, emptied, or makes it; never waits, never follows a link.
pub fn create(path: &Path) -> std::io::Result<File> {
    let file = open_by(OpenOptions::new().write(true).create(true), path)?;
    file.set_len(0)?;
    Ok(file)
}

/// Writes a regular file that is there over, in its place: torn if this is interrupted.
pub fn write_over(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = open_by(OpenOptions::new().write(true), path)?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)
}

/// Opens a file to hold its lock, or makes it, readable by the owner alone; its content stays.
pub fn open_lock(path: &Path) -> std::io::Result<File> {
    open_by(OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600), path)
}

/// Opens a regular file of the owner's for reading, by a link too; never waits.
#[allow(clippy::disallowed_methods)]
pub fn open_owners(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    regular(&file)?;
    Ok(file)
}

/// Opens a folder for reading, by a link too; never waits.
#[allow(clippy::disallowed_methods)]
pub fn open_folder(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NONBLOCK).open(path)
}

/// Opens whatever is there as a mere handle (`O_PATH` and `flags`), by which nothing is read or written.
#[allow(clippy::disallowed_methods)]
pub fn open_handle(path: &Path, flags: i32) -> std::io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_PATH | flags).open(path)
}

/// Opens a file of the kernel's (below `/proc`, `/sys`, `/dev`), or one of the system's that no other process makes wait.
#[allow(clippy::disallowed_methods)]
pub fn open_system(options: &OpenOptions, path: impl AsRef<Path>) -> std::io::Result<File> {
    options.open(path)
}

/// Writes a word to one of the kernel's files: taken at once or refused, never stored on a disk.
pub fn tell_kernel(path: impl AsRef<Path>, word: impl AsRef<[u8]>) -> std::io::Result<()> {
    open_system(OpenOptions::new().write(true), path)?.write_all(word.as_ref())
}

/// The text of a file of the kernel's (below `/proc` or `/sys`).
pub fn system(path: impl AsRef<Path>) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    open_system(OpenOptions::new().read(true), path)?.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// 32 random bytes of the kernel's.
pub fn random() -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    open_system(OpenOptions::new().read(true), "/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .context("failed to read /dev/urandom")?;
    Ok(bytes)
}

/// Opens a regular file for appending, or makes it; never waits, never follows a link.
pub fn append(path: &Path) -> Result<File> {
    open_by(OpenOptions::new().create(true).append(true), path)
        .with_context(|| format!("failed to open {}", path.display()))
}

/// Cuts a file that another process appends to down to its last `most` bytes.
pub fn cut(path: &Path, most: u64) -> std::io::Result<()> {
    let end = tail(path, most);
    let mut file = open_by(OpenOptions::new().append(true), path)?;
    file.set_len(0)?;
    file.write_all(end.as_bytes())
}

/// Replaces the content of an open file in place, so that locks on it stay held.
pub fn overwrite(mut file: &File, bytes: &[u8]) -> std::io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)
}

fn regular(file: &File) -> std::io::Result<Metadata> {
    let meta = file.metadata()?;
    let what = "not a regular file";
    if meta.is_file() { Ok(meta) } else { Err(std::io::Error::new(ErrorKind::InvalidInput, what)) }
}
