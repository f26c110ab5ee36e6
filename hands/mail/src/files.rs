//! Files to attach and attachments saved: below the folders that were named, through no link, within bounds.

use crate::text::line;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// Most bytes of a file that is attached or saved, and of all that a mail carries.
pub const MOST_BYTES: u64 = 25 << 20;
/// Names that are tried where one is taken.
const MOST_NAMES: usize = 100;

/// A file to attach: its name and its bytes.
pub struct Attached {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Reads files, of which none may be a link, nor lie behind one.
pub fn read(folders: &[PathBuf], paths: &[String]) -> Result<Vec<Attached>, String> {
    let (mut files, mut left) = (Vec::new(), MOST_BYTES);
    for path in paths {
        let (folder, below) = placed(folders, path, "attached")?;
        let why = |error: Errno| format!("{} cannot be attached: {}", line(path, 200), opened(error));
        let (parent, name) = parent(&folder, &below).map_err(why)?;
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let file = File::from(openat(&parent, name.as_str(), flags, Mode::empty()).map_err(why)?);
        let meta = file.metadata().map_err(|error| error.to_string())?;
        if !meta.is_file() {
            return Err(format!("{} is no file", line(path, 200)));
        }
        let mut bytes = Vec::new();
        let read = file.take(left + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("{} cannot be read: {error}", line(path, 200)))?;
        left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            format!("with {} there are more than {MOST_BYTES} bytes to attach", line(path, 200))
        })?;
        files.push(Attached { name, bytes });
    }
    Ok(files)
}

/// Saves bytes as a new file, and says where; nothing is overwritten, and nothing is left of a save that failed.
pub fn save(folders: &[PathBuf], path: &str, is_named: bool, bytes: &[u8]) -> Result<PathBuf, String> {
    let (folder, below) = placed(folders, path, "saved")?;
    let why = |error: Errno| format!("{} cannot be made: {}", line(path, 200), opened(error));
    let (parent, name) = parent(&folder, &below).map_err(why)?;
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    for number in 0..MOST_NAMES {
        let tried = numbered(&name, number);
        let file = match openat(&parent, tried.as_str(), flags, Mode::from_bits_truncate(0o644)) {
            Err(Errno::EEXIST) if !is_named => continue,
            made => made.map_err(why)?,
        };
        let written = File::from(file);
        if let Err(error) = (&written).write_all(bytes).and_then(|()| written.sync_all()) {
            let _ = unlinkat(&parent, tried.as_str(), UnlinkatFlags::NoRemoveDir);
            return Err(format!("{} cannot be written: {error}", line(path, 200)));
        }
        return Ok(folder.join(below).with_file_name(tried));
    }
    Err(format!("{} is there, and {MOST_NAMES} names like it: give another path", line(path, 200)))
}

/// `name.txt`, `name-1.txt`, `name-2.txt` …
fn numbered(name: &str, number: usize) -> String {
    match (number, name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())) {
        (0, _) => name.to_owned(),
        (_, Some((stem, kind))) => format!("{stem}-{number}.{kind}"),
        (_, None) => format!("{name}-{number}"),
    }
}

/// The folder that holds a path, and the path below it: absolute within one of them, else below the first.
fn placed(folders: &[PathBuf], path: &str, done: &str) -> Result<(PathBuf, PathBuf), String> {
    let path = Path::new(path);
    let first = folders.first().ok_or_else(|| {
        format!(
            "no folder was named from or to which files may be {done}: the owner names one for this server"
        )
    })?;
    let found = match path.is_absolute() {
        true => folders.iter().find_map(|folder| Some((folder, path.strip_prefix(folder).ok()?))),
        false => Some((first, path)),
    };
    let names = || folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ");
    let is_plain = |below: &Path| below.components().all(|part| matches!(part, Component::Normal(_)));
    let found = found.filter(|(_, below)| is_plain(below) && below.file_name().is_some());
    let (folder, below) = found
        .ok_or_else(|| format!("{} does not lie in {}", line(&path.display().to_string(), 200), names()))?;
    Ok((folder.clone(), below.to_owned()))
}

/// Opens the folder that a path lies in, a step at a time, and gives the last name. Where a link stands, it fails: a folder
/// that others write may get one at any moment.
fn parent(folder: &Path, below: &Path) -> Result<(OwnedFd, String), Errno> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    // The folder itself was named by whoever started this server, and may be reached by links.
    let mut at = open(folder, flags - OFlag::O_NOFOLLOW, Mode::empty())?;
    let mut parts = below.components().peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return Ok((at, part.as_os_str().to_string_lossy().into_owned()));
        }
        at = openat(&at, part.as_os_str(), flags, Mode::empty())?;
    }
    Err(Errno::ENOENT)
}

fn opened(error: Errno) -> String {
    if [Errno::ELOOP, Errno::ENOTDIR].contains(&error) {
        return "a link stands in its path, or a file where a folder should".to_owned();
    }
    if error == Errno::EEXIST {
        return "it is there already, and nothing is overwritten".to_owned();
    }
    error.desc().to_owned()
}
