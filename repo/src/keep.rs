//! Keeps a folder as a git tree, byte for byte; what git cannot hold is moved aside.
//!
//! Invariant: ignore rules, filters and the index are not consulted, no link is followed, and nothing is deleted.
//! Invariant: whatever a commit contains, git can check out again, on any system; only a rescue may move such files
//! aside.

use crate::limits::{KEPT_BYTES, KEPT_ENTRIES, KEPT_FILE_BYTES, KEPT_PATH_BYTES};
use crate::objects::Objects;
use crate::tree::{self, Found};
use crate::{names, planted, shortage};
use anyhow::{Context, Result, bail};
use git2::{FileMode, ObjectType, Oid, Repository, Tree, TreeEntry};
use house::openat::Folder;
use house::repair::Aside;
use house::{House, files, interrupt, printable};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// How to treat files that git cannot hold or could not check out again.
#[derive(Clone, Copy, PartialEq)]
pub enum Rule {
    /// For a commit: files git cannot hold are moved aside; one it could not check out again refuses the whole
    /// commit.
    Commit,
    /// For a rescue ref: both are moved aside.
    Rescue,
    /// Only the objects are written: both are skipped, and nothing is moved.
    Look,
}

/// Why a commit is refused: git could not check it out again.
#[derive(Debug)]
pub struct Unfit(String);

impl std::fmt::Display for Unfit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Unfit {}

/// The result of keeping a folder.
#[derive(Debug)]
pub struct Kept {
    pub tree: Oid,
    /// Where files were moved aside, if any were.
    pub aside: Option<PathBuf>,
}

/// Keeps all of `root/name`, untracked and ignored files too. Names that `before` already has are accepted.
pub fn folder(repo: &Repository, name: &str, before: Option<&Tree>, rule: Rule) -> Result<Kept> {
    let root = repo.workdir().context("the repository has no work tree")?;
    // A fresh handle reads the disk; this one may still hold objects in memory that the disk has lost.
    let disk = Repository::open(repo.path()).context("failed to open the repository again")?;
    let aside = Aside::new(&House::new(root), name);
    let mut keeper = Keeper { repo, objects: Objects::new(&disk)?, aside, rule, entries: 0, bytes: 0 };
    let tree = match tree::open(&root.join(name))? {
        Some(held) => keeper.folder(&held, Path::new(name), before)?,
        None => None,
    };
    let tree = tree.map_or_else(|| keeper.objects.keep(ObjectType::Tree, &[]), Ok)?;
    keeper.objects.finish()?;
    Ok(Kept { tree, aside: keeper.aside.place })
}

struct Keeper<'a> {
    repo: &'a Repository,
    objects: Objects<'a>,
    aside: Aside,
    rule: Rule,
    entries: usize,
    bytes: u64,
}

/// An entry of an open folder: its path from the repository's root, and the entry of a former tree there.
struct Entry<'a> {
    folder: &'a Folder,
    name: &'a OsStr,
    path: &'a Path,
    known: Option<TreeEntry<'a>>,
}

/// Fate of an entry.
enum Fate {
    Line(i32, Oid),
    Aside,
    Pass,
}

impl Keeper<'_> {
    /// The git tree of a folder; `None` if it holds nothing for git.
    fn folder(&mut self, folder: &Folder, path: &Path, before: Option<&Tree>) -> Result<Option<Oid>> {
        let mut lines = Vec::new();
        let listed = || format!("failed to list {}", printable::path(path));
        for name in folder.names().with_context(listed)? {
            interrupt::check()?;
            let name = name.with_context(listed)?;
            // The entry is gone since the folder was listed.
            let Some(found) = tree::look(folder, &name, path.components().count() == 1) else { continue };
            let known = before.and_then(|before| before.get_name_bytes(name.as_bytes()));
            let path = path.join(&name);
            let fate = self.judge(&Entry { folder, name: &name, path: &path, known }, found)?;
            match fate {
                Fate::Line(mode, id) => lines.push((name, mode, id)),
                Fate::Aside if self.rule != Rule::Look => self.aside.take(folder, &name, &path)?,
                Fate::Aside | Fate::Pass => {}
            }
        }
        if lines.is_empty() {
            return Ok(None);
        }
        self.objects.keep(ObjectType::Tree, &tree_object(lines)).map(Some)
    }

    fn judge(&mut self, entry: &Entry, found: Found) -> Result<Fate> {
        if found == Found::Cache {
            return Ok(Fate::Pass);
        }
        self.entries += 1;
        if self.entries > KEPT_ENTRIES {
            let why = format!("is one too many: there are more than {KEPT_ENTRIES} files and folders");
            return self.too_much(entry, &why);
        }
        let name = entry.name.as_bytes();
        if found == Found::Alien || !names::git_takes(name) {
            return Ok(Fate::Aside);
        }
        let reader = planted::reader(entry.path);
        if reader.is_some() && entry.known.is_none() {
            return Ok(Fate::Aside);
        }
        let bytes = entry.path.as_os_str().len();
        if entry.known.is_none() && bytes > KEPT_PATH_BYTES {
            let why = format!("is {bytes} bytes long; git may not open more than {KEPT_PATH_BYTES}");
            return self.unfit(entry, &why);
        }
        if let Found::Held(mode) = found {
            return self.held(entry, mode);
        }
        if names::is_attributes(name) {
            return self.unfit(entry, "is a folder, where git expects a file");
        }
        self.below(entry)
    }

    fn below(&mut self, entry: &Entry) -> Result<Fate> {
        let below = match entry.folder.inner(entry.name) {
            Ok(below) => below,
            Err(error) if files::is_short(&error) => {
                return Err(error).with_context(|| format!("failed to open {}", printable::path(entry.path)));
            }
            Err(_) => return Ok(Fate::Aside),
        };
        let is_new = entry.known.is_none();
        if fs::symlink_metadata(below.at(".git")).is_ok() || is_new && planted::is_bare_repository(&below) {
            return Ok(Fate::Aside);
        }
        if below.is_deep() {
            return self.unfit(entry, "lies too deep in folders");
        }
        let before = entry.known.as_ref().and_then(|known| self.repo.find_tree(known.id()).ok());
        let tree = self.folder(&below, entry.path, before.as_ref())?;
        Ok(tree.map_or(Fate::Pass, |id| Fate::Line(FileMode::Tree.into(), id)))
    }

    fn held(&mut self, entry: &Entry, mode: i32) -> Result<Fate> {
        let bytes = match content(&entry.folder.at(entry.name), mode) {
            Ok(bytes) => bytes,
            Err(error) if shortage::is_of_shortage(&error) => return Err(error),
            Err(_) => return Ok(Fate::Aside),
        };
        self.bytes += bytes.len() as u64;
        if self.bytes > KEPT_BYTES {
            let why = format!("is one file too many: they come to more than {} MiB", KEPT_BYTES >> 20);
            return self.too_much(entry, &why);
        }
        let id = Oid::hash_object(ObjectType::Blob, &bytes)?;
        let is_new = entry.known.as_ref().is_none_or(|known| known.id() != id);
        if let Some(tool) = planted::reader(entry.path).filter(|_| is_new) {
            return self.unfit(
                entry,
                &format!("is read by the owner's {tool}: it changes by the owner's commit alone"),
            );
        }
        if is_new && names::is_attributes(entry.name.as_bytes()) {
            return self.unfit(entry, "would make git write files otherwise than they were committed");
        }
        self.objects.keep(ObjectType::Blob, &bytes)?;
        Ok(Fate::Line(mode, id))
    }

    /// Refuses a commit over an entry that could not be checked out again; otherwise the entry is moved aside.
    fn unfit(&self, entry: &Entry, why: &str) -> Result<Fate> {
        if self.rule == Rule::Commit {
            return Err(Unfit(format!("{} {why}", printable::path(entry.path))).into());
        }
        Ok(Fate::Aside)
    }

    /// Fails over an entry beyond the bounds, under every rule.
    fn too_much(&self, entry: &Entry, why: &str) -> Result<Fate> {
        self.unfit(entry, why)?;
        bail!("{} {why}", printable::path(entry.path))
    }
}

/// A tree object as git writes it: entries sorted as if names of folders ended with a slash.
fn tree_object(mut lines: Vec<(OsString, i32, Oid)>) -> Vec<u8> {
    let ends = |mode: i32| if mode == i32::from(FileMode::Tree) { &b"/"[..] } else { b"" };
    lines.sort_by(|(one, mode, _), (other, mode_of_other, _)| {
        let letters = one.as_bytes().iter().chain(ends(*mode));
        letters.cmp(other.as_bytes().iter().chain(ends(*mode_of_other)))
    });
    let mut object = Vec::new();
    for (name, mode, id) in lines {
        object.extend(format!("{mode:o} ").into_bytes());
        object.extend(name.into_vec());
        object.push(0);
        object.extend(id.as_bytes());
    }
    object
}

/// The content git would hold of a file or link; follows no link and never waits.
pub fn content(path: &Path, mode: i32) -> Result<Vec<u8>> {
    if mode == i32::from(FileMode::Link) {
        return Ok(fs::read_link(path)?.into_os_string().into_vec());
    }
    let mut bytes = Vec::new();
    let file = files::open(path)?.context("it is gone")?;
    let length = file.metadata()?.len();
    // A larger file is not read at all: it may be endless.
    if length <= KEPT_FILE_BYTES {
        file.take(KEPT_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    }
    if length.max(bytes.len() as u64) > KEPT_FILE_BYTES {
        bail!("it is larger than {KEPT_FILE_BYTES} bytes");
    }
    Ok(bytes)
}
