//! `creature/` as it lies: whether it is what a commit has, whose the difference is, how to keep it, how to put it back.
//!
//! Invariant: only `creature/` is ever put back, and what is overwritten was kept before: under a ref, or aside.
//! Every function may be run again after a kill at any point of it.

use crate::git::keep::{self, Rule};
use crate::git::repo::{Repo, Version};
use crate::git::{restore, shortage, tree};
use anyhow::{Context, Result, anyhow};
use git2::{FileMode, Index, IndexEntry, IndexTime, Oid, Repository, Signature, Tree};
use house::{clock, interrupt, repair};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const RESCUED: &str = "refs/guardian/rescued/";

/// Where the creature's draft lies.
const DRAFT: &str = ".self/workspace/draft/creature";

impl Repo {
    /// Paths in `creature/` that are not as `version` has them.
    pub fn dirty(&self, version: Version) -> Result<Vec<PathBuf>> {
        self.compare(version, tree::differences)
    }

    fn compare<T>(
        &self,
        version: Version,
        how: impl Fn(&Repository, Option<&Tree>, &Path) -> Result<T>,
    ) -> Result<T> {
        let compare = || {
            let tree = self.git.find_tree(version.tree).context("failed to read the creature's tree")?;
            how(&self.git, Some(&tree), &self.house.creature())
        };
        compare().or_else(|_| {
            interrupt::check()?;
            // What rotted in the object store may lie in the folder as it was: then writing it mends it.
            keep::folder(&self.git, "creature", None, Rule::Look).and_then(|_| compare())
        })
    }

    /// What of it the owner's git shows as edited. It says nothing of folders that hold nothing, of pipes and sockets, nor
    /// of bytes it wrote otherwise than they were committed, as attributes and settings may tell it to.
    pub fn edits(&self, dirty: &[PathBuf]) -> Vec<PathBuf> {
        let index = || -> Result<(Index, Tree)> {
            let mut index = self.git.index()?;
            index.read(false)?;
            Ok((index, self.git.head()?.peel_to_tree()?))
        };
        // Without an index, git shows everything.
        let index = if dirty.is_empty() { None } else { index().ok() };
        let by_git = |path: &Path, meta: &Metadata| {
            let (index, tree) = index.as_ref()?;
            let entry = index.get_path(path, 0)?;
            Some(tree.get_path(path).ok()?.id() == entry.id && is_as_written(&entry, meta))
        };
        let shown = |path: &&PathBuf| {
            let (at, path) = (self.house.creature().join(path), Path::new("creature").join(path));
            let Ok(meta) = fs::symlink_metadata(&at) else { return true };
            if meta.is_dir() {
                return fs::read_dir(&at).map_or(true, |mut entries| entries.next().is_some());
            }
            (meta.is_file() || meta.is_symlink()) && by_git(&path, &meta) != Some(true)
        };
        dirty.iter().filter(shown).cloned().collect()
    }

    /// Keeps everything in `creature/` that differs from HEAD: under a ref, or aside where git cannot hold it. Where the
    /// most of it is now, if there was anything. What is kept already is not kept again.
    pub fn rescue(&self, why: &str) -> Result<Option<String>> {
        let head = self.head()?;
        if self.is_at(head)? {
            return Ok(None);
        }
        let is_folder = match fs::symlink_metadata(self.house.creature()) {
            Ok(meta) => meta.is_dir(),
            Err(_) => return Ok(None),
        };
        let parent = self.git.find_commit(head.commit)?;
        let known = self.git.find_tree(head.tree).ok();
        let kept = if is_folder {
            keep::folder(&self.git, "creature", known.as_ref(), Rule::Rescue)
        } else {
            Err(anyhow!("creature/ is no folder"))
        };
        let kept = match kept {
            Ok(kept) => kept,
            Err(error) => return self.rescue_whole(error),
        };
        let aside = kept.aside.map(|aside| self.inside(&aside));
        if let Some(aside) = &aside {
            tracing::warn!(kept = aside, "what git cannot hold of creature/ was moved aside");
        }
        let mut builder = self.git.treebuilder(Some(&parent.tree()?))?;
        builder.insert("creature", kept.tree, FileMode::Tree.into())?;
        let whole = self.git.find_tree(builder.write()?)?;
        if kept.tree == head.tree {
            return Ok(aside);
        }
        if let Some(same) = self.newest_rescued().filter(|(_, tree)| *tree == whole.id()) {
            return Ok(Some(same.0));
        }
        let guardian = Signature::now("guardian", "guardian@feral.invalid")?;
        let message = format!("guardian: kept before it was overwritten: {why}");
        let commit = self.git.commit(None, &guardian, &guardian, &message, &whole, &[&parent])?;
        let name = format!("{RESCUED}{}", clock::name());
        self.point(&name, commit, &message)?;
        Ok(Some(name))
    }

    /// Keeps the creature's draft under a ref of its own; its commit, if there is a draft. What git cannot hold of it stays.
    pub fn keep_draft(&self) -> Result<Option<Oid>> {
        if !fs::symlink_metadata(self.house.root().join(DRAFT)).is_ok_and(|found| found.is_dir()) {
            return Ok(None);
        }
        let kept = keep::folder(&self.git, DRAFT, None, Rule::Look)?;
        let parent = self.git.head()?.peel_to_commit()?;
        let mut builder = self.git.treebuilder(Some(&parent.tree()?))?;
        builder.insert("creature", kept.tree, FileMode::Tree.into())?;
        let whole = self.git.find_tree(builder.write()?)?;
        let guardian = Signature::now("guardian", "guardian@feral.invalid")?;
        let message = "guardian: a draft of the creature's that nobody touched for long";
        let commit = self.git.commit(None, &guardian, &guardian, message, &whole, &[&parent])?;
        self.point(&format!("{RESCUED}{}", clock::name()), commit, message)?;
        Ok(Some(commit))
    }

    /// What cannot be kept name by name is kept as it lies. Not where only the time is wrong, or the disk full.
    fn rescue_whole(&self, error: anyhow::Error) -> Result<Option<String>> {
        interrupt::check()?;
        if shortage::is_of_shortage(&error) {
            return Err(error);
        }
        tracing::warn!("{error:#}; creature/ is kept as it lies");
        Ok(Some(self.inside(&repair::whole(&self.house, "creature")?)))
    }

    /// The last ref under which something was kept, and its tree.
    fn newest_rescued(&self) -> Option<(String, Oid)> {
        let mut found = self.git.references_glob(&format!("{RESCUED}*")).ok()?;
        let newest = found.names().flatten().max()?.to_owned();
        let tree = self.git.find_reference(&newest).ok()?.peel_to_tree().ok()?.id();
        Some((newest, tree))
    }

    /// A path of the house, from its root on.
    fn inside(&self, path: &Path) -> String {
        path.strip_prefix(self.house.root()).unwrap_or(path).display().to_string()
    }

    /// Puts `creature/` back to what `commit` has there. The caller has rescued what differs.
    pub fn put_back(&self, commit: Oid) -> Result<()> {
        let whole = self.git.find_commit(commit)?.tree()?;
        restore::put_back(&self.git, &whole, "creature")
    }

    /// Whether `creature/` is now what `version` has. An error only when it was interrupted.
    pub fn is_at(&self, version: Version) -> Result<bool> {
        let same = self.compare(version, tree::is_same);
        interrupt::check()?;
        Ok(same.unwrap_or(false))
    }
}

/// Whether a file is as git left it when it wrote this entry, or last looked.
fn is_as_written(entry: &IndexEntry, meta: &Metadata) -> bool {
    let same = |time: IndexTime, seconds: i64, nanoseconds: i64| {
        i64::from(time.seconds()) == seconds && [0, nanoseconds].contains(&i64::from(time.nanoseconds()))
    };
    same(entry.mtime, meta.mtime(), meta.mtime_nsec())
        && same(entry.ctime, meta.ctime(), meta.ctime_nsec())
        // Kept as 32 bits.
        && u64::from(entry.file_size) == meta.len() & u64::from(u32::MAX)
        && u64::from(entry.ino) == meta.ino() & u64::from(u32::MAX)
}
