//! The commit a restore moves the branch to: forward only, with creature and papers as the backup has them, and nothing else of it.

use anyhow::{Context, Result, ensure};
use git2::{Commit, FileMode, ObjectType, Oid, Repository, Signature, Tree, TreeWalkMode, TreeWalkResult};
use house::files;
use repo::Repo;
use repo::planted;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Paths of a commit that a restore replaces; all others stay as the branch has them.
const OWN: [&str; 3] = ["creature", "self", "PURPOSE.md"];
/// Largest paper that is committed, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// The commit to move to, and whether the backup's branch has changes of the owner's that it does not bring.
pub struct Target {
    pub commit: Oid,
    pub leaves_changes: bool,
}

/// Writes the commit. `tip` is what the backup's branch was at, `papers` a folder with its `self/` and `PURPOSE.md`.
pub fn target(repo: &Repo, tip: Oid, papers: &Path, of: &str) -> Result<Target> {
    let git = &repo.git;
    let head = git.find_commit(repo.head()?.commit)?;
    let tip = git.find_commit(tip).context("its repository lacks the commit it was at")?;
    let version = repo.resolve(&tip.id().to_string())?;
    ensure!(repo.is_whole(version)?, "its repository lacks parts of creature/");
    let (parents, leaves_changes) = parents(git, &head, &tip)?;
    let whole = tree(git, &head.tree()?, &tip, papers)?;
    no_planted(&git.find_tree(whole)?, &head.tree()?)?;
    let only = parents.first().filter(|_| parents.len() == 1);
    if let Some(only) = only.filter(|only| only.tree_id() == whole) {
        return Ok(Target { commit: only.id(), leaves_changes });
    }
    let guardian = Signature::now("guardian", "guardian@feral.invalid")?;
    let parents: Vec<&Commit> = parents.iter().collect();
    let message = format!("guardian: restored from the backup of {of}");
    let commit = git.commit(None, &guardian, &guardian, &message, &git.find_tree(whole)?, &parents)?;
    Ok(Target { commit, leaves_changes })
}

/// Returns the new commit's parents: the branch, and the backup's tip where it changed nothing but creature and papers.
fn parents<'a>(git: &'a Repository, head: &Commit<'a>, tip: &Commit<'a>) -> Result<(Vec<Commit<'a>>, bool)> {
    let base = git.merge_base(head.id(), tip.id()).ok();
    let base = base.context("the backup is of another repository; restore it in a clone of its own")?;
    if base == tip.id() {
        return Ok((vec![head.clone()], false));
    }
    if outside(&git.find_commit(base)?.tree()?) != outside(&tip.tree()?) {
        return Ok((vec![head.clone()], true));
    }
    Ok((if base == head.id() { vec![tip.clone()] } else { vec![head.clone(), tip.clone()] }, false))
}

/// Returns the entries of a tree beside creature and papers.
fn outside(tree: &Tree) -> Vec<(Vec<u8>, Oid, i32)> {
    let entries = tree.iter().filter(|entry| !OWN.iter().any(|own| entry.name_bytes() == own.as_bytes()));
    entries.map(|entry| (entry.name_bytes().to_vec(), entry.id(), entry.filemode())).collect()
}

fn tree(git: &Repository, head: &Tree, tip: &Commit, papers: &Path) -> Result<Oid> {
    let mut builder = git.treebuilder(Some(head))?;
    let creature = tip.tree()?.get_name("creature").context("it has no creature/")?.id();
    builder.insert("creature", creature, FileMode::Tree.into())?;
    let own = folder(git, &papers.join("self"))?;
    match own {
        Some(own) => builder.insert("self", own, FileMode::Tree.into()).map(|_| ())?,
        None => drop(builder.remove("self")),
    }
    if let Some(text) = files::read_most(&papers.join("PURPOSE.md"), MOST_BYTES)? {
        builder.insert("PURPOSE.md", git.blob(&text)?, FileMode::Blob.into())?;
    }
    Ok(builder.write()?)
}

/// A folder of regular files that nobody else writes, as a tree; `None` where it holds nothing.
fn folder(git: &Repository, path: &Path) -> Result<Option<Oid>> {
    let Ok(entries) = fs::read_dir(path) else { return Ok(None) };
    let mut builder = git.treebuilder(None)?;
    for entry in entries {
        let entry = entry?;
        let meta = entry.metadata()?;
        if meta.is_dir() {
            if let Some(below) = folder(git, &entry.path())? {
                builder.insert(entry.file_name(), below, FileMode::Tree.into())?;
            }
            continue;
        }
        let bytes = files::read_most(&entry.path(), MOST_BYTES)?.context("it is gone")?;
        let runs = meta.permissions().mode() & 0o100 != 0;
        let mode = if runs { FileMode::BlobExecutable } else { FileMode::Blob };
        builder.insert(entry.file_name(), git.blob(&bytes)?, mode.into())?;
    }
    Ok(if builder.is_empty() { None } else { Some(builder.write()?) })
}

/// Refuses files that the owner's own tools would obey: these come by the owner's commits alone.
fn no_planted(tree: &Tree, head: &Tree) -> Result<()> {
    let mut found = None;
    let walked = tree.walk(TreeWalkMode::PreOrder, |above, entry| {
        let Ok(name) = entry.name() else { return TreeWalkResult::Skip };
        let path = format!("{above}{name}");
        if !OWN.iter().any(|own| path == *own || path.starts_with(&format!("{own}/"))) {
            return TreeWalkResult::Skip;
        }
        let is_known = head.get_path(Path::new(&path)).is_ok_and(|known| known.id() == entry.id());
        if entry.kind() == Some(ObjectType::Tree) && is_known {
            return TreeWalkResult::Skip;
        }
        if let (Some(tool), false) = (planted::reader(Path::new(&path)), is_known) {
            found = Some(format!("its {path} would be read by your own {tool}; it is not restored"));
            return TreeWalkResult::Abort;
        }
        TreeWalkResult::Ok
    });
    match found {
        Some(why) => Err(anyhow::anyhow!(why)),
        None => Ok(walked?),
    }
}
