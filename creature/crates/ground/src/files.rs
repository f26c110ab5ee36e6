//! Opens and reads files, whatever lies in their place: the one place of the creature that opens any.
//!
//! Invariant: nothing here waits on a pipe, takes a device or folder for a file, or reads without a bound. A link in
//! the last step is followed only by what says `linked`: papers and the inbox, which the owner may keep elsewhere.
#![allow(clippy::disallowed_methods)] // What every other place is to call instead.

use nix::fcntl::OFlag;
use std::fs::{self, DirEntry, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Entries of one folder that are looked at; more are nobody's honest work.
const MOST_ENTRIES: usize = 50_000;

/// Depth to which folders are removed where they lie.
const DEEPEST: usize = 8;

/// Opens a regular file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens or makes a regular file as the options say.
pub fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    regular(options.custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW).bits()).open(path)?)
}

/// Opens a regular file for reading, through a link too.
pub fn open_linked(path: &Path) -> io::Result<File> {
    // Looked at first: to open a device may already do something.
    if !fs::metadata(path)?.is_file() {
        return Err(not_regular());
    }
    regular(OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?)
}

/// Whether an error says that something else lies where a regular file should be.
pub fn is_in_the_way(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(nix::errno::Errno::from_raw);
    matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::IsADirectory)
        // A link, and a pipe or a socket that nobody reads.
        || matches!(code, Some(nix::errno::Errno::ELOOP | nix::errno::Errno::ENXIO))
}

/// At most `most` bytes of a file from `offset` on, and the file's whole size.
pub fn head(path: &Path, offset: u64, most: u64) -> io::Result<(Vec<u8>, u64)> {
    part(open(path)?, offset, most)
}

/// As `head`, through a link too.
pub fn head_linked(path: &Path, offset: u64, most: u64) -> io::Result<(Vec<u8>, u64)> {
    part(open_linked(path)?, offset, most)
}

/// Reads a whole file; more than `most` bytes are an error.
pub fn whole(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (bytes, _) = head(path, 0, most + 1)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("larger than {most} bytes")));
    }
    Ok(bytes)
}

/// A whole file of at most `most` bytes as text.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(whole(path, most)?).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// Copies a file of at most `most` bytes with its rights, over what is there.
pub fn copy(from: &Path, to: &Path, most: u64) -> io::Result<()> {
    let source = open(from)?;
    let found = source.metadata()?;
    if found.len() > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("larger than {most} bytes")));
    }
    let mut target = open_with(OpenOptions::new().write(true).create(true).truncate(true), to)?;
    io::copy(&mut source.take(most), &mut target)?;
    target.set_permissions(found.permissions())
}

/// The entries of a folder, as many as are looked at; an error where it cannot be listed.
pub fn list(folder: &Path) -> io::Result<impl Iterator<Item = DirEntry> + use<>> {
    Ok(fs::read_dir(folder)?.take(MOST_ENTRIES).flatten())
}

/// The entries of a folder, as many as are looked at; none where it cannot be listed.
pub fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    list(folder).into_iter().flatten()
}

/// The folder a file is in; the working directory for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The paths of the logs moved aside beside a log (`<stem>-<time>.jsonl`), oldest first, and of the log itself.
pub fn logs(path: &Path) -> Vec<PathBuf> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned() + "-";
    let mut logs: Vec<PathBuf> = entries(folder_of(path)).map(|entry| entry.path()).collect();
    logs.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&stem) && name.ends_with(".jsonl")
    });
    logs.sort();
    logs.push(path.to_owned());
    logs
}

/// Removes a file, or a folder with all that is in it; a missing one is no error. However deep a folder goes, only one
/// is open at a time: deep folders are moved up first.
pub fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => remove_folder(path),
        Ok(_) => fs::remove_file(path),
        Err(cause) => Err(cause),
    };
    removed.or_else(|cause| if cause.kind() == ErrorKind::NotFound { Ok(()) } else { Err(cause) })
}

fn remove_folder(top: &Path) -> io::Result<()> {
    let (mut open, mut moved) = (vec![top.to_owned()], 0_u64);
    while let Some(folder) = open.last() {
        match first_folder(folder)? {
            None => {
                fs::remove_dir(folder)?;
                open.pop();
            }
            Some(below) if open.len() < DEEPEST => open.push(below),
            Some(below) => {
                moved += 1;
                fs::rename(below, top.join(format!(".{moved}.removed")))?;
            }
        }
    }
    Ok(())
}

/// Removes the files of a folder until it finds a folder in it.
fn first_folder(folder: &Path) -> io::Result<Option<PathBuf>> {
    let listing = fs::read_dir(folder).or_else(|_| {
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
        fs::read_dir(folder)
    })?;
    for entry in listing {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            return Ok(Some(entry.path()));
        }
        fs::remove_file(entry.path())?;
    }
    Ok(None)
}

/// Makes renames in a folder last through a power cut.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits()).open(folder)?.sync_all()
}

/// A file of the system's, such as those below `/proc`; nobody else can put anything in its place.
pub fn of_the_system(path: impl AsRef<Path>) -> io::Result<String> {
    fs::read_to_string(path)
}

fn part(mut file: File, offset: u64, most: u64) -> io::Result<(Vec<u8>, u64)> {
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok((bytes, size))
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "not a regular file")
}
