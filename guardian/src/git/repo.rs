//! The repository: commits on request, the ladder of blessed commits, what fell.
//!
//! Invariant: only `creature/`, `self/` and `PURPOSE.md` are ever committed.
//! Every function may be run again after a kill at any point of it.

use crate::git::keep::{self, Rule};
use crate::git::tree::short;
use crate::limits::{KEPT_FILE_BYTES, RUNGS};
use anyhow::{Context, Result, bail};
use git2::{Commit, ErrorCode, FileMode, Oid, Repository, Signature};
use house::{House, files, interrupt};
use std::path::Path;

const GOOD: &str = "refs/guardian/good/";
const FALLEN: &str = "refs/guardian/fallen/";
/// Largest file whose lines are compared to be counted, in bytes, and most lines that are.
const COMPARED_BYTES: i64 = 256 << 10;
const MOST_COUNTED: usize = 100_000;
/// What the creature may have committed.
const OWN: [&str; 3] = ["creature", "self", "PURPOSE.md"];

pub struct Repo {
    pub(crate) git: Repository,
    pub(crate) house: House,
}

/// A commit and the creature tree in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    pub commit: Oid,
    pub tree: Oid,
}

/// A blessed version; the lowest number is the bottom.
#[derive(Clone, Debug)]
pub struct Rung {
    pub name: String,
    pub version: Version,
}

impl Repo {
    pub fn open(house: &House) -> Result<Self> {
        // Foreign ownership is the owner's business; a guardian that refuses its own repository protects nobody.
        #[allow(unsafe_code)]
        // SAFETY: called once at start, before any other thread or use of libgit2.
        unsafe {
            git2::opts::set_verify_owner_validation(false)?;
            libgit2_sys::git_libgit2_opts(libgit2_sys::GIT_OPT_ENABLE_FSYNC_GITDIR as libc::c_int, 1);
        }
        let git = Repository::open(house.root())
            .with_context(|| format!("failed to open the git repository at {}", house.root().display()))?;
        Ok(Self { git, house: house.clone() })
    }

    /// A merge, rebase or the like the owner has under way.
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
        version(&found.with_context(|| format!("no commit is called {name}"))?)
    }

    /// Commits what the creature may write, as it lies there. `None` when nothing of it changed.
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

    /// Moves the branch to a new commit of `whole` on top of `parent`, then brings the owner's index along.
    fn advance(&self, parent: &Commit, whole: Oid, message: &str) -> Result<Option<Version>> {
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

    /// HEAD, if it is the commit of this message on top of `before`: ours, and a kill kept us from noting it.
    pub fn made_before(&self, before: Version, message: &str) -> Option<Version> {
        let head = self.git.head().and_then(|head| head.peel_to_commit()).ok()?;
        let ours = head.parent_id(0).ok()? == before.commit && head.message().ok()? == message;
        if ours { version(&head).ok() } else { None }
    }

    /// Gives the index the entries a commit of ours changed, where the owner had not staged something else.
    pub fn sync_index(&self, before: &str) -> Result<()> {
        let before = self.git.find_commit(Oid::from_str(before)?)?.tree()?;
        let after = self.git.head()?.peel_to_tree()?;
        let mut options = git2::DiffOptions::new();
        for path in OWN {
            options.pathspec(path);
        }
        let diff = self.git.diff_tree_to_tree(Some(&before), Some(&after), Some(&mut options))?;
        // Read anew with each try: the owner's git may have written it in between.
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

    /// Commits HEAD's tree with `creature/` replaced by that of `target`; history only ever moves forward.
    pub fn commit_put_back(&self, target: Version, message: &str) -> Result<Option<Version>> {
        let parent = self.git.head()?.peel_to_commit()?;
        let mut builder = self.git.treebuilder(Some(&parent.tree()?))?;
        builder.insert("creature", target.tree, FileMode::Tree.into())?;
        let whole = builder.write()?;
        self.advance(&parent, whole, message)
    }

    /// Standing rungs, bottom first. A ref whose commit is gone is passed over.
    pub fn rungs(&self) -> Result<Vec<Rung>> {
        let mut rungs = Vec::new();
        for reference in self.git.references_glob(&format!("{GOOD}*")).context("failed to list the ladder")? {
            let Ok(reference) = reference else { continue };
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

    /// The first version that is whole.
    pub fn first_whole(&self, versions: impl Iterator<Item = Version>) -> Result<Option<Version>> {
        for version in versions {
            if self.is_whole(version)? {
                return Ok(Some(version));
            }
        }
        Ok(None)
    }

    /// Whether all of a version's `creature/` can be read from the disk: what is damaged cannot be put back. An error only
    /// when it was interrupted.
    pub fn is_whole(&self, version: Version) -> Result<bool> {
        // A handle of its own: this one may remember what the disk has lost.
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

    /// Puts a version on top of the ladder; the rungs beyond eight go from above the bottom. True if it is new.
    pub fn bless(&self, version: Version) -> Result<bool> {
        let rungs = self.rungs()?;
        let on_top = rungs.last().is_some_and(|rung| rung.version.tree == version.tree);
        if !on_top {
            let number = rungs.last().map_or(0, |rung| number(&rung.name) + 1);
            self.point(&format!("{GOOD}{number:06}"), version.commit, "guardian: bless")?;
        }
        let mut standing = self.rungs()?;
        while standing.len() > RUNGS {
            let rung = standing.remove(1);
            self.unlocking(|| self.git.find_reference(&rung.name)?.delete())?;
        }
        Ok(!on_top)
    }

    /// Takes every rung above a version's off the ladder: what the owner takes back must not stay the newest.
    pub fn strike_above(&self, version: Version) -> Result<()> {
        let rungs = self.rungs()?;
        let Some(at) = rungs.iter().position(|rung| rung.version.tree == version.tree) else { return Ok(()) };
        for rung in rungs.iter().skip(at + 1) {
            self.unlocking(|| self.git.find_reference(&rung.name)?.delete())?;
        }
        Ok(())
    }

    /// Takes a tree off the ladder, save from the bottom.
    pub fn strike(&self, tree: Oid) -> Result<()> {
        for rung in self.rungs()?.into_iter().skip(1).filter(|rung| rung.version.tree == tree) {
            self.unlocking(|| self.git.find_reference(&rung.name)?.delete())?;
        }
        Ok(())
    }

    /// Pins a tree as known bad, and keeps its commit. The ref's name.
    pub fn condemn(&self, version: Version) -> Result<String> {
        let name = format!("{FALLEN}{}", version.tree);
        self.point(&name, version.commit, "guardian: fallen")?;
        Ok(name)
    }

    pub fn is_fallen(&self, tree: Oid) -> bool {
        self.git.find_reference(&format!("{FALLEN}{tree}")).is_ok()
    }

    pub fn fallen(&self, tree: &str) -> Option<Version> {
        self.resolve(&format!("{FALLEN}{tree}")).ok()
    }

    /// Another chance for a tree that fell.
    pub fn forgive(&self, tree: impl std::fmt::Display) -> Result<()> {
        match self.git.find_reference(&format!("{FALLEN}{tree}")) {
            Ok(mut reference) => {
                self.unlocking(|| reference.delete()).context("failed to forgive a fallen tree")
            }
            Err(_) => Ok(()),
        }
    }

    /// Files and lines a commit changed against its first parent. Beyond a bound lines are not counted: for people it is
    /// all the same, and comparing two large texts can take hours.
    pub fn diff_stat(&self, commit: &Commit) -> Result<(usize, usize, usize)> {
        let parent = commit.parent(0).ok().map(|parent| parent.tree()).transpose()?;
        let mut options = git2::DiffOptions::new();
        options.max_size(COMPARED_BYTES).context_lines(0);
        let diff = self.git.diff_tree_to_tree(parent.as_ref(), Some(&commit.tree()?), Some(&mut options))?;
        let (mut added, mut removed) = (0, 0);
        let mut count = |_: git2::DiffDelta, _: Option<git2::DiffHunk>, line: git2::DiffLine| {
            added += usize::from(line.origin() == '+');
            removed += usize::from(line.origin() == '-');
            added + removed < MOST_COUNTED
        };
        // An error is an end that was reached early.
        let _ = diff.foreach(&mut |_, _| interrupt::check().is_ok(), None, None, Some(&mut count));
        Ok((diff.deltas().len(), added, removed))
    }

    /// Whether two creature trees are all the same to cargo, until it compiles: files of the same names, and the same
    /// manifests and lock files.
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
        self.unlocking(|| self.git.reference(name, commit, true, message))
            .with_context(|| format!("failed to write {name}"))?;
        Ok(())
    }

    /// Only for the one guardian of the house: nobody else writes its refs, so a lock there is one it died with.
    pub fn clear_own_locks(&self) {
        if let Err(error) = crate::git::locks::clear_own(self.git.path(), &self.house.kept()) {
            tracing::warn!("{error:#}");
        }
    }

    /// Tries, and once more after clearing locks that nobody holds any more.
    fn unlocking<T>(&self, mut attempt: impl FnMut() -> std::result::Result<T, git2::Error>) -> Result<T> {
        match attempt() {
            Err(error) if error.code() == ErrorCode::Locked => {
                let cleared =
                    crate::git::locks::clear_stale(self.git.path(), self.house.root(), &self.house.kept())?;
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

fn number(name: &str) -> u64 {
    name.trim_start_matches(GOOD).parse().unwrap_or(0)
}

/// An index entry without a stat: git looks at the file itself when it next asks.
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

/// Copies `last_good` for readers who do not speak git.
pub fn publish_last_good(house: &House, rungs: &[Rung]) -> Result<()> {
    let Some(rung) = rungs.last() else { return Ok(()) };
    let text = format!("{}\n", rung.version.commit);
    if files::read_small(&house.last_good()).ok().flatten().as_deref() == Some(text.as_bytes()) {
        return Ok(());
    }
    files::replace(&house.last_good(), text.as_bytes())
}
