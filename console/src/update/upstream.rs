//! New commits upstream, and the result of merging them into the house's branch. Fetching aside, nothing is changed.

use anyhow::{Context, Result, bail, ensure};
use git2::{BranchType, Commit, Oid, Repository, Sort};
use house::{House, printable};
use processes::trusted;
use repo::Repo;
use std::path::{Path, PathBuf};

/// Commits that are named.
const MOST_NAMED: usize = 30;
/// Characters of git's output.
const MOST_SAID: usize = 2_000;
/// The part that is built and tested before it is merged.
const CREATURE: &str = "creature";

/// A branch of another repository that this one follows.
pub struct Upstream {
    pub remote: String,
    /// As git names it for people: `origin/main`.
    pub name: String,
}

/// New commits upstream, and the result of merging them.
pub struct News {
    pub from: Oid,
    pub to: Oid,
    /// The newest first, and how many there are.
    pub commits: Vec<String>,
    pub count: usize,
    /// The house's own commits that upstream does not have.
    pub own: usize,
    pub merged: Merged,
}

pub enum Merged {
    Nothing,
    /// Both sides changed the same, in these files.
    Conflict(Vec<String>),
    Tree {
        tree: Oid,
        /// Files that change, and those of them that are in `creature/`.
        changed: Vec<PathBuf>,
        creature: usize,
        lines: (usize, usize),
    },
}

/// The branch that is followed: what git is told of it, else the same name at `origin`.
pub fn find(repo: &Repo) -> Result<Upstream> {
    let branch = repo.branch().context("HEAD names no branch; check one out first: git switch main")?;
    let local = repo.git.find_branch(&branch, BranchType::Local)?;
    if let Ok(upstream) = local.upstream() {
        let of = local.get().name().unwrap_or_default().to_owned();
        let remote = repo.git.branch_upstream_remote(&of)?;
        let remote = remote.as_str().unwrap_or_default().to_owned();
        let name =
            upstream.name()?.context("the branch that is followed has no name that is text")?.to_owned();
        return Ok(Upstream { remote, name });
    }
    ensure!(
        repo.git.find_remote("origin").is_ok(),
        "this clone follows nothing: git remote add origin ADDRESS, then git fetch origin && git branch --set-upstream-to=origin/{branch}"
    );
    Ok(Upstream { remote: "origin".into(), name: format!("origin/{branch}") })
}

/// Has git fetch, with the owner's settings and rights: addresses and keys of repositories are git's matter.
pub fn fetch(house: &House, upstream: &Upstream) -> Result<()> {
    let root = house.root().to_string_lossy();
    let args =
        ["-C", &root, "fetch", "--quiet", "--no-recurse-submodules", "--no-auto-gc", "--", &upstream.remote];
    let output = trusted::output(Path::new("git"), &args).context("git is needed to fetch what is new")?;
    if output.status.success() {
        return Ok(());
    }
    let said = printable::flat(String::from_utf8_lossy(&output.stderr).trim());
    bail!(
        "nothing was fetched from {}: {}",
        upstream.remote,
        said.chars().take(MOST_SAID).collect::<String>()
    )
}

/// Compares the branch with the commits fetched last.
pub fn news(repo: &Repo, upstream: &Upstream) -> Result<News> {
    let git = &repo.git;
    let head = git.find_commit(repo.head()?.commit)?;
    let there = git.find_branch(&upstream.name, BranchType::Remote);
    let there = there.and_then(|branch| branch.get().peel_to_commit());
    let there = there.with_context(|| {
        format!("there is no {}: git branch --set-upstream-to says what to follow", upstream.name)
    })?;
    let (own, count) = git.graph_ahead_behind(head.id(), there.id())?;
    let merged = if count == 0 { Merged::Nothing } else { merge(git, &head, &there, own == 0)? };
    Ok(News {
        from: head.id(),
        to: there.id(),
        commits: named(git, head.id(), there.id())?,
        count,
        own,
        merged,
    })
}

fn named(git: &Repository, head: Oid, there: Oid) -> Result<Vec<String>> {
    let mut walk = git.revwalk()?;
    walk.push(there)?;
    walk.hide(head)?;
    walk.set_sorting(Sort::TOPOLOGICAL)?;
    let commits = walk.take(MOST_NAMED).filter_map(|id| git.find_commit(id.ok()?).ok());
    Ok(commits.map(|commit| crate::diff::titled(&commit)).collect())
}

fn merge(git: &Repository, head: &Commit, there: &Commit, is_ahead: bool) -> Result<Merged> {
    let tree = if is_ahead {
        there.tree_id()
    } else {
        git.merge_base(head.id(), there.id())
            .context("upstream is another repository: it has no commit in common")?;
        let mut index = git.merge_commits(head, there, None)?;
        if index.has_conflicts() {
            let sides = index.conflicts()?.flatten();
            let path = |side: git2::IndexConflict| {
                let entry = side.our.or(side.their).or(side.ancestor)?;
                Some(printable::flat(&String::from_utf8_lossy(&entry.path)))
            };
            let mut files: Vec<String> = sides.filter_map(path).collect();
            files.sort();
            files.dedup();
            return Ok(Merged::Conflict(files));
        }
        index.write_tree_to(git)?
    };
    let (before, after) = (head.tree()?, git.find_tree(tree)?);
    let diff = git.diff_tree_to_tree(Some(&before), Some(&after), None)?;
    let paths = diff
        .deltas()
        .filter_map(|delta| Some(delta.new_file().path().or(delta.old_file().path())?.to_owned()));
    let changed: Vec<PathBuf> = paths.collect();
    let creature = changed.iter().filter(|path| path.starts_with(CREATURE)).count();
    let stats = diff.stats()?;
    Ok(Merged::Tree { tree, changed, creature, lines: (stats.insertions(), stats.deletions()) })
}

/// The merged commit: upstream's own where the house has none of its own, else one that follows both. No ref names it yet.
pub fn commit(repo: &Repo, news: &News, tree: Oid, upstream: &Upstream) -> Result<Oid> {
    if news.own == 0 {
        return Ok(news.to);
    }
    let git = &repo.git;
    let owner = git.signature().or_else(|_| git2::Signature::now("owner", "owner@feral.invalid"))?;
    let (from, to) = (git.find_commit(news.from)?, git.find_commit(news.to)?);
    let message = format!("Merge {}", upstream.name);
    Ok(git.commit(None, &owner, &owner, &message, &git.find_tree(tree)?, &[&from, &to])?)
}

/// Files that would be written over and hold what is not committed.
pub fn uncommitted(repo: &Repo, changed: &[PathBuf]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for path in changed.iter().filter(|path| !path.starts_with(CREATURE)) {
        // Not in HEAD and not on the disk: git knows no status of it.
        let status = repo.git.status_file(path).unwrap_or(git2::Status::CURRENT);
        if status != git2::Status::CURRENT {
            found.push(printable::path(path));
        }
    }
    Ok(found)
}

/// Writes the files beside `creature/` as the commit has them; fails before the first where one holds what is not committed.
pub fn check_out(repo: &Repo, commit: Oid, changed: &[PathBuf]) -> Result<()> {
    let outside = changed.iter().filter(|path| !path.starts_with(CREATURE));
    let mut checkout = git2::build::CheckoutBuilder::new();
    checkout.safe().disable_pathspec_match(true);
    let mut any = false;
    for path in outside {
        checkout.path(path.as_path());
        any = true;
    }
    if any {
        let object = repo.git.find_object(commit, None)?;
        repo.git.checkout_tree(&object, Some(&mut checkout)).context("the files could not be checked out")?;
    }
    Ok(())
}
