//! The files below a folder of the house that may be shown, in order and bounded.

use super::repo_look::is_secret;
use ground::files;
use std::fs;
use std::path::{Path, PathBuf};

const MOST_DEPTH: usize = 16;
const MOST_FILES: usize = 10_000;

/// A file; `name` is its path as it is shown.
pub struct Found {
    pub name: String,
    pub path: PathBuf,
}

/// Files below a path, or the file at it. Links, hidden files, build output and files that may hold secrets are
/// passed over. False where there are more than are returned.
pub fn files(at: &Path, name: &str) -> (Vec<Found>, bool) {
    let mut found = Vec::new();
    let whole = walk(at, name, 0, &mut found);
    (found, whole)
}

fn walk(at: &Path, name: &str, depth: usize, found: &mut Vec<Found>) -> bool {
    if at.is_symlink() || is_secret(at) {
        return true;
    }
    if !at.is_dir() {
        found.push(Found { name: name.to_owned(), path: at.to_path_buf() });
        return true;
    }
    let mut entries: Vec<_> = files::entries(at).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let file = entry.file_name().to_string_lossy().into_owned();
        if file.starts_with('.') || file == "target" {
            continue;
        }
        if depth >= MOST_DEPTH || found.len() >= MOST_FILES {
            return false;
        }
        let name = if name == "." { file } else { format!("{name}/{file}") };
        if !walk(&entry.path(), &name, depth + 1, found) {
            return false;
        }
    }
    true
}
