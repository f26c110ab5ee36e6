//! `repo.*` that only look: status, diff, map and read, through git2 and the file system.
//!
//! Invariant: nothing of `.git` is written, and nothing that may hold secrets is shown.

use super::Toolbox;
use super::arguments::Arguments;
use super::page::page;
use crate::fault::Fault;
use git2::{ConfigLevel, Delta, DiffFormat, DiffOptions, Repository, Status, StatusOptions};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Once;

const MOST_LISTED: usize = 200;
const MOST_DIFF: usize = 512 * 1024;
const MOST_READ: u64 = 1024 * 1024;
const MOST_DEPTH: usize = 12;

/// What the creature may write; others' uncommitted work is shown only when asked for by path.
const OWN: [&str; 3] = ["creature", "self", "PURPOSE.md"];

pub fn status(tools: &mut Toolbox) -> Result<Value, Fault> {
    let repo = open(tools)?;
    let head = repo.head().and_then(|head| head.peel_to_commit());
    let head =
        head.map_err(|cause| Fault::caused("read HEAD", &cause, "the guardian needs a first commit"))?;
    let changed = changed(&repo, None)?;
    let left_out = changed.len().saturating_sub(MOST_LISTED);
    let changed: Vec<String> =
        changed.into_iter().take(MOST_LISTED).map(|(how, path)| format!("{how} {path}")).collect();
    let said = head.summary().ok().flatten().unwrap_or_default();
    Ok(json!({"commit": head.id().to_string(), "said": said, "changed": changed, "left_out": left_out}))
}

/// Paths that differ from HEAD, new ones included, each with how.
pub(super) fn changed(repo: &Repository, below: Option<&str>) -> Result<Vec<(&'static str, String)>, Fault> {
    let mut options = StatusOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true).include_ignored(false);
    if let Some(below) = below {
        options.pathspec(below);
    }
    let statuses = repo.statuses(Some(&mut options)).map_err(|cause| git(&cause))?;
    let line = |entry: git2::StatusEntry| Some((how(entry.status()), entry.path().ok()?.to_owned()));
    Ok(statuses.iter().filter_map(line).collect())
}

fn how(status: Status) -> &'static str {
    match status {
        new if new.intersects(Status::WT_NEW | Status::INDEX_NEW) => "new",
        gone if gone.intersects(Status::WT_DELETED | Status::INDEX_DELETED) => "deleted",
        clash if clash.contains(Status::CONFLICTED) => "conflicted",
        _ => "changed",
    }
}

pub fn diff(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (path, staged) = (args.maybe_text("path"), args.flag("staged"));
    let repo = open(tools)?;
    let mut options = DiffOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true).show_untracked_content(true);
    match path {
        Some(path) => _ = options.pathspec(readable(args, path)?),
        None => OWN.iter().for_each(|own| _ = options.pathspec(own)),
    }
    let tree = repo.head().and_then(|head| head.peel_to_tree()).map_err(|cause| git(&cause))?;
    let diff = match staged {
        true => repo.diff_tree_to_index(Some(&tree), None, Some(&mut options)),
        false => repo.diff_tree_to_workdir_with_index(Some(&tree), Some(&mut options)),
    };
    let diff = diff.map_err(|cause| git(&cause))?;
    let (mut text, mut cut) = (Vec::new(), false);
    let printed = diff.print(DiffFormat::Patch, |delta, _, line| {
        let hidden = delta.status() == Delta::Ignored || delta.new_file().path().is_some_and(is_secret);
        cut |= text.len() > MOST_DIFF;
        if !hidden && !cut {
            if matches!(line.origin(), ' ' | '+' | '-') {
                text.extend(line.origin().to_string().bytes());
            }
            text.extend_from_slice(line.content());
        }
        true
    });
    printed.map_err(|cause| git(&cause))?;
    let files = diff.deltas().count();
    Ok(json!({"files": files, "diff": String::from_utf8_lossy(&text), "cut": cut}))
}

pub fn map(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let path = readable(args, args.maybe_text("path").unwrap_or("creature"))?;
    let top = tools.house.root().join(&path);
    if !top.exists() {
        return Err(args.fault(format!("finds nothing at {path}")));
    }
    let mut lines = Vec::new();
    walk(&top, &path, 0, &mut lines);
    lines.sort();
    Ok(json!({"path": path, "files": lines.len(), "map": lines.join("\n")}))
}

/// Source and papers below a folder: path, length, and what the first line says.
fn walk(at: &Path, name: &str, depth: usize, lines: &mut Vec<String>) {
    if at.is_symlink() || depth > MOST_DEPTH || lines.len() >= 1_000 {
        return;
    }
    if at.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(at).into_iter().flatten().flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let file = entry.file_name().to_string_lossy().into_owned();
            if !file.starts_with('.') && file != "target" {
                walk(&entry.path(), &format!("{name}/{file}"), depth + 1, lines);
            }
        }
        return;
    }
    let kind = at.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
    let short = at.metadata().is_ok_and(|found| found.len() <= MOST_READ);
    if !matches!(kind, "rs" | "md" | "toml" | "sh") || !short || is_secret(at) {
        return;
    }
    let text = fs::read(at).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let about = first.trim_start_matches(['/', '!', '#', ' ']);
    let about: String = about.chars().take(140).collect();
    lines.push(format!("{name} ({} lines): {about}", text.lines().count()));
}

pub fn read(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let path = readable(args, args.text("path"))?;
    let file = tools.house.root().join(&path);
    let hint = "repo.map shows what is there";
    let real = file.canonicalize().map_err(|cause| Fault::caused(format!("read {path}"), &cause, hint))?;
    let root = tools.house.root().canonicalize().unwrap_or_default();
    // A link may lead to another name of the house's, never out of it or to what is hidden.
    let inner = real
        .strip_prefix(&root)
        .ok()
        .and_then(Path::to_str)
        .ok_or_else(|| args.fault(format!("stays in the repository, and {path} is a link out of it")))?;
    readable(args, inner)?;
    let found = real.metadata().map_err(|cause| Fault::caused(format!("read {path}"), &cause, hint))?;
    if !found.is_file() || found.len() > MOST_READ {
        return Err(Fault::new(format!("{path} is not a file of at most 1 MiB"), hint));
    }
    let bytes = fs::read(&real).map_err(|cause| Fault::caused(format!("read {path}"), &cause, hint))?;
    page(args, &path, &String::from_utf8_lossy(&bytes))
}

/// A path from the root that may be shown, cleaned of `./`.
fn readable(args: &Arguments, path: &str) -> Result<String, Fault> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let refuse = |why: &str| {
        let path: String = path.chars().take(200).collect();
        Err(args.fault(format!("may not read `{path}`: {why}")))
    };
    if path.starts_with('/')
        || path.contains('\\')
        || parts.contains(&"..")
        || path.chars().any(char::is_control)
    {
        return refuse("give a path from the repository root");
    }
    if parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        return refuse("git's own files are no use as text; repo.status and repo.diff read them for you");
    }
    if is_secret(Path::new(path)) {
        return refuse("it may hold the owner's secrets");
    }
    Ok(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

fn is_secret(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name == "owner.toml" || name == ".env" || name.starts_with(".env.")
}

pub(super) fn open(tools: &Toolbox) -> Result<Repository, Fault> {
    static ALONE: Once = Once::new();
    // The owner's own settings of git may not be readable from here, and unreadable ones would be an error.
    ALONE.call_once(|| {
        for level in [ConfigLevel::System, ConfigLevel::XDG, ConfigLevel::Global] {
            // Sound: the search paths are set once, before this process opens any repository.
            let _ = unsafe { git2::opts::set_search_path(level, "") };
        }
    });
    Repository::open(tools.house.root()).map_err(|cause| git(&cause))
}

fn git(cause: &git2::Error) -> Fault {
    Fault::new(format!("git says: {}", cause.message()), "is the house a git repository with a commit?")
}
