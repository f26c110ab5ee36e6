//! Compares a folder with a git tree, byte for byte.
//!
//! Invariant: ignore rules, filters and the index's cached file times are not consulted.
//! Invariant: no link is followed, though the creature may put one anywhere at any moment.
//! Invariant: whatever the folder holds, memory use is bounded and the comparison ends.

use crate::limits::KEPT_ENTRIES;
use crate::shortage;
use anyhow::{Context, Result};
use git2::{ErrorCode, FileMode, ObjectType, Oid, Repository, Tree, TreeEntry};
use house::openat::Folder;
use house::{files, interrupt, printable};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Most differences that are listed, and the bytes of their names.
const MOST_NAMED: usize = 10_000;
const MOST_NAMED_BYTES: usize = 4 << 20;
/// Most names looked at that the tree does not have; beyond that the folder counts as different.
const MOST_UNKNOWN: usize = KEPT_ENTRIES;

/// Kind of a directory entry, as git takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    Folder,
    /// A file or link, with the mode git gives it.
    Held(i32),
    /// Cargo's target folder: skipped.
    Cache,
    /// An entry git cannot hold.
    Alien,
}

/// Says what the name is now; `None` if it is gone.
pub fn look(folder: &Folder, name: &OsStr, on_top: bool) -> Option<Found> {
    let meta = fs::symlink_metadata(folder.at(name)).ok()?;
    Some(if meta.is_symlink() {
        Found::Held(FileMode::Link.into())
    } else if meta.is_file() {
        Found::Held(mode_of(&meta))
    } else if !meta.is_dir() {
        Found::Alien
    } else if on_top && name == "target" && folder.at(name).join("CACHEDIR.TAG").is_file() {
        // Only at the top: deeper down cargo might take a folder named `target` for a crate.
        Found::Cache
    } else {
        Found::Folder
    })
}

fn mode_of(meta: &fs::Metadata) -> i32 {
    let executable = meta.permissions().mode() & 0o100 != 0;
    if executable { FileMode::BlobExecutable } else { FileMode::Blob }.into()
}

/// Opens a folder of the house, if there is one. Only the owner can change its parent.
pub fn open(folder: &Path) -> Result<Option<Folder>> {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else { return Ok(None) };
    let above = Folder::open(above).with_context(|| format!("failed to open {}", above.display()))?;
    match above.folder(Path::new(name)) {
        Ok(found) => Ok(Some(found)),
        Err(error) if NO_FOLDER.map(Some).contains(&error.raw_os_error()) => Ok(None),
        Err(error) => Err(error).with_context(|| format!("failed to open {}", folder.display())),
    }
}

const NO_FOLDER: [i32; 3] = [libc::ENOENT, libc::ENOTDIR, libc::ELOOP];

/// Paths under `folder` that are changed, added or missing compared to `tree`; bounded, so of very many the first.
pub fn differences(repo: &Repository, tree: Option<&Tree>, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Comparison::of(repo, tree, folder, MOST_NAMED)?;
    found.sort();
    Ok(found)
}

/// Whether folder and tree are the same.
pub fn is_same(repo: &Repository, tree: Option<&Tree>, folder: &Path) -> Result<bool> {
    Ok(Comparison::of(repo, tree, folder, 1)?.is_empty())
}

struct Comparison<'a> {
    repo: &'a Repository,
    most: usize,
    found: Vec<PathBuf>,
    bytes: usize,
    unknown: usize,
}

impl<'a> Comparison<'a> {
    fn of(repo: &'a Repository, tree: Option<&Tree>, folder: &Path, most: usize) -> Result<Vec<PathBuf>> {
        let mut compared = Self { repo, most, found: vec![], bytes: 0, unknown: 0 };
        let held = match open(folder) {
            Ok(held) => held,
            Err(error) if shortage::is_of_shortage(&error) => return Err(error),
            Err(_) => None,
        };
        // Something other than a folder, or a folder that cannot be opened, counts as different.
        if held.is_none() && fs::symlink_metadata(folder).is_ok() {
            compared.differs(Path::new(""));
        }
        compared.folder(tree, held.as_ref(), Path::new(""))?;
        Ok(compared.found)
    }

    fn differs(&mut self, path: &Path) {
        if !self.is_over() {
            self.bytes += path.as_os_str().len();
            self.found.push(path.to_path_buf());
        }
    }

    fn is_over(&self) -> bool {
        self.found.len() >= self.most || self.bytes >= MOST_NAMED_BYTES
    }

    fn folder(&mut self, tree: Option<&Tree>, folder: Option<&Folder>, path: &Path) -> Result<()> {
        let known = folder.map_or(Ok(0), |folder| self.listed(tree, folder, path))?;
        for entry in tree.into_iter().flatten() {
            interrupt::check()?;
            if self.is_over() {
                return Ok(());
            }
            self.entry(&entry, folder, &path.join(OsStr::from_bytes(entry.name_bytes())))?;
        }
        // A case-insensitive disk may show one file under two names of the tree.
        if tree.is_some_and(|tree| folder.is_some() && tree.len() > known) && self.found.is_empty() {
            self.differs(path);
        }
        Ok(())
    }

    /// Notes entries that are not in the tree; returns how many names are.
    fn listed(&mut self, tree: Option<&Tree>, folder: &Folder, path: &Path) -> Result<usize> {
        let (mut known, mut is_empty) = (0, true);
        let names = match folder.names() {
            Ok(names) => names,
            Err(error) if files::is_short(&error) => {
                return Err(error).with_context(|| format!("failed to list {}", printable::path(path)));
            }
            Err(_) => {
                self.differs(path);
                return Ok(0);
            }
        };
        for name in names {
            interrupt::check()?;
            let Ok(name) = name else {
                self.differs(path);
                break;
            };
            is_empty = false;
            if self.is_over() {
                return Ok(known);
            }
            if tree.is_some_and(|tree| tree.get_name_bytes(name.as_bytes()).is_some()) {
                known += 1;
                continue;
            }
            self.unknown += 1;
            if self.unknown > MOST_UNKNOWN {
                self.differs(path);
                self.most = self.found.len();
                return Ok(known);
            }
            let path = path.join(&name);
            match look(folder, &name, path.components().count() == 1) {
                None | Some(Found::Cache) => {}
                Some(Found::Folder) if !folder.is_deep() => match folder.inner(&name) {
                    Ok(below) => self.folder(None, Some(&below), &path)?,
                    Err(_) => self.differs(&path),
                },
                Some(Found::Folder | Found::Held(_) | Found::Alien) => self.differs(&path),
            }
        }
        // An added empty folder counts: in some places cargo takes every folder for a crate.
        if is_empty && tree.is_none() {
            self.differs(path);
        }
        Ok(known)
    }

    fn entry(&mut self, entry: &TreeEntry, folder: Option<&Folder>, path: &Path) -> Result<()> {
        let name = OsStr::from_bytes(entry.name_bytes());
        if entry.kind() == Some(ObjectType::Tree) {
            let tree = self.repo.find_tree(entry.id()).context("failed to read a tree")?;
            let below = folder.filter(|folder| !folder.is_deep()).and_then(|folder| folder.inner(name).ok());
            if folder.is_some_and(|folder| below.is_none() && fs::symlink_metadata(folder.at(name)).is_ok()) {
                self.differs(path);
            }
            return self.folder(Some(&tree), below.as_ref(), path);
        }
        let is_blob = entry.kind() == Some(ObjectType::Blob);
        let same = match folder.filter(|_| is_blob) {
            Some(folder) => is_blob_there(self.repo, folder, name, entry.filemode(), entry.id())?,
            None => false,
        };
        if !same {
            self.differs(path);
        }
        Ok(())
    }
}

/// Whether a file or link with this mode and content is there. A file of another size is not read: it may be endless.
pub fn is_blob_there(repo: &Repository, folder: &Folder, name: &OsStr, mode: i32, blob: Oid) -> Result<bool> {
    let (bytes, _) = repo.odb()?.read_header(blob).context("failed to read a tree")?;
    let path = folder.at(name);
    let found = if mode == i32::from(FileMode::Link) {
        fs::read_link(path).map(|to| to.into_os_string().into_encoded_bytes()).ok()
    } else {
        let file = match files::open(&path) {
            Ok(file) => file,
            Err(error) if shortage::is_of_shortage(&error) => return Err(error),
            // A file that cannot be opened counts as different.
            Err(_) => None,
        };
        let same = |file: &fs::File| {
            file.metadata().is_ok_and(|meta| meta.len() == bytes as u64 && mode_of(&meta) == mode)
        };
        file.filter(same).and_then(|file| {
            let mut found = Vec::with_capacity(bytes);
            file.take(bytes as u64 + 1).read_to_end(&mut found).ok().map(|_| found)
        })
    };
    Ok(match found {
        Some(found) => is_content_of(&found, blob)?,
        None => false,
    })
}

/// SHA-256 of the content of blobs that this process has seen, so that the same bytes are told by the processor's own
/// instructions: git's SHA-1, which looks for forgeries, takes four times as long.
static SEEN: Mutex<Option<HashMap<Oid, [u8; 32]>>> = Mutex::new(None);

/// Whether these bytes are the blob's. Every byte counts each time: nothing but content is remembered.
fn is_content_of(bytes: &[u8], blob: Oid) -> Result<bool> {
    let found: [u8; 32] = Sha256::digest(bytes).into();
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = seen.get_or_insert_default();
    if seen.get(&blob) == Some(&found) {
        return Ok(true);
    }
    let same = Oid::hash_object(ObjectType::Blob, bytes)? == blob;
    if same {
        if seen.len() >= KEPT_ENTRIES {
            seen.clear();
        }
        seen.insert(blob, found);
    }
    Ok(same)
}

/// Letters of the shortest beginning of a commit's name.
const SHORTEST_NAME: usize = 4;

/// Says why a name leads to no commit; without git's own message where there is just none.
pub fn unknown(error: git2::Error, name: &str) -> anyhow::Error {
    let told = format!("no commit is called {name}");
    // Git takes no fewer letters for the beginning of a name, and calls them ambiguous.
    let is_short = error.code() == ErrorCode::Ambiguous && name.len() < SHORTEST_NAME;
    match is_short || [ErrorCode::NotFound, ErrorCode::InvalidSpec].contains(&error.code()) {
        true => anyhow::anyhow!(told),
        false => anyhow::Error::new(error).context(told),
    }
}

/// First seven digits of a commit or tree, for people.
pub fn short(id: Oid) -> String {
    id.to_string().chars().take(7).collect()
}
