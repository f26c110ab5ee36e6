//! `files.list`: what lies below a folder of the workspace, each entry with kind, size and time.
//!
//! Invariant: where not all fits, the deepest entries are left out, and counted. Links are named, never followed.

use super::arguments::Arguments;
use super::files::{inside, root};
use super::tool_context::ToolContext;
use crate::fault::Fault;
use ground::files;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs::{self, Metadata};
use std::path::PathBuf;

/// Entries looked at; past that not even those left out are counted.
const MOST_SEEN: usize = 50_000;

/// Levels of folders, unless the call says.
const DEPTH: usize = 8;

/// Entries that a walk has found so far.
#[derive(Default)]
struct Listing {
    lines: Vec<(String, String)>,
    seen: usize,
    /// Folders on the last level, which were not looked into.
    unopened: usize,
}

pub fn list(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let path = args.maybe_text("path").unwrap_or("");
    let folder = inside(tools, args, path)?;
    let depth = args.number("depth").unwrap_or(DEPTH);
    // The workspace's folder is made with its first file: until then it is empty.
    if folder == root(tools)? && !folder.exists() {
        return Ok(json!({"entries": [], "left_out": 0}));
    }
    let unread = |cause: std::io::Error| {
        Fault::caused(format!("list {path}"), &cause, "files.list without `path` shows the top")
    };
    drop(files::list(&folder).map_err(unread)?);
    let most = tools.belt.files.most_entries;
    let mut listing = walk(folder, depth, most);
    listing.lines.sort();
    let left_out = listing.seen - listing.lines.len();
    let entries: Vec<String> = listing.lines.into_iter().map(|(_, line)| line).collect();
    let mut notes = Vec::new();
    if listing.seen >= MOST_SEEN {
        notes.push(format!("more than {left_out} entries are left out: list a folder of it"));
    } else if left_out > 0 {
        notes.push(format!(
            "{left_out} entries are left out, the deepest first: {most} are listed at most; list a folder of it"
        ));
    }
    if listing.unopened > 0 {
        notes.push(format!("{} folders at depth {depth} were not looked into", listing.unopened));
    }
    let note = Some(notes.join("; ")).filter(|note| !note.is_empty());
    Ok(json!({"entries": entries, "left_out": left_out, "note": note}))
}

/// Walks level by level, so that what is left out lies deepest.
fn walk(top: PathBuf, depth: usize, most: usize) -> Listing {
    let mut listing = Listing::default();
    let mut folders = VecDeque::from([(top, String::new(), 1)]);
    while let Some((folder, name, level)) = folders.pop_front() {
        let mut entries: Vec<_> = files::entries(&folder).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            if listing.seen >= MOST_SEEN {
                return listing;
            }
            let Ok(found) = entry.metadata() else { continue };
            let mut name = format!("{name}{}", entry.file_name().to_string_lossy());
            if found.is_dir() {
                name.push('/');
                match level < depth {
                    true => folders.push_back((entry.path(), name.clone(), level + 1)),
                    false => listing.unopened += 1,
                }
            }
            listing.seen += 1;
            if listing.lines.len() < most {
                let line = line(&name, &found);
                listing.lines.push((name, line));
            }
        }
    }
    listing
}

fn line(name: &str, found: &Metadata) -> String {
    let changed = found.modified().ok().and_then(|at| Timestamp::try_from(at).ok());
    let changed = changed.map_or_else(|| "at an unknown time".to_owned(), |at| format!("{at:.0}"));
    match found {
        found if found.is_dir() => format!("{name} (folder, {changed})"),
        found if found.is_symlink() => format!("{name} (link, {changed})"),
        found if found.is_file() => format!("{name} (file, {} bytes, {changed})", found.len()),
        _ => format!("{name} (neither file nor folder, {changed})"),
    }
}
