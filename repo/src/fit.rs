//! Why nothing may be built, restored or started over the state of a repository: it could harm the owner's work.

use crate::{Repo, open};
use house::sealed::{Left, checksum};
use house::{House, printable};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Why a start would refuse over the repository. Asking changes nothing.
pub fn refusal(house: &House, repo: &Repo, left: &Left) -> Option<String> {
    unfit(repo).or_else(|| edits(house, repo, left))
}

/// Why nothing can be built or restored in a repository.
pub fn unfit(repo: &Repo) -> Option<String> {
    match repo.under_way() {
        Some(what) => Some(format!("a {what} is under way in this repository; finish it or abort it first")),
        None => match repo.head() {
            Ok(_) => open::unread_index(&repo.git),
            Err(error) => Some(format!("{error:#}")),
        },
    }
}

/// The owner's edits: changes made after a clean stop. Earlier ones, and those after a crash, are the creature's.
fn edits(house: &House, repo: &Repo, left: &Left) -> Option<String> {
    if *left == Left::Unknown {
        return None;
    }
    let dirty = match repo.head().and_then(|head| repo.dirty(head)) {
        Ok(dirty) => dirty,
        Err(error) => return Some(format!("{error:#}")),
    };
    if *left == Left::With(fingerprint(house, &dirty)) {
        return None;
    }
    told_edits(&repo.edits(&dirty))
}

/// Returns advice on the owner's uncommitted edits; `None` if there are none.
pub fn told_edits(edits: &[PathBuf]) -> Option<String> {
    let more = if edits.len() > 1 { format!(" and {} more", edits.len() - 1) } else { String::new() };
    Some(format!(
        "creature/ has uncommitted edits ({}{more}), yours: they were made while no creature lived. \
         To keep them: git add -f creature && git commit -m 'keep'. \
         To drop them: git checkout HEAD -- creature && git clean -ffdx creature",
        printable::path(edits.first()?),
    ))
}

/// Identifies a set of uncommitted edits, also after the house was moved or copied: without inode numbers, which a
/// copy does not keep.
pub fn fingerprint(house: &House, dirty: &[PathBuf]) -> String {
    if dirty.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    for path in dirty {
        let meta = std::fs::symlink_metadata(house.creature().join(path)).ok();
        let mark = meta.map(|meta| (meta.mode(), meta.size(), meta.mtime(), meta.mtime_nsec()));
        text.push_str(&format!("{} {mark:?}\n", path.display()));
    }
    checksum(text.as_bytes())
}
