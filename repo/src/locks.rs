//! Stale git lock files: found with care, moved aside, never deleted.

use anyhow::{Context, Result};
use house::{at_work, files, interrupt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a lock must stay unchanged to count as stale: so many looks, each this far apart.
const LOOKS: u32 = 30;
const APART: Duration = Duration::from_millis(50);

/// Moves aside the locks under `.git` that stay unchanged during the looks and that no process holds.
pub fn clear_stale(git: &Path, root: &Path, kept: &Path) -> Result<Vec<PathBuf>> {
    let seen: Vec<_> = find(git).into_iter().map(|path| (files::mark(&path), path)).collect();
    if seen.iter().any(|(mark, _)| mark.is_some()) {
        for _ in 0..LOOKS {
            interrupt::check()?;
            std::thread::sleep(APART);
        }
    }
    let mut cleared = Vec::new();
    for (mark, path) in seen {
        // Git's locks are regular files; anything else under such a name is in the way.
        if mark.is_some() && (files::mark(&path) != mark || is_held(&path, root)) {
            continue;
        }
        move_aside(git, &path, kept)?;
        cleared.push(path);
    }
    Ok(cleared)
}

/// Whether a process holds the lock. During an editor or hook of `git commit -a` git keeps the index lock without
/// having the file open, so any git running in the house counts as its holder.
fn is_held(lock: &Path, root: &Path) -> bool {
    let by_name = lock.ends_with("index.lock") && at_work::works_in("git", root);
    by_name || !at_work::holders(lock).is_empty()
}

/// Moves aside every lock of the guardian's own refs, without waiting: only for a caller that knows nobody else
/// writes those refs.
pub fn clear_own(git: &Path, refs: &[String], kept: &Path) -> Result<()> {
    let shared = common(git);
    let is_own = |path: &PathBuf| refs.iter().any(|name| path.starts_with(shared.join(name)));
    let own = find(git).into_iter().filter(is_own);
    own.into_iter().try_for_each(|path| move_aside(git, &path, kept))
}

fn move_aside(git: &Path, lock: &Path, kept: &Path) -> Result<()> {
    let name = lock.strip_prefix(git).unwrap_or(lock).to_string_lossy().replace('/', "-");
    std::fs::create_dir_all(kept)?;
    let to = kept.join(format!("{}-{name}", house::clock::name()));
    std::fs::rename(lock, &to).with_context(|| format!("failed to move {} aside", lock.display()))?;
    tracing::warn!(lock = %lock.display(), kept = %to.display(), "moved a stale git lock aside");
    Ok(())
}

/// The folder that linked work trees share; `git` itself where there are none (git's gitrepository-layout).
fn common(git: &Path) -> PathBuf {
    let told = files::read_small(&git.join("commondir")).ok().flatten();
    told.map_or(git.to_path_buf(), |told| git.join(String::from_utf8_lossy(&told).trim()))
}

/// Lock files of the index, HEAD and refs.
pub fn find(git: &Path) -> Vec<PathBuf> {
    let shared = common(git);
    let mut found: Vec<PathBuf> = ["index.lock", "HEAD.lock"].map(|name| git.join(name)).into();
    found.push(shared.join("packed-refs.lock"));
    // In a linked work tree only a few refs are its own.
    let mut folders = vec![shared.join("refs")];
    if shared != git {
        folders.push(git.join("refs"));
    }
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                // No ref may have a name ending in `.lock`: whatever this is, it is in a ref's way.
                _ if path.extension().is_some_and(|end| end == "lock") => found.push(path),
                Ok(kind) if kind.is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    found.retain(|path| path.symlink_metadata().is_ok());
    found
}
