//! A folder against a git tree, byte for byte: what differs, how to keep it, how to make it exact.
//!
//! Invariant: ignore rules, filters and the index's idea of freshness have no say here.
//! Invariant: what is written can be read back from the disk.
//! Invariant: what git cannot hold is moved aside, never deleted.

use crate::house::House;
use crate::limits::KEPT_FILE_BYTES;
use crate::way;
use anyhow::{Context, Result, bail};
use git2::{FileMode, ObjectType, Odb, Oid, Repository, Tree};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Paths under `folder` whose content is not what `tree` says: changed, added or missing.
pub fn differences(repo: &Repository, tree: Option<&Tree>, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    compare(repo, tree, folder, Path::new(""), &mut found)?;
    Ok(found)
}

fn compare(
    repo: &Repository,
    tree: Option<&Tree>,
    folder: &Path,
    prefix: &Path,
    found: &mut Vec<PathBuf>,
) -> Result<()> {
    let mut entries = list(folder)?;
    for entry in tree.into_iter().flatten() {
        let name = OsStr::from_bytes(entry.name_bytes());
        let path = prefix.join(name);
        match (entries.remove(name), entry.kind()) {
            (there, Some(ObjectType::Tree)) => {
                if matches!(there, Some(Kind::Held(_) | Kind::Alien)) {
                    found.push(path.clone());
                }
                let subtree = repo.find_tree(entry.id()).context("failed to read a tree")?;
                compare(repo, Some(&subtree), &folder.join(name), &path, found)?;
            }
            (Some(Kind::Held(mode)), Some(ObjectType::Blob)) if mode == entry.filemode() => {
                if !is(repo, &folder.join(name), mode, entry.id())? {
                    found.push(path);
                }
            }
            _ => found.push(path),
        }
    }
    for (name, kind) in entries {
        match kind {
            Kind::Folder => compare(repo, None, &folder.join(&name), &prefix.join(&name), found)?,
            Kind::Held(_) | Kind::Alien => found.push(prefix.join(&name)),
        }
    }
    Ok(())
}

/// Writes a folder as a tree object, all of it: untracked and ignored files too.
pub fn write(repo: &Repository, folder: &Path) -> Result<Oid> {
    // Read back by a handle of its own: this one may remember what the disk has lost.
    let disk = Repository::open(repo.path()).context("failed to open the repository again")?;
    write_proven(repo, &disk.odb()?, folder)
}

/// An object as it is on the disk. One that was there before is not written again by git, even if it rotted:
/// it is moved aside, and what lies in the folder takes its place.
fn prove(repo: &Repository, disk: &Odb, write: impl Fn() -> Result<Oid>) -> Result<Oid> {
    let id = write()?;
    if disk.read(id).is_ok() {
        return Ok(id);
    }
    let name = id.to_string();
    let (folder, file) = name.split_at(2);
    let rotten = repo.commondir().join("objects").join(folder).join(file);
    let house = House::new(repo.workdir().context("the repository has no work tree")?);
    let kept = way::aside(&house, &rotten).with_context(|| format!("failed to move object {id} aside"))?;
    tracing::warn!(%id, kept = %kept.display(), "an object that could not be read is written anew");
    write()
}

fn write_proven(repo: &Repository, disk: &Odb, folder: &Path) -> Result<Oid> {
    let mut builder = repo.treebuilder(None).context("failed to start a tree")?;
    for (name, kind) in list(folder)? {
        let path = folder.join(&name);
        match kind {
            Kind::Folder => {
                let id = write_proven(repo, disk, &path)?;
                if !repo.find_tree(id)?.is_empty() {
                    builder.insert(name, id, FileMode::Tree.into())?;
                }
            }
            Kind::Held(mode) => {
                let bytes = content(&path, mode)?;
                let blob = || repo.blob(&bytes).with_context(|| format!("failed to keep {}", path.display()));
                let id = prove(repo, disk, blob)?;
                builder.insert(name, id, mode)?;
            }
            Kind::Alien => {}
        }
    }
    let tree = || builder.write().with_context(|| format!("failed to write {} as a tree", folder.display()));
    prove(repo, disk, tree)
}

/// Moves aside what git cannot hold, cannot read or should not keep: sockets, nested repositories, huge files.
pub fn move_aliens(folder: &Path, aside: &Path) -> Result<Vec<PathBuf>> {
    let mut moved = Vec::new();
    for (name, kind) in list(folder)? {
        let path = folder.join(&name);
        let held = match kind {
            Kind::Folder if fs::read_dir(&path).is_ok() => {
                moved.extend(move_aliens(&path, &aside.join(&name))?);
                true
            }
            Kind::Held(mode) => is_modest(&path) && content(&path, mode).is_ok(),
            Kind::Folder | Kind::Alien => false,
        };
        if !held {
            let to = aside.join(&name);
            fs::create_dir_all(aside)?;
            fs::rename(&path, &to).with_context(|| format!("failed to move {} aside", path.display()))?;
            moved.push(to);
        }
    }
    Ok(moved)
}

/// Makes `root/name` exactly the tree that `whole` has under that name, and proves it. Index, ignore rules and
/// attributes have no say, and only what differs is written: cargo compiles anew whatever is touched.
pub fn put_back(repo: &Repository, whole: &Tree, name: &str) -> Result<()> {
    let folder = repo.workdir().context("the repository has no work tree")?.join(name);
    let subtree = whole.get_name(name).map(|entry| repo.find_tree(entry.id())).transpose()?;
    if fs::symlink_metadata(&folder).is_ok_and(|meta| !meta.is_dir()) {
        fs::remove_file(&folder)?;
    }
    for path in differences(repo, subtree.as_ref(), &folder)? {
        mend(repo, subtree.as_ref(), &folder, &path)
            .with_context(|| format!("failed to put {name}/{} back", path.display()))?;
    }
    if let Some(path) = differences(repo, subtree.as_ref(), &folder)?.first() {
        bail!("{name}/ still differs from what it should be: {}", path.display());
    }
    Ok(())
}

fn mend(repo: &Repository, tree: Option<&Tree>, folder: &Path, path: &Path) -> Result<()> {
    let full = folder.join(path);
    let there = fs::symlink_metadata(&full);
    if there.as_ref().is_ok_and(|meta| meta.is_dir()) {
        fs::remove_dir_all(&full)?;
    } else if there.is_ok() {
        fs::remove_file(&full)?;
    }
    let entry = tree.and_then(|tree| tree.get_path(path).ok());
    let Some(entry) = entry.filter(|entry| entry.kind() == Some(ObjectType::Blob)) else {
        // A folder that held nothing else goes along: cargo might take it for a crate.
        let above = full.ancestors().skip(1).take_while(|above| *above != folder);
        above.take_while(|above| fs::remove_dir(above).is_ok()).for_each(drop);
        return Ok(());
    };
    let blob = repo.find_blob(entry.id())?;
    if let Some(parent) = full.parent() {
        fs::create_dir_all(parent)?;
    }
    if entry.filemode() == i32::from(FileMode::Link) {
        std::os::unix::fs::symlink(OsStr::from_bytes(blob.content()), &full)?;
        return Ok(());
    }
    crate::files::replace(&full, blob.content())?;
    let executable = entry.filemode() == i32::from(FileMode::BlobExecutable);
    fs::set_permissions(&full, fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 }))?;
    Ok(())
}

/// First seven digits of a commit or tree, for people.
pub fn short(id: Oid) -> String {
    id.to_string().chars().take(7).collect()
}

enum Kind {
    Folder,
    /// A file or link, with the mode git gives it.
    Held(i32),
    Alien,
}

/// What lies in a folder; nothing if it is missing. Cargo's own target folder is a cache and is passed over.
fn list(folder: &Path) -> Result<BTreeMap<std::ffi::OsString, Kind>> {
    let mut entries = BTreeMap::new();
    if fs::symlink_metadata(folder).map_or(true, |meta| !meta.is_dir()) {
        return Ok(entries);
    }
    let read = fs::read_dir(folder).with_context(|| format!("failed to list {}", folder.display()))?;
    for entry in read {
        let entry = entry.with_context(|| format!("failed to list {}", folder.display()))?;
        let meta = fs::symlink_metadata(entry.path())?;
        let (name, path) = (entry.file_name(), entry.path());
        let kind = if meta.is_symlink() {
            Kind::Held(FileMode::Link.into())
        } else if meta.is_dir() {
            if name == "target" && path.join("CACHEDIR.TAG").is_file() {
                continue;
            }
            if name == ".git" || path.join(".git").exists() { Kind::Alien } else { Kind::Folder }
        } else if meta.is_file() && name != ".git" {
            let executable = meta.permissions().mode() & 0o100 != 0;
            Kind::Held(if executable { FileMode::BlobExecutable } else { FileMode::Blob }.into())
        } else {
            Kind::Alien
        };
        entries.insert(name, kind);
    }
    Ok(entries)
}

fn content(path: &Path, mode: i32) -> Result<Vec<u8>> {
    if mode == i32::from(FileMode::Link) {
        return Ok(fs::read_link(path)?.as_os_str().as_bytes().to_vec());
    }
    fs::read(path).with_context(|| format!("failed to read {}", path.display()))
}

/// Whether it can be read whole and kept in a commit.
pub fn is_modest(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.len() <= KEPT_FILE_BYTES)
}

/// Whether a file has the content of this blob. One of another size is not read: it may be endless.
fn is(repo: &Repository, path: &Path, mode: i32, blob: Oid) -> Result<bool> {
    if mode == i32::from(FileMode::Link) {
        return Ok(Oid::hash_object(ObjectType::Blob, &content(path, mode)?)? == blob);
    }
    let (bytes, _) = repo.odb()?.read_header(blob).context("failed to read a tree")?;
    Ok(fs::symlink_metadata(path)?.len() == bytes as u64 && Oid::hash_file(ObjectType::Blob, path)? == blob)
}
