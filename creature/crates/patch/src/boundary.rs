//! Paths that a self-edit may touch: the creature's source, its papers, its purpose, and nothing else.
//!
//! Invariant: a path that passes is relative and plain, without `..` or `.git`, on disk without symbolic links.

use ground::fault::Fault;
use std::path::Path;

const MOST_CHARS: usize = 300;

/// Area that a path belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Area {
    /// `creature/**`: takes effect by rebirth.
    Source,
    /// `self/**`: takes effect at once.
    Papers,
    /// `PURPOSE.md`: takes effect at once.
    Purpose,
    /// The workspace, or the folder the owner named in its place: takes effect at once; the caller judges its paths.
    Workspace,
}

/// A path that may be touched, cleaned of `./` and doubled slashes.
#[derive(Clone, Debug, PartialEq)]
pub struct Allowed {
    pub path: String,
    pub area: Area,
}

/// Judges a path by its text alone.
pub fn judge(path: &str) -> Result<Allowed, Fault> {
    let refuse = |why: &str, hint: &str| Err(Fault::new(format!("may not touch `{path}`: {why}"), hint));
    let plain = "give a path from the repository root, like creature/src/life.rs";
    if path.trim().is_empty() {
        return Err(Fault::new("the path is empty", plain));
    }
    if path.chars().count() > MOST_CHARS || path.chars().any(char::is_control) {
        return Err(Fault::new("the path is too long or holds control characters", plain));
    }
    if path.starts_with('/') || path.starts_with('~') || path.contains('\\') || path.contains(':') {
        return refuse("it is not a plain relative path", plain);
    }
    if path.ends_with('/') || path.trim() != path {
        return refuse("it does not name a file", plain);
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return refuse("it climbs with `..`", plain);
    }
    let git = |part: &&str| part.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git");
    if parts.iter().any(git) {
        return refuse("git's own files are the guardian's", "ask with repo.commit or repo.reset_hard");
    }
    let area = match parts.as_slice() {
        ["creature", "target", ..] => {
            return refuse("it is build output", "edit the source it is built from");
        }
        ["creature", _, ..] => Area::Source,
        ["self", _, ..] => Area::Papers,
        ["PURPOSE.md"] => Area::Purpose,
        [".self", "workspace", ..] => {
            return refuse("a self-edit is for source and papers", "use files.edit");
        }
        [".self", ..] => return refuse("its state has one writer a file", "use the tool that owns it"),
        ["guardian" | "broker" | "console", ..] => {
            return refuse("it is not the creature's to change", "only the owner edits the stable part");
        }
        ["src" | "crates" | "tests" | "prompts", ..] => {
            let hint = format!("did you mean creature/{}?", parts.join("/"));
            return refuse("it is outside creature/, self/ and PURPOSE.md", &hint);
        }
        _ => {
            let hint = "a self-edit may touch creature/**, self/** and PURPOSE.md";
            return refuse("it is outside creature/, self/ and PURPOSE.md", hint);
        }
    };
    Ok(Allowed { path: parts.join("/"), area })
}

/// Refuses a judged path that passes through or ends in a symbolic link, or names a folder.
pub fn no_links(root: &Path, path: &str) -> Result<(), Fault> {
    let mut at = root.to_path_buf();
    for part in path.split('/') {
        at.push(part);
        let Ok(found) = at.symlink_metadata() else {
            return Ok(());
        };
        if found.is_symlink() {
            let error = format!("may not touch `{path}`: {part} is a symbolic link");
            return Err(Fault::new(error, "name the real file, if it is yours"));
        }
    }
    if at.is_dir() {
        let error = format!("may not touch `{path}`: it is a folder");
        return Err(Fault::new(error, "name a file in it"));
    }
    Ok(())
}
