//! `files.*`: files of the creature's making, inside `.self/workspace` and nowhere else.
//!
//! In risky mode the owner names another folder in its place, inside or outside of the house; the guardian judges that
//! folder, and grants it behind the walls. Names in `KEPT` are left alone there.

use super::arguments::Arguments;
use super::page::page;
use super::papers::is_slug;
use super::skills;
use super::tool_context::ToolContext;
use crate::fault::{self, Fault};
use ground::files;
use serde_json::{Value, json};
use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Top-level names that are never the workspace, whatever the owner's settings say.
const HOUSE: [&str; 26] = [
    ".git",
    ".ci",
    ".self",
    "self",
    "creature",
    "ground",
    "guardian",
    "hands",
    "heart",
    "broker",
    "channels",
    "console",
    "house",
    "walls",
    "processes",
    "repo",
    "trials",
    "workspace-hack",
    "docs",
    "feral",
    "Cargo.toml",
    "scripts",
    "skills",
    "target",
    "owner.toml",
    "PURPOSE.md",
];

/// Names that are left alone wherever they lie in a folder of the owner's, with `*.git` and all that begin with `.env`.
const KEPT: [&str; 3] = [".git", ".self", "owner.toml"];

/// Files that the owner sent by a channel: read, never written.
pub(super) const RECEIVED: &str = ".self/received/";

/// Largest file that is written, in bytes.
const MOST_WRITE: usize = 1024 * 1024;

/// Files and bytes the workspace may hold; past that a write is refused and nothing is deleted.
const MOST_FILES: u64 = 20_000;
const MOST_BYTES: u64 = 512 * 1024 * 1024;

pub async fn read(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let path = args.text("path");
    let received = received(tools, args, path);
    let was_sent = received.is_some();
    let file = received.unwrap_or_else(|| inside(tools, args, path))?;
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
    let read = page(args, path, &String::from_utf8_lossy(&bytes))?;
    if was_sent { skills::marked(tools, read).await } else { Ok(read) }
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
    room(tools, text.len() as u64)?;
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
    if existed && args.maybe_flag("allowExisting") == Some(false) {
        return Err(args.fault(format!("makes a new folder, and {} is there", shown(tools, &folder))));
    }
    fs::create_dir_all(&folder)
        .map_err(|cause| unwritten(tools, &format!("create the workspace {name}"), cause.kind(), &cause))?;
    let readme = folder.join("README.md");
    if !readme.exists() && args.maybe_flag("createReadme") != Some(false) {
        let about = args.maybe_text("about").unwrap_or("What this is for is yet to be written here.");
        let title = args.maybe_text("readmeTitle").filter(|title| !title.trim().is_empty()).unwrap_or(name);
        let text = format!(
            "# {}\n\n{}\n\nMade {} by life {}.\n",
            title.trim(),
            about.trim(),
            tools.store.clock.text(),
            tools.store.life
        );
        memory::replace(&readme, text.as_bytes())
            .map_err(|cause| unwritten(tools, "write the readme of a workspace", cause.kind(), &cause))?;
    }
    Ok(json!({"path": shown(tools, &folder), "existed": existed}))
}

pub(super) fn unwritten(tools: &ToolContext<'_>, doing: &str, kind: ErrorKind, cause: &dyn Error) -> Fault {
    Fault::caused(doing, cause, fault::unwritable(kind, tools.belt.files.risky))
}

/// Refuses so many more bytes where the workspace would be too full with them. A folder of the owner's has its own size.
pub(super) fn room(tools: &ToolContext<'_>, more: u64) -> Result<(), Fault> {
    if tools.belt.files.risky {
        return Ok(());
    }
    let (files, bytes) = weight(&root(tools)?, 0);
    if files >= MOST_FILES || bytes + more > MOST_BYTES {
        let error = format!("the workspace is full: {files} files, {} MiB", bytes / 1024 / 1024);
        return Err(Fault::new(error, "delete what is not needed with files.delete"));
    }
    Ok(())
}

/// Returns the folder the file tools work in: the workspace, or in risky mode the folder that the owner names.
pub(super) fn root(tools: &ToolContext<'_>) -> Result<PathBuf, Fault> {
    let settings = &tools.belt.files;
    if !settings.risky {
        return Ok(tools.store.house.workspace());
    }
    let (house, named) = (tools.store.house.root(), Path::new(settings.risky_root.trim_end_matches('/')));
    let plain = named.components().all(|part| matches!(part, Component::Normal(_) | Component::RootDir));
    let outside = named.is_absolute() && !named.starts_with(house);
    // The guardian judges the folder; this holds where nobody judged it.
    let is_right = match (outside, named.strip_prefix(house).unwrap_or(named).components().next()) {
        (true, _) => !house.starts_with(named),
        (false, None) => false,
        (false, Some(first)) => {
            let first = first.as_os_str().to_string_lossy();
            !HOUSE.iter().any(|known| known.eq_ignore_ascii_case(&first)) && !is_kept(&first)
        }
    };
    if !plain || !is_right {
        let error = format!("work in the risky root `{}`: it is no folder of its own", settings.risky_root);
        let hint =
            "your owner sets [files] risky_root in owner.toml, as in \"projects\" or \"/srv/projects\"";
        return Err(Fault::new(error, hint));
    }
    let at = house.join(named);
    let within = if outside { &at } else { house };
    let mut on_the_way = at.ancestors().take_while(|part| part.starts_with(within) && *part != house);
    if on_the_way.any(Path::is_symlink) {
        let hint = "your owner names a real folder as [files] risky_root in owner.toml";
        let error = format!("work in the risky root {}: a symbolic link is on the way", named.display());
        return Err(Fault::new(error, hint));
    }
    Ok(at)
}

fn is_kept(name: &str) -> bool {
    let name = name.trim_end_matches(['.', ' ']).to_lowercase();
    KEPT.contains(&name.as_str()) || name.ends_with(".git") || name.starts_with(".env")
}

/// Whether something that is left alone lies below; also where the folder is too deep to tell.
pub(super) fn holds_kept(path: &Path, depth: usize) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
        && (depth > 64
            || files::entries(path).any(|entry| {
                is_kept(&entry.file_name().to_string_lossy()) || holds_kept(&entry.path(), depth + 1)
            }))
}

/// The place a path names, if it is inside the workspace and no link is on the way.
pub(super) fn inside(tools: &ToolContext<'_>, args: &Arguments, path: &str) -> Result<PathBuf, Fault> {
    let top = root(tools)?;
    below(args, path, &shown(tools, &top), top, tools.belt.files.risky)
}

/// The file of a path among those that the owner sent; `None` where it names none of these.
pub(super) fn received(
    tools: &ToolContext<'_>,
    args: &Arguments,
    path: &str,
) -> Option<Result<PathBuf, Fault>> {
    path.starts_with(RECEIVED).then(|| {
        let named = RECEIVED.trim_end_matches('/');
        below(args, path, named, tools.store.house.root().join(named), false)
    })
}

/// The file of a path, with or without the name of the folder `top` before it; through no link, and never out of it.
fn below(args: &Arguments, path: &str, named: &str, top: PathBuf, is_owners: bool) -> Result<PathBuf, Fault> {
    let refuse = |why: &str| {
        let path: String = path.chars().take(200).collect();
        Err(args.fault(format!("works inside {named} only: `{path}` {why}")))
    };
    let of_top = path.strip_prefix(named).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let below = of_top.map_or(path, |rest| rest.trim_start_matches('/'));
    // What begins as a path of the house is meant as one.
    if !is_owners && below.starts_with(".self/") {
        return refuse("lies elsewhere in the house");
    }
    if below.len() > 1_000 || below.chars().any(char::is_control) || below.contains('\\') {
        return refuse("is no plain path");
    }
    let mut at = top;
    for part in Path::new(below).components() {
        match part {
            Component::Normal(part) if is_owners && is_kept(&part.to_string_lossy()) => {
                return refuse("is not yours there: repositories, keys and houses stay as they are");
            }
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
