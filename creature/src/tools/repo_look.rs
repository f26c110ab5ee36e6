//! `repo.*` that only look: status, diff and read, through git2 and the file system.
//!
//! Invariant: nothing of `.git` is written, and nothing that may hold secrets is shown. Where there is a draft,
//! source is shown as the draft has it, and the answer says so.

use super::arguments::Arguments;
use super::outline::{self, Item};
use super::page;
use super::skills;
use super::tool_context::{ToolContext, with};
use crate::fault::Fault;
use git2::{Delta, DiffFormat, DiffOptions, Repository, Status, StatusOptions};
use ground::files;
use ground::text::first;
use patch::change::Change;
use patch::draft::Draft;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Paths in one list, bytes of a diff, bytes of a file that is read.
const MOST_LISTED: usize = 200;
const MOST_DIFF: usize = 512 * 1024;
const MOST_READ: u64 = 1024 * 1024;

/// Paths the creature may write; uncommitted work on other paths is shown only when asked for by path.
const OWN: [&str; 3] = ["creature", "self", "PURPOSE.md"];

pub fn status(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    let repo = open(tools)?;
    let head = repo.head().and_then(|head| head.peel_to_commit());
    let head =
        head.map_err(|cause| Fault::caused("read HEAD", &cause, "the guardian needs a first commit"))?;
    let changed = changed(&repo, None)?;
    let left_out = changed.len().saturating_sub(MOST_LISTED);
    let beside: Vec<String> =
        changed.iter().map(|(_, path)| path.clone()).filter(|path| path.starts_with("creature/")).collect();
    let changed: Vec<String> =
        changed.into_iter().take(MOST_LISTED).map(|(how, path)| format!("{how} {path}")).collect();
    let said = head.summary().ok().flatten().unwrap_or_default();
    let status =
        json!({"commit": head.id().to_string(), "said": said, "changed": changed, "left_out": left_out});
    let Some(draft) = Draft::open(&tools.store.house)? else { return Ok(status) };
    let files = draft.changes(&tools.store.house)?.into_iter().take(MOST_LISTED);
    let files: Vec<String> = files.map(|change| format!("{} {}", change.how(), change.path)).collect();
    // As a command leaves them: edits go to the draft.
    let note = "in the tree that lives, not in the draft; the next birth commits them as they are";
    let paths: Vec<&String> = beside.iter().take(MOST_LISTED).collect();
    let beside = (!paths.is_empty()).then(|| json!({"paths": paths, "note": note}));
    let missed: Vec<&str> = draft.state.missed.iter().map(|edit| edit.path.as_str()).collect();
    let missed = Some(missed).filter(|missed| !missed.is_empty());
    let of_draft = json!({
        "draft": draft.line(), "of_the_draft_against_what_lives": files, "beside_the_draft": beside,
        "edits_that_missed": missed,
    });
    Ok(with(status, of_draft))
}

/// The root below which a path is read, and the draft in a line where that root is the draft.
pub(super) fn tree(tools: &ToolContext<'_>, path: &str) -> (PathBuf, Option<String>) {
    let source = path == "creature" || path.starts_with("creature/");
    let draft = source.then(|| Draft::open(&tools.store.house).ok().flatten()).flatten();
    match draft {
        None => (tools.store.house.root().to_path_buf(), None),
        Some(draft) => (draft.root().to_path_buf(), Some(draft.line())),
    }
}

/// The answer with the tree it shows as its first field.
pub(super) fn of_tree(answer: Value, tree: Option<String>) -> Value {
    match (answer, tree) {
        (Value::Object(fields), Some(tree)) => {
            let mut all = Map::from_iter([("tree".to_owned(), json!(tree))]);
            all.extend(fields);
            Value::Object(all)
        }
        (answer, _) => answer,
    }
}

/// Paths that differ from HEAD, new ones included, each with how it differs.
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

pub fn diff(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (path, staged) = (args.maybe_text("path"), args.flag("staged"));
    if let (Some(draft), false) = (Draft::open(&tools.store.house)?, staged) {
        let path = path.map(|path| readable(args, path)).transpose()?;
        let source = path.as_deref().is_none_or(|path| path.split('/').next() == Some("creature"));
        if source {
            return diff_of(tools, &draft, path.as_deref());
        }
    }
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

/// The draft against the tree that lives: all of it, or what lies at `path`.
fn diff_of(tools: &ToolContext<'_>, draft: &Draft, path: Option<&str>) -> Result<Value, Fault> {
    let below = |change: &Change| {
        path.is_none_or(|path| {
            change.path == path || change.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
        })
    };
    let changes: Vec<Change> = draft.changes(&tools.store.house)?.into_iter().filter(below).collect();
    let mut text: String = changes.iter().map(Change::diff).collect();
    let cut = text.len() > MOST_DIFF;
    if cut {
        text = first(&text, MOST_DIFF);
    }
    let of = format!("{}, against the tree that lives", draft.line());
    Ok(of_tree(json!({"files": changes.len(), "diff": text, "cut": cut}), Some(of)))
}

pub async fn read(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (path, text) = text_of(tools, args, args.text("path"))?;
    let (_, tree) = tree(tools, &path);
    skills::marked(tools, of_tree(shown(args, &path, &text)?, tree)).await
}

fn shown(args: &Arguments, path: &str, text: &str) -> Result<Value, Fault> {
    let Some(name) = args.maybe_text("item") else {
        return page::page(args, path, text);
    };
    let items = outline::items(text);
    let named: Vec<&Item> = items.iter().filter(|item| item.is(name.trim())).collect();
    match named.as_slice() {
        [item] => {
            let from = args.number("from").unwrap_or(item.top).clamp(item.top, item.last);
            let most = args.number("lines").unwrap_or(usize::MAX).min(item.last + 1 - from);
            page::span(args, path, text, from, most)
        }
        [] => {
            Err(args.fault(format!("finds no item `{}` in {path}; repo.outline shows them", first(name, 80))))
        }
        several => {
            let place = |item: &&Item| format!("{}-{} in {}", item.first, item.last, item.within);
            let places: Vec<String> = several.iter().map(place).collect();
            let error = format!(
                "{path} has {} items `{}`: lines {}",
                several.len(),
                first(name, 80),
                places.join(", ")
            );
            Err(Fault::new(error, "name it as Type::name, or give from and lines"))
        }
    }
}

/// A file of the repository as text, and its path from the root.
pub(super) fn text_of(
    tools: &ToolContext<'_>,
    args: &Arguments,
    path: &str,
) -> Result<(String, String), Fault> {
    let path = readable(args, path)?;
    let real = real(tools, args, &path)?;
    let hint = "repo.map shows what is there";
    let found = real.metadata().map_err(|cause| Fault::caused(format!("read {path}"), &cause, hint))?;
    if !found.is_file() || found.len() > MOST_READ {
        return Err(Fault::new(format!("{path} is not a file of at most 1 MiB"), hint));
    }
    let bytes = files::whole(&real, MOST_READ)
        .map_err(|cause| Fault::caused(format!("read {path}"), &cause, hint))?;
    Ok((path, String::from_utf8_lossy(&bytes).into_owned()))
}

/// The file behind a path: a link may lead to another file of the repository, never out of it or to a hidden one.
pub(super) fn real(tools: &ToolContext<'_>, args: &Arguments, path: &str) -> Result<PathBuf, Fault> {
    let hint = "repo.map shows what is there";
    let (at, _) = tree(tools, path);
    let real = at.join(path).canonicalize();
    let real = real.map_err(|cause| Fault::caused(format!("read {path}"), &cause, hint))?;
    let root = tools.store.house.root().canonicalize().unwrap_or_default();
    let inner = real
        .strip_prefix(&root)
        .ok()
        .and_then(Path::to_str)
        .ok_or_else(|| args.fault(format!("stays in the repository, and {path} is a link out of it")))?;
    readable(args, inner)?;
    Ok(real)
}

/// A path from the root that may be shown, cleaned of `./`.
pub(super) fn readable(args: &Arguments, path: &str) -> Result<String, Fault> {
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

pub(super) fn is_secret(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name == "owner.toml" || name == ".env" || name.starts_with(".env.")
}

pub(super) fn open(tools: &ToolContext<'_>) -> Result<Repository, Fault> {
    patch::repository::open(&tools.store.house).map_err(|cause| git(&cause))
}

fn git(cause: &git2::Error) -> Fault {
    Fault::new(format!("git says: {}", cause.message()), "is the house a git repository with a commit?")
}
