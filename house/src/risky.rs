//! The folder that the owner names for risky mode: whether the creature may write there. Looks at the disk, changes nothing.
//!
//! Invariant: what is granted holds no part of a house, no home and no program, and lies in none of them.

use crate::House;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

/// The system's folders; nothing in them is granted.
const SYSTEM: &str = "/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /nix /proc /run /sbin /sys /usr";
/// Folders that hold what is others'; what lies in them may be granted.
const SHARED: &str = "/ /home /media /mnt /opt /root /srv /tmp /var";
/// Parts of a house, beside what begins with a dot.
const PARTS: &str = "broker console creature docs feral guardian house scripts self target trials walls owner.toml PURPOSE.md";

/// Entries that are looked through for what is kept, levels of folders, and kept ones, each of which is a mount.
const MOST_ENTRIES: usize = 100_000;
const DEEPEST: usize = 64;
const MOST_KEPT: usize = 200;

/// The folder of this name, by its real path; else why it is not granted.
pub fn folder(house: &House, named: &str) -> Result<PathBuf, String> {
    let path = house.root().join(named);
    if named.trim().is_empty() || path.components().any(|part| part.as_os_str() == "..") {
        return Err("no folder is named plainly".into());
    }
    let found = path.canonicalize().map_err(|error| format!("it cannot be found: {error}"))?;
    if !found.is_dir() {
        return Err("it is no folder".into());
    }
    let refusals: [(bool, &str); 6] = [
        (is_houses(house, &found), "it is a part of this house, or holds it"),
        (
            found.components().any(|part| is_kept(&part.as_os_str().to_string_lossy())),
            "it holds keys, a repository's own files or a house's state",
        ),
        (is_homes(&found), "it holds a home, or what a home keeps hidden"),
        (named_in(SYSTEM).any(|folder| found.starts_with(folder)), "it is the system's"),
        (named_in(SHARED).any(|folder| found == Path::new(folder)), "it holds what is others'"),
        (programs().iter().any(|folder| overlap(folder, &found)), "programs that you run lie there"),
    ];
    match refusals.into_iter().find(|(refused, _)| *refused) {
        Some((_, why)) => Err(why.into()),
        None => Ok(found),
    }
}

/// What stays as it is in a folder that is granted: repositories, keys, houses; else why all of it cannot be told.
pub fn kept(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut kept, mut folders, mut seen) = (Vec::new(), vec![(folder.to_path_buf(), 0)], 0);
    while let Some((folder, depth)) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries {
            seen += 1;
            if is_kept(&entry.file_name().to_string_lossy()) {
                kept.push(entry.path());
            } else if is_folder(&entry) {
                folders.push((entry.path(), depth + 1));
            }
            if seen > MOST_ENTRIES || depth > DEEPEST || kept.len() > MOST_KEPT {
                return Err("too much lies in it to be looked through: name a smaller folder".into());
            }
        }
    }
    Ok(kept)
}

/// Whether a name is of what stays as it is, wherever it lies.
fn is_kept(name: &str) -> bool {
    [".git", ".self", "owner.toml"].contains(&name) || name.ends_with(".git") || is_keys(name)
}

/// Whether a name is of a file of keys.
pub fn is_keys(name: &str) -> bool {
    name.starts_with(".env")
}

/// A folder itself, not a link to one.
fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn is_houses(house: &House, found: &Path) -> bool {
    let root = house.root().canonicalize().unwrap_or_else(|_| house.root().to_path_buf());
    let hidden = std::fs::read_dir(&root).into_iter().flatten().flatten().map(|entry| entry.path());
    let hidden =
        hidden.filter(|path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")));
    let parts = named_in(PARTS).map(|name| root.join(name)).chain(hidden);
    // One may be a link to another disk.
    let real = |part: PathBuf| part.canonicalize().unwrap_or(part);
    root.starts_with(found) || parts.map(real).any(|part| overlap(&part, found))
}

fn is_homes(found: &Path) -> bool {
    let home = std::env::home_dir().unwrap_or_default();
    let home = home.canonicalize().unwrap_or(home);
    let hidden = |below: &Path| below.as_os_str().as_encoded_bytes().starts_with(b".");
    !home.as_os_str().is_empty() && (home.starts_with(found) || found.strip_prefix(&home).is_ok_and(hidden))
}

/// Folders of the programs that the owner runs, and of the toolchain.
fn programs() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = ["CARGO_HOME", "RUSTUP_HOME"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    std::env::split_paths(&path).chain(named).filter_map(|folder| folder.canonicalize().ok()).collect()
}

fn named_in(names: &'static str) -> impl Iterator<Item = &'static str> {
    names.split_whitespace()
}
