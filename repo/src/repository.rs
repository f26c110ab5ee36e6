//! The repository: commits on request, the ladder of blessed commits, and refs of fallen ones.
//!
//! Invariant: only `creature/`, `self/` and `PURPOSE.md` are ever committed.
//! Every function may be repeated after a kill at any point.

use crate::keep::{self, Rule};
use crate::limits::{KEPT_FILE_BYTES, RUNGS};
use crate::open;
use crate::tree::{short, unknown};
use anyhow::{Context, Result, bail};
use git2::{Commit, ErrorCode, FileMode, Oid, Repository, Signature};
use house::{House, files, interrupt};
use std::path::Path;

/// Kinds of this house's refs.
const GOOD: &str = "good";
const FALLEN: &str = "fallen";
/// The kind of the refs that keep what would be overwritten.
pub const RESCUED: &str = "rescued";
/// Largest file whose changed lines are counted, in bytes, and most lines counted.
pub const COMPARED_BYTES: i64 = 256 << 10;
const MOST_COUNTED: usize = 100_000;
/// The paths a commit of the creature's may change.
const OWN: [&str; 3] = ["creature", "self", "PURPOSE.md"];

pub struct Repo {
    pub git: Repository,
    pub(crate) house: House,
    /// Begins the names of this house's refs: linked work trees share those of their repository, and each is a house.
    refs: String,
}

/// A commit and the creature tree in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    pub commit: Oid,
    pub tree: Oid,
}

/// A blessed version on the ladder; the lowest number is the bottom.
#[derive(Clone, Debug)]
pub struct Rung {
    pub name: String,
    pub version: Version,
}

impl Rung {
    pub fn number(&self) -> u64 {
        self.name.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

impl Repo {
    pub fn open(house: &House) -> Result<Self> {
        let git = open::opened(house)?;
        let linked = git.path().file_name().filter(|_| git.is_worktree());
        let refs =
            linked.map_or("refs/guardian/".into(), |name| format!("refs/guardian/of-{}/", name.display()));
        Ok(Self { git, house: house.clone(), refs })
    }

    /// The name of one of this house's refs.
    pub(crate) fn reference(&self, kind: &str, name: impl std::fmt::Display) -> String {
        format!("{}{kind}/{name}", self.refs)
    }

    /// The merge, rebase or similar operation the owner has under way, if any.
    pub fn under_way(&self) -> Option<String> {
        let state = self.git.state();
        (state != git2::RepositoryState::Clean).then(|| format!("{state:?}").to_lowercase())
    }

    pub fn branch(&self) -> Option<String> {
        self.git.head().ok()?.shorthand().ok().map(str::to_owned)
    }

    pub fn head(&self) -> Result<Version> {
        let head = self.git.head().and_then(|head| head.peel_to_commit());
        version(&head.context("HEAD names no commit")?)
    }

    pub fn resolve(&self, name: &str) -> Result<Version> {
        let found = self.git.revparse_single(name).and_then(|object| object.peel_to_commit());
        version(&found.map_err(|error| unknown(error, name))?)
    }

    /// Commits these paths as they are on disk; `None` when none of them changed.
    pub fn commit(&self, message: &str, paths: &[&str]) -> Result<Option<Version>> {
        let parent =
            self.git.head().and_then(|head| head.peel_to_commit()).context("HEAD names no commit")?;
        let before = parent.tree()?;
        let mut builder = self.git.treebuilder(Some(&before))?;
        for name in OWN.into_iter().filter(|name| paths.contains(name)) {
            let path = self.house.root().join(name);
            let meta = std::fs::symlink_metadata(&path);
            if meta.as_ref().is_ok_and(|meta| meta.is_dir()) {
                let known = before.get_name(name).and_then(|entry| self.git.find_tree(entry.id()).ok());
                let kept = keep::folder(&self.git, name, known.as_ref(), Rule::Commit)?;
                if let Some(aside) = kept.aside {
                    tracing::warn!(kept = %aside.display(), "what git cannot hold of {name}/ was moved aside");
                }
                builder.insert(name, kept.tree, FileMode::Tree.into())?;
            } else if meta.is_ok_and(|meta| meta.is_file() && meta.len() <= KEPT_FILE_BYTES)
                && name == "PURPOSE.md"
            {
                let bytes =
                    keep::content(&path, FileMode::Blob.into()).context("failed to read PURPOSE.md")?;
                builder.insert(name, self.git.blob(&bytes)?, FileMode::Blob.into())?;
            }
        }
        let whole = builder.write().context("failed to write the new tree")?;
        self.advance(&parent, whole, message)
    }

    /// Moves the branch to a new commit of `whole` on top of `parent`, then updates the owner's index.
    pub(crate) fn advance(&self, parent: &Commit, whole: Oid, message: &str) -> Result<Option<Version>> {
        if parent.tree_id() == whole {
            return Ok(None);
        }
        let tree = self.git.find_tree(whole)?;
        let creature = Signature::now("creature", "creature@feral.invalid")?;
        let guardian = Signature::now("guardian", "guardian@feral.invalid")?;
        let author = if message.starts_with("guardian:") { &guardian } else { &creature };
        let write = || self.git.commit(Some("HEAD"), author, &guardian, message, &tree, &[parent]);
        let id = self.unlocking(write).context("failed to commit")?;
        Ok(Some(version(&self.git.find_commit(id)?)?))
    }

    /// HEAD, if it is a commit with this message on top of `before`: the guardian's own, made just before a kill.
    pub fn made_before(&self, before: Version, message: &str) -> Option<Version> {
        let head = self.git.head().and_then(|head| head.peel_to_commit()).ok()?;
        let ours = head.parent_id(0).ok()? == before.commit && head.message().ok()? == message;
        ours.then(|| version(&head).ok())?
    }

    /// Updates the index entries that the guardian's commits changed, unless the owner has staged something else
    /// there.
    pub fn sync_index(&self, before: &str) -> Result<()> {
        let before = self.git.find_commit(Oid::from_str(before)?)?.tree()?;
        let after = self.git.head()?.peel_to_tree()?;
        let mut options = git2::DiffOptions::new();
        for path in OWN {
            options.pathspec(path);
        }
        let diff = self.git.diff_tree_to_tree(Some(&before), Some(&after), Some(&mut options))?;
        // The index is read anew for each try: the owner's git may have written it in between.
        self.unlocking(|| self.bring_along(&diff)).context("failed to bring the index along")
    }

    fn bring_along(&self, diff: &git2::Diff) -> std::result::Result<(), git2::Error> {
        let mut index = self.git.index()?;
        index.read(true)?;
        for delta in diff.deltas() {
            let (old, new) = (delta.old_file(), delta.new_file());
            let Some(path) = new.path().or(old.path()) else { continue };
            let staged = index.get_path(path, 0).map(|entry| entry.id);
            if staged.unwrap_or(Oid::ZERO_SHA1) != old.id() {
                continue;
            }
            if new.id().is_zero() {
                index.remove_path(path)?;
            } else {
                index.add(&entry(path, &new))?;
            }
        }
        index.write()
    }

    /// Commits HEAD's tree with `creature/` as in `target`; no commit is ever dropped from history.
    pub fn commit_put_back(&self, target: Version, message: &str) -> Result<Option<Version>> {
        let parent = self.git.head()?.peel_to_commit()?;
        let mut builder = self.git.treebuilder(Some(&parent.tree()?))?;
        builder.insert("creature", target.tree, FileMode::Tree.into())?;
        let whole = builder.write()?;
        self.advance(&parent, whole, message)
    }

    /// The rungs, bottom first. A ref whose commit is missing is skipped.
    pub fn rungs(&self) -> Result<Vec<Rung>> {
        let mut rungs = Vec::new();
        let found =
            self.git.references_glob(&self.reference(GOOD, "*")).context("failed to list the ladder")?;
        for reference in found.flatten() {
            let (Ok(name), Ok(commit)) = (reference.name(), reference.peel_to_commit()) else { continue };
            if let Ok(version) = version(&commit)
                && self.git.find_tree(version.tree).is_ok()
            {
                rungs.push(Rung { name: name.to_owned(), version });
            }
        }
        rungs.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(rungs)
    }

    /// The first version whose objects are all readable.
    pub fn first_whole(&self, versions: impl Iterator<Item = Version>) -> Result<Option<Version>> {
        for version in versions {
            if self.is_whole(version)? {
                return Ok(Some(version));
            }
        }
        Ok(None)
    }

    /// Whether all of a version's `creature/` can be read from disk: a damaged version cannot be restored. Fails only
    /// when interrupted.
    pub fn is_whole(&self, version: Version) -> Result<bool> {
        // A fresh handle reads the disk; this one may still hold objects in memory that the disk has lost.
        let Ok(git) = Repository::open(self.git.path()) else { return Ok(false) };
        let mut whole = git.find_commit(version.commit).is_ok();
        let walked = git.find_tree(version.tree).and_then(|tree| {
            tree.walk(git2::TreeWalkMode::PreOrder, |_, entry| {
                let is_blob = entry.kind() == Some(git2::ObjectType::Blob);
                whole &= !is_blob || git.find_blob(entry.id()).is_ok();
                whole &= interrupt::check().is_ok();
                if whole { git2::TreeWalkResult::Ok } else { git2::TreeWalkResult::Abort }
            })
        });
        interrupt::check()?;
        Ok(whole && walked.is_ok())
    }

    /// Puts a version on top of the ladder; beyond `RUNGS` the lowest above the bottom goes. True if it is new.
    pub fn bless(&self, version: Version) -> Result<bool> {
        let rungs = self.rungs()?;
        let on_top = rungs.last().is_some_and(|rung| rung.version.tree == version.tree);
        if !on_top {
            let number = rungs.last().map_or(0, |rung| rung.number() + 1);
            self.point(&self.reference(GOOD, format!("{number:06}")), version.commit, "guardian: bless")?;
        }
        let mut standing = self.rungs()?;
        while standing.len() > RUNGS {
            let rung = standing.remove(1);
            self.delete(&rung.name)?;
        }
        Ok(!on_top)
    }

    /// Removes every rung above a version: after a rollback these must not be chosen as the newest.
    pub fn strike_above(&self, version: Version) -> Result<()> {
        let rungs = self.rungs()?;
        let Some(at) = rungs.iter().position(|rung| rung.version.tree == version.tree) else { return Ok(()) };
        rungs.iter().skip(at + 1).try_for_each(|rung| self.delete(&rung.name))
    }

    /// Removes a tree from the ladder, unless it is the bottom.
    pub fn strike(&self, tree: Oid) -> Result<()> {
        let rungs = self.rungs()?;
        let mut its = rungs.iter().skip(1).filter(|rung| rung.version.tree == tree);
        its.try_for_each(|rung| self.delete(&rung.name))
    }

    /// Marks a tree as known bad with a ref, which also keeps its commit; returns the ref's name.
    pub fn condemn(&self, version: Version) -> Result<String> {
        let name = self.reference(FALLEN, version.tree);
        self.point(&name, version.commit, "guardian: fallen")?;
        Ok(name)
    }

    pub fn is_fallen(&self, tree: Oid) -> bool {
        self.git.find_reference(&self.reference(FALLEN, tree)).is_ok()
    }

    pub fn fallen(&self, tree: &str) -> Option<Version> {
        self.resolve(&self.reference(FALLEN, tree)).ok()
    }

    /// Removes the mark of a fallen tree.
    pub fn forgive(&self, tree: impl std::fmt::Display) -> Result<()> {
        self.delete(&self.reference(FALLEN, tree)).context("failed to forgive a fallen tree")
    }

    /// Deletes a ref, if there is one of this name.
    fn delete(&self, name: &str) -> Result<()> {
        match self.git.find_reference(name) {
            Ok(mut reference) => self.unlocking(|| reference.delete()),
            Err(_) => Ok(()),
        }
    }

    /// Files and lines a commit changed against its first parent.
    pub fn diff_stat(&self, commit: &Commit) -> Result<(usize, usize, usize)> {
        let parent = commit.parent(0).ok().map(|parent| parent.tree()).transpose()?;
        self.tree_stat(parent.as_ref(), &commit.tree()?)
    }

    /// Files and lines that differ between two trees. Large files are left out of the line count, since comparing two
    /// large texts can take hours.
    pub fn tree_stat(
        &self,
        before: Option<&git2::Tree>,
        after: &git2::Tree,
    ) -> Result<(usize, usize, usize)> {
        let mut options = git2::DiffOptions::new();
        options.max_size(COMPARED_BYTES).context_lines(0);
        let diff = self.git.diff_tree_to_tree(before, Some(after), Some(&mut options))?;
        let (mut added, mut removed) = (0, 0);
        let mut count = |_: git2::DiffDelta, _: Option<git2::DiffHunk>, line: git2::DiffLine| {
            added += usize::from(line.origin() == '+');
            removed += usize::from(line.origin() == '-');
            added + removed < MOST_COUNTED
        };
        // The walk ends with an error when interrupted or at its bound; what was counted until then is used.
        let _ = diff.foreach(&mut |_, _| interrupt::check().is_ok(), None, None, Some(&mut count));
        Ok((diff.deltas().len(), added, removed))
    }

    /// Whether two creature trees give cargo the same inputs apart from source text: the same file names, manifests
    /// and lock files.
    pub fn has_same_recipe(&self, tree: &str, other: Oid) -> Result<bool> {
        let (tree, other) = (self.git.find_tree(Oid::from_str(tree)?)?, self.git.find_tree(other)?);
        let diff = self.git.diff_tree_to_tree(Some(&other), Some(&tree), None)?;
        let is_source = |file: git2::DiffFile| {
            let name = file.path().and_then(Path::file_name).unwrap_or_default();
            name != "Cargo.toml" && name != "Cargo.lock" && file.mode() != FileMode::Link
        };
        Ok(diff.deltas().all(|delta| delta.status() == git2::Delta::Modified && is_source(delta.new_file())))
    }

    pub fn find(&self, commit: &str) -> Result<Commit<'_>> {
        Ok(self.git.find_commit(Oid::from_str(commit)?)?)
    }

    pub(crate) fn point(&self, name: &str, commit: Oid, message: &str) -> Result<()> {
        let written = self.unlocking(|| self.git.reference(name, commit, true, message));
        written.map(|_| ()).with_context(|| format!("failed to write {name}"))
    }

    /// Removes stale locks of the guardian's own refs. Only for the house's one guardian: nobody else writes those
    /// refs.
    pub fn clear_own_locks(&self) {
        let own = [GOOD, FALLEN, RESCUED].map(|kind| format!("{}{kind}", self.refs));
        if let Err(error) = crate::locks::clear_own(self.git.path(), &own, &self.house.kept()) {
            tracing::warn!("{error:#}");
        }
    }

    /// Tries, and once more after moving stale locks aside.
    pub(crate) fn unlocking<T>(
        &self,
        mut attempt: impl FnMut() -> std::result::Result<T, git2::Error>,
    ) -> Result<T> {
        match attempt() {
            Err(error) if error.code() == ErrorCode::Locked => {
                let cleared =
                    crate::locks::clear_stale(self.git.path(), self.house.root(), &self.house.kept())?;
                if cleared.is_empty() {
                    bail!("{} (another git is at work here, or left its lock)", error.message());
                }
                Ok(attempt()?)
            }
            other => Ok(other?),
        }
    }
}

fn version(commit: &Commit) -> Result<Version> {
    let entry = commit.tree()?;
    let entry = entry.get_name("creature").with_context(|| {
        format!(
            "commit {} has no creature/: commit it first (git add creature && git commit)",
            short(commit.id())
        )
    })?;
    Ok(Version { commit: commit.id(), tree: entry.id() })
}

/// An index entry without file times: git reads the file itself when it next looks.
fn entry(path: &Path, file: &git2::DiffFile) -> git2::IndexEntry {
    use std::os::unix::ffi::OsStrExt;
    let never = git2::IndexTime::new(0, 0);
    git2::IndexEntry {
        ctime: never,
        mtime: never,
        dev: 0,
        ino: 0,
        mode: u32::from(file.mode()),
        uid: 0,
        gid: 0,
        file_size: 0,
        id: file.id(),
        flags: 0,
        flags_extended: 0,
        path: path.as_os_str().as_bytes().to_vec(),
    }
}

/// Writes `last_good` to a file for readers without git.
pub fn publish_last_good(house: &House, rungs: &[Rung]) -> Result<()> {
    let Some(rung) = rungs.last() else { return Ok(()) };
    let text = format!("{}\n", rung.version.commit);
    if files::read_small(&house.last_good()).ok().flatten().as_deref() == Some(text.as_bytes()) {
        return Ok(());
    }
    files::replace(&house.last_good(), text.as_bytes())
}
