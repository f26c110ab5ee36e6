//! A folder against a git tree, byte for byte: what differs, how to keep it, how to make it exact.
//!
//! Invariant: ignore rules, filters and the index's idea of freshness have no say here.
//! Invariant: what is written can be read back from the disk.
//! Invariant: what git cannot hold is moved aside, never deleted.
//! Invariant: no link is followed, though the creature may put one anywhere at any moment.

use crate::beneath::Folder;
use crate::house::House;
use crate::limits::KEPT_FILE_BYTES;
use crate::{files, way};
use anyhow::{Context, Result, bail};
use git2::{FileMode, ObjectType, Odb, Oid, Repository, Tree};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Paths under `folder` whose content is not what `tree` says: changed, added or missing.
pub fn differences(repo: &Repository, tree: Option<&Tree>, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    compare(repo, tree, open(folder)?.as_ref(), Path::new(""), &mut found)?;
    Ok(found)
}

/// A folder of the house; nothing where there is none. Its parent is nobody's to change but the owner's.
fn open(folder: &Path) -> Result<Option<Folder>> {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else { return Ok(None) };
    let above = Folder::open(above).with_context(|| format!("failed to open {}", above.display()))?;
    below(&above, name, folder)
}

/// A folder in a folder, if there is one: what is missing, a file or a link is none.
fn below(folder: &Folder, name: &OsStr, path: &Path) -> Result<Option<Folder>> {
    match folder.folder(Path::new(name)) {
        Ok(found) => Ok(Some(found)),
        Err(error)
            if [libc::ENOENT, libc::ENOTDIR, libc::ELOOP].map(Some).contains(&error.raw_os_error()) =>
        {
            Ok(None)
        }
        Err(error) => Err(error).with_context(|| format!("failed to list {}", path.display())),
    }
}

fn compare(
    repo: &Repository,
    tree: Option<&Tree>,
    folder: Option<&Folder>,
    prefix: &Path,
    found: &mut Vec<PathBuf>,
) -> Result<()> {
    let mut entries = list(folder, prefix)?;
    for entry in tree.into_iter().flatten() {
        let name = OsStr::from_bytes(entry.name_bytes());
        let path = prefix.join(name);
        match (entries.remove(name), entry.kind(), folder) {
            (there, Some(ObjectType::Tree), _) => {
                if matches!(there, Some(Kind::Held(_) | Kind::Alien)) {
                    found.push(path.clone());
                }
                let subtree = repo.find_tree(entry.id()).context("failed to read a tree")?;
                let folder = folder.map(|folder| below(folder, name, &path)).transpose()?.flatten();
                compare(repo, Some(&subtree), folder.as_ref(), &path, found)?;
            }
            (Some(Kind::Held(mode)), Some(ObjectType::Blob), Some(folder)) if mode == entry.filemode() => {
                if !is(repo, &folder.at(name), mode, entry.id())? {
                    found.push(path);
                }
            }
            _ => found.push(path),
        }
    }
    for (name, kind) in entries {
        let path = prefix.join(&name);
        match (kind, folder) {
            (Kind::Folder, Some(folder)) => {
                compare(repo, None, below(folder, &name, &path)?.as_ref(), &path, found)?;
            }
            _ => found.push(path),
        }
    }
    Ok(())
}

/// Writes a folder as a tree object, all of it: untracked and ignored files too.
pub fn write(repo: &Repository, folder: &Path) -> Result<Oid> {
    // Read back by a handle of its own: this one may remember what the disk has lost.
    let disk = Repository::open(repo.path()).context("failed to open the repository again")?;
    write_proven(repo, &disk.odb()?, open(folder)?.as_ref(), folder)
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

fn write_proven(repo: &Repository, disk: &Odb, folder: Option<&Folder>, path: &Path) -> Result<Oid> {
    let mut builder = repo.treebuilder(None).context("failed to start a tree")?;
    for (name, kind) in list(folder, path)? {
        let Some(folder) = folder else { continue };
        let path = path.join(&name);
        match kind {
            Kind::Folder => {
                let id = write_proven(repo, disk, below(folder, &name, &path)?.as_ref(), &path)?;
                if !repo.find_tree(id)?.is_empty() {
                    builder.insert(name, id, FileMode::Tree.into())?;
                }
            }
            Kind::Held(mode) => {
                let bytes = content(&folder.at(&name), mode)
                    .with_context(|| format!("failed to read {}", path.display()))?;
                let blob = || repo.blob(&bytes).with_context(|| format!("failed to keep {}", path.display()));
                let id = prove(repo, disk, blob)?;
                builder.insert(name, id, mode)?;
            }
            Kind::Alien => {}
        }
    }
    let tree = || builder.write().with_context(|| format!("failed to write {} as a tree", path.display()));
    prove(repo, disk, tree)
}

/// Moves aside what git cannot hold, cannot read or should not keep: sockets, nested repositories, huge files.
pub fn move_aliens(folder: &Path, aside: &Path) -> Result<Vec<PathBuf>> {
    open(folder)?.map_or(Ok(vec![]), |held| move_aliens_of(&held, folder, aside))
}

fn move_aliens_of(folder: &Folder, path: &Path, aside: &Path) -> Result<Vec<PathBuf>> {
    let mut moved = Vec::new();
    for (name, kind) in list(Some(folder), path)? {
        let (from, path) = (folder.at(&name), path.join(&name));
        let held = match (kind, folder.folder(Path::new(&name))) {
            (Kind::Folder, Ok(below)) => {
                moved.extend(move_aliens_of(&below, &path, &aside.join(&name))?);
                true
            }
            (Kind::Held(mode), _) => is_modest(&from) && content(&from, mode).is_ok(),
            (Kind::Folder | Kind::Alien, _) => false,
        };
        if !held {
            let to = aside.join(&name);
            fs::create_dir_all(aside)?;
            fs::rename(&from, &to).with_context(|| format!("failed to move {} aside", path.display()))?;
            moved.push(to);
        }
    }
    Ok(moved)
}

/// Makes `root/name` exactly the tree that `whole` has under that name, and proves it. Index, ignore rules and
/// attributes have no say, and only what differs is written: cargo compiles anew whatever is touched.
pub fn put_back(repo: &Repository, whole: &Tree, name: &str) -> Result<()> {
    let root = repo.workdir().context("the repository has no work tree")?;
    let folder = root.join(name);
    let subtree = whole.get_name(name).map(|entry| repo.find_tree(entry.id())).transpose()?;
    if fs::symlink_metadata(&folder).is_ok_and(|meta| !meta.is_dir()) {
        fs::remove_file(&folder)?;
    }
    let held = Folder::open(root).and_then(|root| root.make(Path::new(name)));
    let held = held.with_context(|| format!("failed to open {name}/"))?;
    for path in differences(repo, subtree.as_ref(), &folder)? {
        mend(repo, subtree.as_ref(), &held, &path)
            .with_context(|| format!("failed to put {name}/{} back", path.display()))?;
    }
    if let Some(path) = differences(repo, subtree.as_ref(), &folder)?.first() {
        bail!("{name}/ still differs from what it should be: {}", path.display());
    }
    Ok(())
}

fn mend(repo: &Repository, tree: Option<&Tree>, folder: &Folder, path: &Path) -> Result<()> {
    let name = path.file_name().context("it has no name")?;
    let above = path.parent().unwrap_or(Path::new(""));
    if let Ok(above) = folder.folder(above)
        && fs::symlink_metadata(above.at(name)).is_ok()
    {
        above.remove_all(name)?;
    }
    let entry = tree.and_then(|tree| tree.get_path(path).ok());
    let Some(entry) = entry.filter(|entry| entry.kind() == Some(ObjectType::Blob)) else {
        // A folder that held nothing else goes along: cargo might take it for a crate.
        for empty in above.ancestors().filter(|empty| !empty.as_os_str().is_empty()) {
            let (Some(name), Some(above)) = (empty.file_name(), empty.parent()) else { break };
            let removed = folder.folder(above).and_then(|above| fs::remove_dir(above.at(name)));
            if removed.is_err() {
                break;
            }
        }
        return Ok(());
    };
    let blob = repo.find_blob(entry.id())?;
    let full = folder.make(above)?;
    let full = full.at(name);
    if entry.filemode() == i32::from(FileMode::Link) {
        std::os::unix::fs::symlink(OsStr::from_bytes(blob.content()), &full)?;
        return Ok(());
    }
    files::replace(&full, blob.content())?;
    let executable = entry.filemode() == i32::from(FileMode::BlobExecutable);
    let mode = fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 });
    // By the open file: what has its name now may be a link.
    files::open(&full)?.context("it is gone again")?.set_permissions(mode)?;
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
fn list(folder: Option<&Folder>, path: &Path) -> Result<BTreeMap<std::ffi::OsString, Kind>> {
    let mut entries = BTreeMap::new();
    let Some(folder) = folder else { return Ok(entries) };
    let read = fs::read_dir(folder.path()).with_context(|| format!("failed to list {}", path.display()))?;
    for entry in read {
        let entry = entry.with_context(|| format!("failed to list {}", path.display()))?;
        // What is gone since it was listed does not lie there.
        let Ok(meta) = fs::symlink_metadata(entry.path()) else { continue };
        let (name, path) = (entry.file_name(), entry.path());
        let kind = if meta.is_symlink() && git_takes(&name, true) {
            Kind::Held(FileMode::Link.into())
        } else if meta.is_dir() {
            if name == "target" && path.join("CACHEDIR.TAG").is_file() {
                continue;
            }
            let alien = !git_takes(&name, false) || folder.is_deep() || path.join(".git").exists();
            if alien { Kind::Alien } else { Kind::Folder }
        } else if meta.is_file() && git_takes(&name, false) {
            let executable = meta.permissions().mode() & 0o100 != 0;
            Kind::Held(if executable { FileMode::BlobExecutable } else { FileMode::Blob }.into())
        } else {
            Kind::Alien
        };
        entries.insert(name, kind);
    }
    Ok(entries)
}

/// Whether git lets a tree or an index hold this name. It refuses what some file system would take for `.git`, and links
/// that one would take for `.gitmodules`.
fn git_takes(name: &OsStr, is_link: bool) -> bool {
    let ignored = |letter: &char| matches!(u32::from(*letter), 0x200C..=0x200F | 0x202A..=0x202E | 0x206A..=0x206F | 0xFEFF);
    let name: String = name.to_string_lossy().chars().filter(|letter| !ignored(letter)).collect();
    let name = name.to_ascii_lowercase();
    let is = |own: &str| {
        name.strip_prefix(own)
            .is_some_and(|rest| rest.starts_with([':', '\\']) || rest.trim_end_matches(['.', ' ']).is_empty())
    };
    let is_modules = || is(".gitmodules") || name.starts_with("gitmod~") || name.starts_with("gi7eba~");
    !(is(".git") || is("git~1") || (is_link && is_modules()))
}

/// What git would hold of a file or link, as it is now; nothing is followed and nothing can make it wait.
pub fn content(path: &Path, mode: i32) -> Result<Vec<u8>> {
    if mode == i32::from(FileMode::Link) {
        return Ok(fs::read_link(path)?.as_os_str().as_bytes().to_vec());
    }
    let mut bytes = Vec::new();
    let file = files::open(path)?.context("it is gone")?;
    file.take(KEPT_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > KEPT_FILE_BYTES {
        bail!("it is larger than {KEPT_FILE_BYTES} bytes");
    }
    Ok(bytes)
}

/// Whether it can be read whole and kept in a commit.
pub fn is_modest(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.len() <= KEPT_FILE_BYTES)
}

/// Whether a file has the content of this blob. One of another size is not read: it may be endless.
fn is(repo: &Repository, path: &Path, mode: i32, blob: Oid) -> Result<bool> {
    let (bytes, _) = repo.odb()?.read_header(blob).context("failed to read a tree")?;
    if mode != i32::from(FileMode::Link)
        && !fs::symlink_metadata(path).is_ok_and(|meta| meta.len() == bytes as u64)
    {
        return Ok(false);
    }
    // What cannot be read any more is not what it was: it may have been swapped for something else meanwhile.
    let Ok(found) = content(path, mode) else { return Ok(false) };
    Ok(Oid::hash_object(ObjectType::Blob, &found)? == blob)
}
