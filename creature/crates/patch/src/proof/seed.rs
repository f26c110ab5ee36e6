//! The draft's target folder takes over what cargo built of registry crates for the tree that lives.
//!
//! Invariant: what cargo writes here changes nothing in the other folder: only files replaced whole are shared.

use crate::source;
use ground::files;
use std::fs;
use std::io;
use std::path::Path;

/// Folders of a target folder that hold artefacts, and what cargo knows of them.
const FOLDERS: [&str; 3] = ["build", "deps", ".fingerprint"];

/// Endings of files that compilers replace whole and that are large: they are hard-linked, others copied.
const SHARED: [&str; 5] = ["rlib", "rmeta", "so", "a", "o"];

/// How deep folders are followed.
const DEEPEST: usize = 16;

/// Takes over artefacts of packages that are not `own`; those that cannot be had are built again.
pub fn take_over(from: &Path, to: &Path, own: &[String]) {
    for folder in FOLDERS {
        if let Err(error) = folder_of(&from.join(folder), &to.join(folder), own, DEEPEST) {
            tracing::debug!("failed to take over {folder} from {}: {error}", from.display());
        }
    }
}

fn folder_of(from: &Path, to: &Path, own: &[String], deep: usize) -> io::Result<()> {
    let Ok(entries) = files::list(from) else { return Ok(()) };
    fs::create_dir_all(to)?;
    for entry in entries {
        let (name, at) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        let (meta, target) = (entry.metadata()?, to.join(&name));
        let crate_name = name.strip_prefix("lib").unwrap_or(&name);
        let of_own = |own: &String| {
            crate_name.strip_prefix(own.as_str()).is_some_and(|rest| rest.starts_with('-'))
                || name.strip_prefix(own.as_str()).is_some_and(|rest| rest.starts_with('-'))
        };
        if own.iter().any(of_own) {
            continue;
        }
        if meta.is_dir() && deep > 0 {
            folder_of(&at, &target, own, deep - 1)?;
        } else if meta.is_file() {
            file(&at, &target)?;
        }
    }
    Ok(())
}

fn file(from: &Path, to: &Path) -> io::Result<()> {
    let ending = from.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if SHARED.contains(&ending) && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    source::copy(from, to)
}
