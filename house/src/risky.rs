//! The folder that the owner names for risky mode: whether the creature may write there. Looks at the disk, changes nothing.
//!
//! Invariant: what is granted holds no part of a house, no home and no program, and lies in none of them.

use crate::House;
use serde_json::json;
use std::fs::{self, DirEntry};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The system's folders; nothing in them is granted.
const SYSTEM: &str = "/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /nix /proc /run /sbin /sys /usr";
/// Folders that hold others' files; folders in them may be granted.
const SHARED: &str = "/ /home /media /mnt /opt /root /srv /tmp /var";
/// Parts of a house, beside names that begin with a dot.
const PARTS: &str = "broker channels console creature docs feral ground guardian hands heart house processes repo scripts self skills target \
    trials walls workspace-hack owner.toml PURPOSE.md";

/// Entries that are looked through for what is kept, levels of folders, and kept ones, each of which is a mount.
const MOST_ENTRIES: usize = 100_000;
const DEEPEST: usize = 64;
const MOST_KEPT: usize = 200;
/// Bytes of all kept paths as JSON: a launch is told each of them, some twice, in one argument of 128 KiB at most
/// (execve(2), `MAX_ARG_STRLEN`).
const MOST_BYTES: usize = 40_000;

const NO_TEXT: &str = "its name is no text";

/// The folder of this name, and the paths in it that stay as they are; else why nothing is granted.
pub fn granted(house: &House, named: &str) -> Result<(PathBuf, Vec<PathBuf>), String> {
    let folder = folder(house, named)?;
    let kept = kept(&folder)?;
    Ok((folder, kept))
}

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
    let refusals: [(bool, &str); 7] = [
        (found.to_str().is_none(), NO_TEXT),
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

/// Lists the paths of a granted folder that stay as they are: repositories, keys, houses; else says why not all of them
/// can be told or held. The creature may have made anything there: no name of its making may hide a kept path, or break
/// a launch.
pub fn kept(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut kept, mut folders, mut seen, mut bytes) = (Vec::new(), vec![(folder.to_path_buf(), 0)], 0, 0);
    while let Some((at, depth)) = folders.pop() {
        for entry in entries(&at)? {
            seen += 1;
            if is_kept(&entry.file_name().to_string_lossy()) {
                let held = held(folder, entry.path())?;
                bytes += held.as_ref().map_or(0, |path| json!(path.to_str()).to_string().len());
                kept.extend(held);
            } else if is_folder(&entry) {
                folders.push((entry.path(), depth + 1));
            }
            if seen > MOST_ENTRIES || depth > DEEPEST || kept.len() > MOST_KEPT || bytes > MOST_BYTES {
                return Err("too much lies in it to be looked through: name a smaller folder".into());
            }
        }
    }
    Ok(kept)
}

/// The entries of a folder; none of one that is gone, or that the creature cannot open either.
fn entries(folder: &Path) -> Result<Vec<DirEntry>, String> {
    let is_others = || folder.metadata().is_ok_and(|found| found.uid() != nix::unistd::geteuid().as_raw());
    // As many as are looked at, and one that shows that there are more.
    let read = fs::read_dir(folder)
        .and_then(|entries| entries.take(MOST_ENTRIES + 1).collect::<Result<Vec<_>, Error>>());
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        // Its owner alone could open it for others.
        Err(error) if error.kind() == ErrorKind::PermissionDenied && is_others() => Ok(Vec::new()),
        read => read.map_err(|error| {
            let folder: String = folder.to_string_lossy().chars().take(200).collect();
            format!("{folder} in it cannot be looked through: {error}")
        }),
    }
}

/// The path by which a mount holds a kept entry; none for a link to a target that the creature cannot write or that is
/// held by its own name.
fn held(folder: &Path, path: PathBuf) -> Result<Option<PathBuf>, String> {
    if path.to_str().is_none() {
        return Err(format!("{}: {NO_TEXT}", path.to_string_lossy()));
    }
    if !path.is_symlink() {
        return Ok(Some(path));
    }
    let real = path.canonicalize().ok();
    let Some(below) = real.as_deref().and_then(|real| real.strip_prefix(folder).ok()) else {
        return Ok(None);
    };
    match below.components().any(|part| is_kept(&part.as_os_str().to_string_lossy())) {
        true => Ok(None),
        false => Err(format!("{} is a link to what else lies in it, which cannot be held", path.display())),
    }
}

/// Whether paths of this name stay as they are, wherever they lie.
fn is_kept(name: &str) -> bool {
    [".git", ".self", "owner.toml"].contains(&name) || name.ends_with(".git") || is_keys(name)
}

/// Whether a name is of a file of keys.
pub fn is_keys(name: &str) -> bool {
    name.starts_with(".env")
}

/// Whether an entry is a folder itself, not a link to one; true where the system does not say.
fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().map_or(true, |kind| kind.is_dir())
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

/// Folders of the programs that the owner runs, this one's too, and of the toolchain.
fn programs() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_path_buf()));
    let named = ["CARGO_HOME", "RUSTUP_HOME"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let all = std::env::split_paths(&path).chain(named).chain(own);
    all.filter_map(|folder| folder.canonicalize().ok()).collect()
}

fn named_in(names: &'static str) -> impl Iterator<Item = &'static str> {
    names.split_whitespace()
}
