//! Kept binaries: a checked copy for each rung, which runs when there is no compiler, registry or free disk space.
//!
//! Invariant: a binary is named after its creature tree, complete or absent, and never run unless its hash matches.

use anyhow::{Context, Result};
use house::House;
use house::files::{self, Mark};
use house::openat::Folder;
use house::sealed::checksum_of;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

pub struct Binaries {
    folder: PathBuf,
    target: PathBuf,
    /// The binary verified last, and its mark then: a changed mark means hashing it again.
    verified: Option<(PathBuf, Mark)>,
    built: Option<Built>,
}

/// The last successful build. The creature may write to its folder later, so what lies there is compared before it counts.
struct Built {
    tree: String,
    path: PathBuf,
    /// The hash right after the build, where that could be read.
    hash: Option<String>,
    /// The mark under which the hash was last seen to fit.
    seen: Option<Mark>,
}

impl Binaries {
    pub fn new(house: &House) -> Self {
        Self { folder: house.binaries(), target: house.target(), verified: None, built: None }
    }

    /// The kept binary of a tree, if its hash matches.
    pub fn get(&mut self, tree: &str) -> Option<PathBuf> {
        let path = self.folder.join(tree);
        let mark = files::mark(&path)?;
        if self.verified.as_ref() == Some(&(path.clone(), mark)) {
            return Some(path);
        }
        let wanted = files::read_small(&path.with_extension("sha256")).ok()??;
        let found = hash(&path).ok()?;
        if wanted.trim_ascii() != found.as_bytes() {
            tracing::warn!(binary = %path.display(), "a kept binary does not match its hash and is not used");
            return None;
        }
        self.verified = Some((path.clone(), mark));
        Some(path)
    }

    /// The hash that the kept binary of a tree is to have.
    pub fn hash_of(&self, tree: &str) -> Option<String> {
        let path = self.folder.join(tree);
        files::mark(&path)?;
        let hash = files::read_small(&path.with_extension("sha256")).ok()??;
        Some(String::from_utf8(hash).ok()?.trim().to_owned())
    }

    /// Notes a successful build, before a creature lives that could replace its binary.
    pub fn note(&mut self, tree: &str, path: PathBuf) {
        let seen = files::mark(&path);
        let hash = self.open(&path).and_then(checksum_of);
        let hash = hash.inspect_err(|error| tracing::warn!("{error:#}")).ok();
        self.built = Some(Built { tree: tree.to_owned(), path, seen: seen.filter(|_| hash.is_some()), hash });
    }

    /// The last build's binary, if that was of this tree and is what was built.
    pub fn built(&mut self, tree: &str) -> Option<PathBuf> {
        let built = self.built.as_ref().filter(|built| built.tree == tree)?;
        let (path, mark) = (built.path.clone(), files::mark(&built.path)?);
        if built.seen != Some(mark) {
            let found = self.open(&path).and_then(checksum_of).ok()?;
            if built.hash.as_ref() != Some(&found) {
                tracing::warn!(binary = %path.display(), "it was changed after it was built, and is built anew");
                self.built = None;
                return None;
            }
            self.built.iter_mut().for_each(|built| built.seen = Some(mark));
        }
        Some(path)
    }

    /// Keeps a copy of the last build's binary, if that was of this tree: copied aside, synced, hashed, renamed. True if
    /// it is new. A binary that changed since its build may be of other source, and is not kept.
    pub fn keep(&mut self, tree: &str) -> Result<bool> {
        let built = self.built.as_ref().filter(|built| built.tree == tree);
        let built = built.map(|built| (built.path.clone(), built.hash.clone()));
        let Some((from, wanted)) = built.filter(|_| self.get(tree).is_none()) else { return Ok(false) };
        let (path, aside) = (self.folder.join(tree), self.folder.join("aside"));
        let copy = || -> Result<bool> {
            let mut copy = files::create(&aside)?;
            io::copy(&mut self.open(&from)?, &mut copy)?;
            copy.set_permissions(fs::Permissions::from_mode(0o755))?;
            copy.sync_all()?;
            drop(copy);
            let found = hash(&aside)?;
            if wanted.is_some_and(|wanted| wanted != found) {
                tracing::warn!("the binary of {tree} was changed after it was built, and is not kept");
                fs::remove_file(&aside)?;
                return Ok(false);
            }
            files::replace(&path.with_extension("sha256"), found.as_bytes())?;
            fs::rename(&aside, &path)?;
            files::sync_folder(&path)?;
            Ok(true)
        };
        let copied = copy().with_context(|| format!("failed to keep the binary of {tree}"));
        if copied.is_err() {
            let _ = fs::remove_file(&aside);
        }
        copied
    }

    /// Opens a binary below the build folder through no link: a creature's build reports its path, so the path is not
    /// trusted.
    fn open(&self, path: &Path) -> Result<File> {
        let name = path.file_name().context("it has no name")?;
        let inside = path.strip_prefix(&self.target).ok().and_then(Path::parent);
        let inside = inside.with_context(|| format!("{} is not in the build folder", path.display()))?;
        let folder = Folder::open(&self.target).and_then(|target| target.folder(inside))?;
        files::open(&folder.at(name))?.context("it is gone")
    }

    /// Removes the binaries of all other trees.
    pub fn retain(&self, trees: &[String]) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let stem = name.trim_end_matches(".sha256");
            if !trees.iter().any(|tree| tree == stem) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn hash(path: &Path) -> Result<String> {
    checksum_of(files::open(path)?.context("it is gone")?)
}
