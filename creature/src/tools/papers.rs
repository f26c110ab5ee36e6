//! `notes.*` and `purpose.rewrite`: the creature's papers, read by pages and written whole.

use super::arguments::Arguments;
use super::page;
use super::tool_context::{ToolContext, waits, with};
use crate::fault::Fault;
use ground::files;
use ground::text::first;
use patch::boundary;
use serde_json::{Value, json};
use std::io;

/// Largest paper, in bytes; a diary that reaches it goes on in notes.
const MOST_PAPER: usize = 256 * 1024;

/// Bytes read of a paper that is added to or put aside; others may have written more than is allowed here.
const MOST_READ: u64 = 16 << 20;

/// Largest purpose, in bytes.
const MOST_PURPOSE: usize = 64 * 1024;

/// Papers under `self/notes/` at most, so that a loop cannot fill the disk with them.
const MOST_NOTES: usize = 1_000;

pub fn read(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let path = path(tools, args)?;
    let text = text_of(tools, &path)?;
    let missing = text.is_none();
    let text = text.unwrap_or_default();
    let more = json!({"chars": text.chars().count(), "missing": missing});
    Ok(with(page::page(args, &path, &text)?, more))
}

pub fn write(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (path, text) = (path(tools, args)?, args.text("text"));
    keep(tools, args, &path, text)
}

pub fn append(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (path, more) = (path(tools, args)?, args.text("text"));
    let mut text = text_of(tools, &path)?.unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(more);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    keep(tools, args, &path, &text)
}

pub async fn rewrite_purpose(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (text, reason) = (args.text("text"), args.summary("reason"));
    if text.len() > MOST_PURPOSE {
        return Err(args.fault("takes at most 64 KiB as `text`"));
    }
    let path = "PURPOSE.md";
    boundary::no_links(tools.store.house.root(), path)?;
    let before = text_of(tools, path)?.unwrap_or_default();
    if before == text {
        return Err(args.fault("would change nothing: PURPOSE.md says this already"));
    }
    let change = json!({"ok": true, "stage": "apply", "summary": reason, "files": [path]});
    // The old text is remembered before it is replaced: a death between the two loses nothing.
    if let (false, Some(broker)) = (tools.belt.rehearsal, tools.belt.broker.clone()) {
        let text_before =
            json!({"about": "purpose", "text": "PURPOSE.md is to be rewritten", "previous": before});
        tools.store.record("observation", text_before)?;
        if let Err(error) = broker.purpose(text, &reason).await {
            return waits(error);
        }
        tools.store.record("self_change", change)?;
    } else {
        tools.store.record("self_change", with(change, json!({"previous": before})))?;
        replace(tools, path, text)?;
    }
    Ok(json!({"path": path, "bytes": text.len(), "bytes_before": before.len()}))
}

/// The paper a name stands for, as a path from the root.
fn path(tools: &ToolContext<'_>, args: &Arguments) -> Result<String, Fault> {
    let name = args.text("name").trim();
    let name = name.strip_prefix("self/").unwrap_or(name);
    let bare = name.strip_suffix(".md").unwrap_or(name);
    let path = match bare.to_ascii_lowercase().as_str() {
        "scratch" => "self/scratch.md".to_owned(),
        "diary" => "self/diary.md".to_owned(),
        "heartbeat" => "self/HEARTBEAT.md".to_owned(),
        "facts" => "self/facts.md".to_owned(),
        _ => match bare.strip_prefix("notes/") {
            Some(slug) if is_slug(slug) => format!("self/notes/{slug}.md"),
            Some(_) => return Err(args.fault("takes notes/<slug> of letters, digits, - and _, at most 60")),
            None => {
                let name = first(name, 80);
                return Err(args.fault(format!(
                    "knows no paper `{name}`: scratch, diary, heartbeat, facts or notes/<slug>"
                )));
            }
        },
    };
    boundary::no_links(tools.store.house.root(), &path)?;
    Ok(path)
}

pub(super) fn is_slug(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    !text.is_empty() && text.len() <= 60 && text.chars().all(plain)
}

fn text_of(tools: &ToolContext<'_>, path: &str) -> Result<Option<String>, Fault> {
    match files::whole(&tools.store.house.root().join(path), MOST_READ) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Fault::caused(format!("read {path}"), &cause, "look at its rights with repo.run")),
    }
}

pub(super) fn keep(
    tools: &ToolContext<'_>,
    args: &Arguments,
    path: &str,
    text: &str,
) -> Result<Value, Fault> {
    if text.len() > MOST_PAPER {
        return Err(
            args.fault(format!("would make {path} longer than 256 KiB; go on in another notes/<slug>"))
        );
    }
    if path.starts_with("self/notes/") && !tools.store.house.root().join(path).exists() {
        let there = files::entries(&tools.store.house.papers().join("notes")).count();
        if there >= MOST_NOTES {
            return Err(args.fault(format!("would make more than {MOST_NOTES} notes; gather some into one")));
        }
    }
    replace(tools, path, text)?;
    Ok(json!({"path": path, "bytes": text.len()}))
}

pub(super) fn replace(tools: &ToolContext<'_>, path: &str, text: &str) -> Result<(), Fault> {
    let hint = "is the disk full, or the file not writable?";
    memory::replace(&tools.store.house.root().join(path), text.as_bytes())
        .map_err(|cause| Fault::caused("write a paper", &cause, hint))
}
