//! Files that the owner sent: below `.self/received/`, under harmless names, bounded in bytes and in number.

use crate::split::beginning;
use crate::{places, thread};
use anyhow::{Context, Result};
use house::House;
use house::openat::Folder;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

/// Most bytes of a file, and files of a message.
pub const MOST_FILE_BYTES: u64 = 20 << 20;
pub const MOST_FILES: usize = 10;
/// Bytes and files that are kept of a channel; the oldest go first.
const MOST_BYTES: u64 = 512 << 20;
const MOST_KEPT: usize = 500;
/// Bytes of a name, and of its end: a letter may have four, and a file system takes 255 with what we put before it.
const NAME_BYTES: usize = 100;
const END_BYTES: usize = 20;

/// Keeps a file; returns its path from the root of the house. The same file of the same message is the same path.
pub fn keep(house: &House, channel: &str, message: &str, name: &str, bytes: &[u8]) -> Result<String> {
    let place = places::received(channel);
    let folder = Folder::open(&house.state_folder()).and_then(|state| state.make(&place));
    let folder = folder.with_context(|| format!("failed to make {}", place.display()))?;
    room(&folder, bytes.len() as u64)
        .with_context(|| format!("failed to make room in {}", place.display()))?;
    let key = thread::key(&[message]);
    let name = format!("{}-{}", key.get(..8).unwrap_or_default(), harmless(name));
    let path = folder.at(&name);
    let write = || -> std::io::Result<()> {
        let mut new = house::files::Replacement::write(&path, 0o644, &[])?;
        new.file.write_all(bytes)?;
        new.file.sync_all()?;
        new.rename(&path)?;
        folder.sync()
    };
    write().with_context(|| format!("failed to write {}", place.join(&name).display()))?;
    Ok(Path::new(".self").join(place).join(name).to_string_lossy().into_owned())
}

/// A name without folders, marks and letters that no file of ours has.
pub fn harmless(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let plain: String = last.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    let plain = plain.trim_start_matches('.');
    // The end says of what kind it is.
    let (stem, end) = plain.rsplit_once('.').unwrap_or((plain, ""));
    match (beginning(stem, NAME_BYTES), beginning(end, END_BYTES)) {
        ("", "") => "file".to_owned(),
        (stem, "") => stem.to_owned(),
        (stem, end) => format!("{stem}.{end}"),
    }
}

/// Removes the oldest files until there is room for one of so many bytes.
fn room(folder: &Folder, bytes: u64) -> std::io::Result<()> {
    let mut there: Vec<(SystemTime, u64, OsString)> = Vec::new();
    for name in folder.names()? {
        let name = name?;
        let meta = std::fs::symlink_metadata(folder.at(&name))?;
        there.push((meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), meta.len(), name));
    }
    there.sort();
    let mut sum: u64 = there.iter().map(|(_, bytes, _)| bytes).sum();
    let mut number = there.len();
    for (_, of, name) in there {
        if sum + bytes <= MOST_BYTES && number < MOST_KEPT {
            break;
        }
        folder.remove_all(Path::new(&name))?;
        (sum, number) = (sum.saturating_sub(of), number - 1);
    }
    Ok(())
}
