//! Restores a folder to a git tree: in place where possible, else as a new folder that replaces the old one.
//!
//! Invariant: only files that differ are written, since cargo recompiles whatever is touched; the result is compared
//! afterwards.
//! Invariant: a finished restore is on disk; a failed one can be repeated from the start.

use crate::shortage;
use crate::tree::{self, Found};
use anyhow::{Context, Result, bail, ensure};
use git2::{FileMode, ObjectType, Repository, Tree, TreeEntry};
use house::files::{self, Replacement};
use house::openat::Folder;
use house::{House, interrupt, plain, printable, repair};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Most passes to mend a folder in place: another process may still be writing there.
const PASSES: usize = 3;
/// Most files and folders that are synced one by one; beyond that the disk is synced once.
const MOST_SYNCED: usize = 64;

/// Makes `root/name` exactly the tree that `whole` has under that name, without regard to index, ignore rules and
/// attributes. The caller has kept what differs; a folder that cannot be mended is moved aside whole.
pub fn put_back(repo: &Repository, whole: &Tree, name: &str) -> Result<()> {
    let root = repo.workdir().context("the repository has no work tree")?;
    let tree = whole.get_name(name).map(|entry| repo.find_tree(entry.id())).transpose()?;
    let Err(error) = in_place(repo, tree.as_ref(), root, name) else { return Ok(()) };
    // After the owner's order, or for lack of space, writing a new folder would not help.
    interrupt::check()?;
    if shortage::is_of_shortage(&error) {
        return Err(error);
    }
    tracing::warn!("{error:#}; {name}/ is written anew");
    anew(repo, tree.as_ref(), &House::new(root), name)
}

fn in_place(repo: &Repository, tree: Option<&Tree>, root: &Path, name: &str) -> Result<()> {
    let above = Folder::open(root).with_context(|| format!("failed to open {}", root.display()))?;
    let mut mended = Ok(());
    for _ in 0..PASSES {
        mended = mend(repo, tree, &above, name);
        interrupt::check()?;
        if mended.as_ref().is_err_and(shortage::is_of_shortage) {
            return mended;
        }
        if mended.is_ok() && tree::is_same(repo, tree, &root.join(name))? {
            return Ok(());
        }
    }
    mended?;
    let different = tree::differences(repo, tree, &root.join(name))?;
    let path = different.first().map(|path| printable::path(path)).unwrap_or_default();
    bail!("{name}/{path} does not stay as it was put back")
}

/// Writes the tree to a new folder, checks it, moves the old folder aside and puts the new one in its place.
fn anew(repo: &Repository, tree: Option<&Tree>, house: &House, name: &str) -> Result<()> {
    let (above, at) = (Folder::open(house.root())?, house.root().join(name));
    fs::create_dir_all(house.kept())?;
    let (kept, new) = (Folder::open(&house.kept())?, files::unused_name());
    let written = || -> Result<()> {
        mend(repo, tree, &kept, &new)?;
        ensure!(
            tree::is_same(repo, tree, &house.kept().join(&new))?,
            "what was written is not what was meant"
        );
        if fs::symlink_metadata(&at).is_ok() {
            let old = repair::whole(house, name)?;
            tracing::warn!(kept = %old.display(), "{name}/ is exchanged whole; what lay there is kept");
        }
        // A rename cannot cross disks; then the tree is written in place.
        fs::rename(kept.at(&new), &at).or_else(|_| mend(repo, tree, &above, name))?;
        above.sync()?;
        ensure!(tree::is_same(repo, tree, &at)?, "it does not stay as it was written");
        Ok(())
    };
    let written = written().with_context(|| format!("failed to write {name}/ anew"));
    if fs::symlink_metadata(kept.at(&new)).is_ok() {
        let _ = kept.remove_all(&new);
    }
    written
}

/// Makes a file or link as a tree has it.
pub fn put_file(repo: &Repository, entry: &TreeEntry, folder: &Folder, name: &OsStr) -> Result<()> {
    Mending { repo, synced: 0, owes: false }.blob(entry, folder, name).map(|_| ())
}

/// Passes once over a folder: removes what is not in the tree, writes what is missing or differs.
fn mend(repo: &Repository, tree: Option<&Tree>, above: &Folder, name: &str) -> Result<()> {
    let mut mending = Mending { repo, synced: 0, owes: false };
    let is_there = fs::symlink_metadata(above.at(name));
    if is_there.as_ref().is_ok_and(|meta| !meta.is_dir()) {
        above.remove_all(name).with_context(|| format!("failed to remove what is called {name}"))?;
    }
    let folder = above.make(Path::new(name)).with_context(|| format!("failed to open {name}/"))?;
    mending.folder(tree, &folder, Path::new(""))?;
    if is_there.is_err() {
        above.sync()?;
    }
    if mending.owes {
        folder.sync_disk().context("failed to sync the disk")?;
    }
    Ok(())
}

struct Mending<'a> {
    repo: &'a Repository,
    synced: usize,
    /// Whether the whole disk has to be synced at the end.
    owes: bool,
}

impl Mending<'_> {
    fn folder(&mut self, tree: Option<&Tree>, folder: &Folder, path: &Path) -> Result<()> {
        folder.free();
        let mut changed = self.clear(tree, folder, path)?;
        for entry in tree.into_iter().flatten() {
            interrupt::check()?;
            let name = OsStr::from_bytes(entry.name_bytes());
            let path = path.join(name);
            let mended = self.entry(&entry, folder, name, &path);
            changed |= mended.with_context(|| format!("failed to put {} back", printable::path(&path)))?;
        }
        if changed { self.sync(|| folder.sync()) } else { Ok(()) }
    }

    /// Removes what the tree does not have, before anything is written: a case-insensitive disk may take two names
    /// for one.
    fn clear(&self, tree: Option<&Tree>, folder: &Folder, path: &Path) -> Result<bool> {
        let mut changed = false;
        for name in folder.names().with_context(|| format!("failed to list {}", printable::path(path)))? {
            interrupt::check()?;
            let name = name.with_context(|| format!("failed to list {}", printable::path(path)))?;
            if tree.is_some_and(|tree| tree.get_name_bytes(name.as_bytes()).is_some()) {
                continue;
            }
            let path = path.join(&name);
            if matches!(tree::look(folder, &name, path.components().count() == 1), None | Some(Found::Cache))
            {
                continue;
            }
            remove_if_there(folder, &name)
                .with_context(|| format!("failed to remove {}", printable::path(&path)))?;
            changed = true;
        }
        Ok(changed)
    }

    /// Writes one entry of the tree; returns whether the folder's list of names changed.
    fn entry(&mut self, entry: &TreeEntry, folder: &Folder, name: &OsStr, path: &Path) -> Result<bool> {
        let mut parts = Path::new(name).components();
        let is_name = matches!(parts.next(), Some(std::path::Component::Normal(one)) if one == name);
        ensure!(is_name && parts.next().is_none(), "it is no name");
        match entry.kind() {
            Some(ObjectType::Tree) => {
                ensure!(!folder.is_deep(), "it lies too deep in folders");
                let tree = self.repo.find_tree(entry.id()).context("failed to read a tree")?;
                let there = folder.inner(name);
                let is_new = there.is_err();
                let below = there.or_else(|_| {
                    remove_if_there(folder, name)?;
                    fs::create_dir(folder.at(name))?;
                    folder.inner(name)
                })?;
                self.folder(Some(&tree), &below, path)?;
                Ok(is_new)
            }
            Some(ObjectType::Blob) => self.blob(entry, folder, name),
            _ => bail!("it is a repository of its own"),
        }
    }

    fn blob(&mut self, entry: &TreeEntry, folder: &Folder, name: &OsStr) -> Result<bool> {
        let (mode, at) = (entry.filemode(), folder.at(name));
        let (is_link, executable) =
            (mode == i32::from(FileMode::Link), mode == i32::from(FileMode::BlobExecutable));
        if tree::is_blob_there(self.repo, folder, name, mode, entry.id())? {
            if !is_link && let Ok(Some(file)) = files::open(&at) {
                plain::free_file(&file, executable);
            }
            return Ok(false);
        }
        let blob = self.repo.find_blob(entry.id()).context("failed to read it from the repository")?;
        if is_link {
            remove_if_there(folder, name)?;
            std::os::unix::fs::symlink(OsStr::from_bytes(blob.content()), at)?;
            return Ok(true);
        }
        let mut new = Replacement::write(&at, 0o600, blob.content())?;
        // By descriptor: a file may inherit an access list from its folder that keeps it from being opened by name.
        plain::free(&new.file);
        new.file.set_permissions(plain::usual(executable))?;
        self.sync(|| new.file.sync_all())?;
        if new.rename(&at).is_err() {
            remove_if_there(folder, name)?;
            new.rename(&at)?;
        }
        Ok(true)
    }

    fn sync(&mut self, one: impl FnOnce() -> std::io::Result<()>) -> Result<()> {
        self.synced += 1;
        self.owes |= self.synced > MOST_SYNCED;
        if self.owes { Ok(()) } else { one().context("failed to sync it") }
    }
}

fn remove_if_there(folder: &Folder, name: &OsStr) -> std::io::Result<()> {
    match folder.remove_all(name) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
