//! `creature/` on disk: whether it matches a commit, whose the changes are, keeping them, and restoring it.
//!
//! Invariant: only `creature/` is ever restored, and what is overwritten was kept before, under a ref or aside.
//! Every function may be repeated after a kill at any point.

use crate::keep::{self, Rule};
use crate::{RESCUED, Repo, Version};
use crate::{restore, shortage, tree};
use anyhow::{Context, Result, anyhow};
use git2::{FileMode, Index, IndexEntry, IndexTime, Oid, Repository, Signature, Tree};
use house::clock::Millis;
use house::{clock, interrupt, repair};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folder of the creature's draft.
const DRAFT: &str = ".self/workspace/draft/creature";

impl Repo {
    /// Paths in `creature/` that differ from `version`.
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
            // A damaged object may still be in the folder as a file: writing the folder's objects restores it.
            keep::folder(&self.git, "creature", None, Rule::Look).and_then(|_| compare())
        })
    }

    /// Returns the paths that the owner's git shows as edited. Git does not show empty folders, pipes, sockets, and
    /// files that attributes or settings made it write differently from what was committed.
    pub fn edits(&self, dirty: &[PathBuf]) -> Vec<PathBuf> {
        let index = || -> Result<(Index, Tree)> {
            let mut index = self.git.index()?;
            index.read(false)?;
            Ok((index, self.git.head()?.peel_to_tree()?))
        };
        // Without an index git shows every path.
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

    /// Keeps everything in `creature/` that differs from HEAD: under a ref, or moved aside where git cannot hold it.
    /// Returns where most of it is, if there was anything. Changes kept already are not kept again.
    pub fn rescue(&self, why: &str) -> Result<Option<String>> {
        let head = self.head()?;
        if self.is_at(head)? {
            return Ok(None);
        }
        let is_folder = match fs::symlink_metadata(self.house.creature()) {
            Ok(meta) => meta.is_dir(),
            Err(_) => return Ok(None),
        };
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
        if kept.tree == head.tree {
            return Ok(aside);
        }
        let message = format!("guardian: kept before it was overwritten: {why}");
        Ok(Some(self.keep_under_ref(kept.tree, &message)?.0))
    }

    /// Keeps HEAD with this `creature/` under a rescue ref, the newest one where that has the same; returns its name and
    /// commit.
    fn keep_under_ref(&self, creature: Oid, message: &str) -> Result<(String, Oid)> {
        let parent = self.git.head()?.peel_to_commit()?;
        let mut builder = self.git.treebuilder(Some(&parent.tree()?))?;
        builder.insert("creature", creature, FileMode::Tree.into())?;
        let whole = self.git.find_tree(builder.write()?)?;
        let names = self.git.references_glob(&self.reference(RESCUED, "*"));
        let newest = names.ok().and_then(|mut names| names.names().flatten().max().map(str::to_owned));
        if let Some(name) = newest
            && let Ok(commit) = self.git.find_reference(&name).and_then(|found| found.peel_to_commit())
            && commit.tree_id() == whole.id()
        {
            return Ok((name, commit.id()));
        }
        let guardian = Signature::now("guardian", "guardian@feral.invalid")?;
        let commit = self.git.commit(None, &guardian, &guardian, message, &whole, &[&parent])?;
        let name = self.reference(RESCUED, clock::name());
        self.point(&name, commit, message)?;
        Ok((name, commit))
    }

    /// Keeps the creature's draft under a ref; returns its commit, if there is a draft. Files git cannot hold stay
    /// where they are.
    pub fn keep_draft(&self) -> Result<Option<Oid>> {
        if !fs::symlink_metadata(self.house.root().join(DRAFT)).is_ok_and(|found| found.is_dir()) {
            return Ok(None);
        }
        let kept = keep::folder(&self.git, DRAFT, None, Rule::Look)?;
        let message = "guardian: a draft of the creature's that nobody touched for long";
        Ok(Some(self.keep_under_ref(kept.tree, message)?.1))
    }

    /// Moves all of `creature/` aside when it cannot be kept file by file; not after an interruption or for lack of
    /// space.
    fn rescue_whole(&self, error: anyhow::Error) -> Result<Option<String>> {
        interrupt::check()?;
        if shortage::is_of_shortage(&error) {
            return Err(error);
        }
        tracing::warn!("{error:#}; creature/ is kept as it lies");
        Ok(Some(self.inside(&repair::whole(&self.house, "creature")?)))
    }

    /// Counts the rescue refs made since a moment of the wall clock.
    pub fn rescued_since(&self, wall_ms: Millis) -> usize {
        let since = self.reference(RESCUED, clock::name_of(wall_ms));
        let Ok(mut found) = self.git.references_glob(&self.reference(RESCUED, "*")) else { return 0 };
        found.names().flatten().filter(|name| *name >= since.as_str()).count()
    }

    /// A path relative to the house's root.
    fn inside(&self, path: &Path) -> String {
        path.strip_prefix(self.house.root()).unwrap_or(path).display().to_string()
    }

    /// Restores `creature/` as it is in `commit`. The caller has rescued what differs.
    pub fn put_back(&self, commit: Oid) -> Result<()> {
        let whole = self.git.find_commit(commit)?.tree()?;
        restore::put_back(&self.git, &whole, "creature")
    }

    /// Whether `creature/` matches `version`. Fails only when interrupted.
    pub fn is_at(&self, version: Version) -> Result<bool> {
        let same = self.compare(version, tree::is_same);
        interrupt::check()?;
        Ok(same.unwrap_or(false))
    }
}

/// Whether a file is unchanged since git wrote or last checked this index entry.
fn is_as_written(entry: &IndexEntry, meta: &Metadata) -> bool {
    let same = |time: IndexTime, seconds: i64, nanoseconds: i64| {
        i64::from(time.seconds()) == seconds && [0, nanoseconds].contains(&i64::from(time.nanoseconds()))
    };
    same(entry.mtime, meta.mtime(), meta.mtime_nsec())
        && same(entry.ctime, meta.ctime(), meta.ctime_nsec())
        // The index keeps sizes and inode numbers as 32 bits.
        && u64::from(entry.file_size) == meta.len() & u64::from(u32::MAX)
        && u64::from(entry.ino) == meta.ino() & u64::from(u32::MAX)
}
