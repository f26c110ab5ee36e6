//! Clears the way: what lies in place of the house's files and folders and is none is moved aside, never deleted.
//!
//! Invariant: nothing here opens what it finds, so nothing can make it wait.

use crate::clock;
use crate::house::House;
use std::ffi::OsStr;
use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Ends of names that are meant for files, in the folders both sides write to.
const ENDINGS: [&str; 5] = ["json", "jsonl", "txt", "log", "lock"];

/// Before anything of the house is opened: its folders, and the locks. What was done, a line each for people.
pub fn clear_first(house: &House) -> Vec<String> {
    let mut told = Vec::new();
    let (mind, root) = (house.mind(), house.state_folder());
    for folder in [root, house.own(), house.kept(), house.binaries(), house.logs(), mind] {
        mend_folder(house, &folder, &mut told);
        if let Err(error) = fs::create_dir_all(&folder) {
            told.push(format!("failed to make {}: {error}", folder.display()));
        }
    }
    for lock in [house.lock(), house.creature_lock()] {
        mend_file(house, &lock, 0o600, &mut told);
    }
    told
}

/// Between lives: everything that would keep the next life, or us, from opening a file. What was done, a line each.
pub fn clear(house: &House) -> Vec<String> {
    let mut told = clear_first(house);
    for folder in [house.snapshots(), house.workspace()] {
        mend_folder(house, &folder, &mut told);
    }
    for folder in [house.state_folder(), house.mind(), house.logs(), house.own(), house.binaries()] {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let of_binaries = folder == house.binaries();
            if of_binaries
                || is_for_a_file(&entry.file_name(), entry.file_type().is_ok_and(|kind| kind.is_dir()))
            {
                mend_file(house, &entry.path(), if of_binaries { 0o700 } else { 0o600 }, &mut told);
            }
        }
    }
    told
}

/// Whether a name is meant for a file: it ends like one, or is one of the few without an ending.
fn is_for_a_file(name: &OsStr, is_folder: bool) -> bool {
    let ending = Path::new(name).extension().unwrap_or_default();
    let hidden = name.as_encoded_bytes().first() == Some(&b'.');
    // What is half written: hidden, the creature's; else ours, where a folder costs no more than a late line.
    let aside = ending == "aside" && (hidden || !is_folder);
    aside || name == "heartbeat" || name == "lock" || ENDINGS.iter().any(|known| ending == *known)
}

fn mend_folder(house: &House, path: &Path, told: &mut Vec<String>) {
    // A link that leads to a folder is the owner's way to keep it on another disk.
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => give_back(path, &meta, 0o700, told),
        _ if fs::symlink_metadata(path).is_err() => {}
        _ => {
            move_aside(house, path, told);
            let _ = fs::create_dir_all(path);
        }
    }
}

fn mend_file(house: &House, path: &Path, mode: u32, told: &mut Vec<String>) {
    let Ok(meta) = fs::symlink_metadata(path) else { return };
    let linked = path == house.inbox() && fs::metadata(path).is_ok_and(|meta| meta.is_file());
    if meta.is_file() {
        give_back(path, &meta, mode, told);
    } else if !linked {
        // The owner may keep the inbox elsewhere; whatever else is read here is read without following links.
        move_aside(house, path, told);
    }
}

/// What may not be read or written may be ours all the same: losing sight of it would be worse than the right.
fn give_back(path: &Path, meta: &Metadata, wanted: u32, told: &mut Vec<String>) {
    let mode = meta.permissions().mode() & 0o7777;
    if mode & wanted == wanted {
        return;
    }
    told.push(match fs::set_permissions(path, Permissions::from_mode(mode | wanted)) {
        Ok(()) => format!("{} could not be read and written (mode {mode:o}); it can again", path.display()),
        Err(error) => format!("{} cannot be read and written: {error}", path.display()),
    });
}

fn move_aside(house: &House, path: &Path, told: &mut Vec<String>) {
    told.push(match aside(house, path) {
        Ok(to) => format!("{} was in the way; it is kept as {}", path.display(), to.display()),
        Err(error) => format!("{} is in the way and cannot be moved aside: {error}", path.display()),
    });
}

/// Moves something aside into `kept/`; where that is not possible, beside itself.
pub fn aside(house: &House, path: &Path) -> std::io::Result<PathBuf> {
    let kept = house.kept();
    let name = path.strip_prefix(house.state_folder()).unwrap_or(path).to_string_lossy().replace('/', "-");
    let time = clock::name();
    let to = kept.join(format!("{time}-{name}"));
    if !kept.starts_with(path) && fs::create_dir_all(&kept).and_then(|()| fs::rename(path, &to)).is_ok() {
        return Ok(to);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let to = path.with_file_name(format!("{name}-{time}"));
    fs::rename(path, &to).map(|()| to)
}
