//! `files.*`: files of the creature's making, inside `.self/workspace` and nowhere else.
//!
//! In risky mode the owner names another folder of the house in its place; a folder listed in `HOUSE` is refused.

use super::arguments::Arguments;
use super::page::page;
use super::papers::is_slug;
use super::tool_context::ToolContext;
use crate::fault::{self, Fault};
use ground::files;
use serde_json::{Value, json};
use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Top-level names that are never the workspace, whatever the owner's settings say.
const HOUSE: [&str; 17] = [
    ".git",
    ".ci",
    ".self",
    "self",
    "creature",
    "guardian",
    "broker",
    "console",
    "house",
    "walls",
    "trials",
    "docs",
    "Cargo.toml",
    "scripts",
    "target",
    "owner.toml",
    "PURPOSE.md",
];

/// Largest file that is written, in bytes.
const MOST_WRITE: usize = 1024 * 1024;

/// Files and bytes the workspace may hold; past that a write is refused and nothing is deleted.
const MOST_FILES: u64 = 20_000;
const MOST_BYTES: u64 = 512 * 1024 * 1024;

pub fn read(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let path = args.text("path");
    let file = inside(tools, args, path)?;
    let read = |cause: std::io::Error| {
        Fault::caused(format!("read {path}"), &cause, "files.list shows what is there")
    };
    let found = file.metadata().map_err(read)?;
    let most = tools.belt.files.most_bytes;
    if !found.is_file() {
        return Err(args.fault(format!("reads files, and {path} is none")));
    }
    if found.len() > most {
        let bytes = found.len();
        return Err(args.fault(format!(
            "reads files of at most {most} bytes ([files] most_bytes in owner.toml), and {path} has {bytes}"
        )));
    }
    let bytes = files::whole(&file, most).map_err(read)?;
    page(args, path, &String::from_utf8_lossy(&bytes))
}

pub fn write(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (path, text) = (args.text("path"), args.text("text"));
    let file = inside(tools, args, path)?;
    if file == root(tools)? || file.is_dir() || path.ends_with('/') {
        return Err(args.fault(format!("needs a file's path, and `{path}` is a folder's")));
    }
    if text.len() > MOST_WRITE {
        return Err(args.fault("takes at most 1 MiB as `text`"));
    }
    let (files, bytes) = weight(&root(tools)?, 0);
    if files >= MOST_FILES || bytes + text.len() as u64 > MOST_BYTES {
        let error = format!("the workspace is full: {files} files, {} MiB", bytes / 1024 / 1024);
        return Err(Fault::new(error, "delete what is not needed with repo.run"));
    }
    memory::replace(&file, text.as_bytes())
        .map_err(|cause| unwritten(tools, "write a file of the workspace", cause.kind(), &cause))?;
    Ok(json!({"path": shown(tools, &file), "bytes": text.len()}))
}

pub fn create_workspace(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let name = args.text("name");
    if !is_slug(name) {
        return Err(args.fault("takes a `name` of letters, digits, - and _, at most 60"));
    }
    let folder = inside(tools, args, name)?;
    let existed = folder.is_dir();
    fs::create_dir_all(&folder)
        .map_err(|cause| unwritten(tools, &format!("create the workspace {name}"), cause.kind(), &cause))?;
    let readme = folder.join("README.md");
    if !readme.exists() {
        let about = args.maybe_text("about").unwrap_or("What this is for is yet to be written here.");
        let text = format!(
            "# {name}\n\n{}\n\nMade {} by life {}.\n",
            about.trim(),
            tools.store.clock.text(),
            tools.store.life
        );
        memory::replace(&readme, text.as_bytes())
            .map_err(|cause| unwritten(tools, "write the readme of a workspace", cause.kind(), &cause))?;
    }
    Ok(json!({"path": shown(tools, &folder), "existed": existed}))
}

fn unwritten(tools: &ToolContext<'_>, doing: &str, kind: ErrorKind, cause: &dyn Error) -> Fault {
    Fault::caused(doing, cause, fault::unwritable(kind, tools.belt.files.risky))
}

/// Where the file tools work: the workspace, or in risky mode the folder that the owner names.
pub(super) fn root(tools: &ToolContext<'_>) -> Result<PathBuf, Fault> {
    let settings = &tools.belt.files;
    if !settings.risky {
        return Ok(tools.store.house.workspace());
    }
    let name = settings.risky_root.trim_matches('/');
    let mut parts = Path::new(name).components();
    let first = parts.next().map(|part| part.as_os_str().to_string_lossy().to_lowercase());
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let houses = |first: &String| HOUSE.iter().any(|known| known.eq_ignore_ascii_case(first));
    if !plain || first.as_ref().is_none_or(houses) || settings.risky_root.starts_with('/') {
        let error = format!(
            "work in the risky root `{}`: it is no folder of its own in the house",
            settings.risky_root
        );
        return Err(Fault::new(
            error,
            "your owner sets [files] risky_root in owner.toml, as in \"projects\"",
        ));
    }
    let mut at = tools.store.house.root().to_path_buf();
    for part in Path::new(name).components() {
        at.push(part);
        if at.is_symlink() {
            let hint = "your owner names a real folder as [files] risky_root in owner.toml";
            return Err(Fault::new(
                format!("work in the risky root {name}: a symbolic link is on the way"),
                hint,
            ));
        }
    }
    Ok(at)
}

/// The place a path names, if it is inside the workspace and no link is on the way.
pub(super) fn inside(tools: &ToolContext<'_>, args: &Arguments, path: &str) -> Result<PathBuf, Fault> {
    let top = root(tools)?;
    let named = shown(tools, &top);
    let refuse = |why: &str| {
        let path: String = path.chars().take(200).collect();
        Err(args.fault(format!("works inside {named} only: `{path}` {why}")))
    };
    let below = path.strip_prefix(named.as_str()).unwrap_or(path);
    let below = if below.len() < path.len() { below.trim_start_matches('/') } else { below };
    if below.len() > 1_000 || below.chars().any(char::is_control) || below.contains('\\') {
        return refuse("is no plain path");
    }
    let mut at = top;
    for part in Path::new(below).components() {
        match part {
            Component::Normal(part) => at.push(part),
            Component::CurDir => continue,
            Component::ParentDir => return refuse("climbs with `..`"),
            Component::RootDir | Component::Prefix(_) => return refuse("is absolute"),
        }
        if at.is_symlink() {
            return refuse("passes through a symbolic link");
        }
    }
    Ok(at)
}

pub(super) fn shown(tools: &ToolContext<'_>, path: &Path) -> String {
    path.strip_prefix(tools.store.house.root()).unwrap_or(path).display().to_string()
}

/// Files and bytes below a folder; links are not followed, and the walk ends at `MOST_FILES`.
fn weight(folder: &Path, depth: usize) -> (u64, u64) {
    let (mut files, mut bytes) = (0, 0);
    for entry in files::entries(folder) {
        let Ok(kind) = entry.file_type() else { continue };
        let (below, size) = match kind.is_dir() && depth < 32 {
            true => weight(&entry.path(), depth + 1),
            false => (1, entry.metadata().map_or(0, |found| found.len())),
        };
        (files, bytes) = (files + below, bytes + size);
        if files >= MOST_FILES {
            break;
        }
    }
    (files, bytes)
}
