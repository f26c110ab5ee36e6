//! Clears the way: what lies in place of the house's files and folders and is none is moved aside, never deleted.
//!
//! Invariant: nothing here opens what it finds, so nothing can make it wait.

use crate::clock;
use crate::house::House;
use std::fs::{self, File, Metadata, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Ends of names that are meant for files, in the folders both sides write to.
const ENDINGS: [&str; 5] = ["json", "jsonl", "txt", "log", "lock"];

/// At start and between lives: whatever would keep the next life, or us, from opening a file. A line for each thing done.
pub fn clear(house: &House) -> Vec<String> {
    let [root, own, logs, mind] = [house.state_folder(), house.own(), house.logs(), house.mind()];
    let more = [house.kept(), house.binaries(), house.snapshots(), house.workspace()];
    let folders = [&root, &own, &logs, &mind].into_iter().chain(&more);
    let mut told: Vec<String> = folders.filter_map(|path| clear_folder(house, path)).collect();
    for folder in [root, mind, logs, own, house.binaries()] {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        told.extend(entries.filter_map(|entry| clear_file(house, &entry.path())));
    }
    told
}

fn clear_folder(house: &House, path: &Path) -> Option<String> {
    // A link that leads to a folder is the owner's way to keep it on another disk.
    if let Ok(meta) = fs::metadata(path)
        && meta.is_dir()
    {
        return give_back(path, &meta, 0o700);
    }
    let told = fs::symlink_metadata(path).is_ok().then(|| move_aside(house, path));
    let _ = fs::create_dir_all(path);
    told
}

fn clear_file(house: &House, path: &Path) -> Option<String> {
    let meta = fs::symlink_metadata(path).ok()?;
    let name = path.file_name().unwrap_or_default();
    let ending = path.extension().unwrap_or_default();
    // What is half written: hidden, the creature's; else ours, where a folder costs no more than a late line.
    let aside = ending == "aside" && (name.as_encoded_bytes().starts_with(b".") || !meta.is_dir());
    let kept_binary = path.parent() == Some(&house.binaries());
    let known = name == "heartbeat" || name == "lock" || ENDINGS.iter().any(|known| ending == *known);
    // The owner may keep the inbox elsewhere; whatever else is read here is read without following links.
    let elsewhere = meta.is_symlink() && fs::metadata(path).is_ok_and(|meta| meta.is_file());
    if (elsewhere && path == house.inbox()) || !(aside || kept_binary || known) {
        None
    } else if meta.is_file() {
        give_back(path, &meta, if kept_binary && ending.is_empty() { 0o700 } else { 0o600 })
    } else {
        Some(move_aside(house, path))
    }
}

/// What may not be read or written may be ours all the same: losing sight of it would be worse than the right.
fn give_back(path: &Path, meta: &Metadata, wanted: u32) -> Option<String> {
    let mode = meta.permissions().mode() & 0o7777;
    if mode & wanted == wanted {
        return None;
    }
    // Of what it was when it was looked at: its name may lead elsewhere by now.
    let same =
        |file: &File| file.metadata().is_ok_and(|now| (now.dev(), now.ino()) == (meta.dev(), meta.ino()));
    let change = || {
        let held = File::options().read(true).custom_flags(libc::O_PATH).open(path)?;
        let changed = std::io::Error::from(std::io::ErrorKind::InvalidInput);
        let at = format!("/proc/self/fd/{}", held.as_raw_fd());
        if same(&held) {
            fs::set_permissions(at, Permissions::from_mode(mode | wanted))
        } else {
            Err(changed)
        }
    };
    Some(match change() {
        Ok(()) => format!("{} could not be read and written (mode {mode:o}); it can again", path.display()),
        Err(error) => format!("{} cannot be read and written: {error}", path.display()),
    })
}

fn move_aside(house: &House, path: &Path) -> String {
    match aside(house, path) {
        Ok(to) => format!("{} was in the way; it is kept as {}", path.display(), to.display()),
        Err(error) => format!("{} is in the way and cannot be moved aside: {error}", path.display()),
    }
}

/// Moves something aside into `kept/`; where that is not possible, beside itself.
pub fn aside(house: &House, path: &Path) -> std::io::Result<PathBuf> {
    let kept = house.kept();
    let (time, file) = (clock::name(), path.file_name().unwrap_or_default());
    let name = path.strip_prefix(house.state_folder()).unwrap_or(Path::new(file));
    let to = kept.join(format!("{time}-{}", name.to_string_lossy().replace('/', "-")));
    if !kept.starts_with(path) && fs::create_dir_all(&kept).and_then(|()| fs::rename(path, &to)).is_ok() {
        return Ok(to);
    }
    let to = path.with_file_name(format!("{}-{time}", file.to_string_lossy()));
    fs::rename(path, &to).map(|()| to)
}
