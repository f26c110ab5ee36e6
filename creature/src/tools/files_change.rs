//! `files.edit`, `files.move`, `files.delete`: changes what lies in the workspace, in the forms of a self-edit.

use super::arguments::Arguments;
use super::files::{holds_kept, inside, room, root, shown, unwritten};
use super::tool_context::ToolContext;
use crate::fault::{self, Fault};
use ground::files;
use patch::boundary::{Allowed, Area};
use patch::change;
use patch::plan::{self, Edit, Places};
use serde_json::{Value, json};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

/// The workspace, for the edits of a call.
struct Workspace<'a, 'b> {
    tools: &'a ToolContext<'b>,
    args: &'a Arguments,
    top: PathBuf,
}

impl Places for Workspace<'_, '_> {
    fn find(&self, path: &str) -> Result<(Allowed, PathBuf), Fault> {
        let file = inside(self.tools, self.args, path)?;
        if file == self.top || file.is_dir() || path.ends_with('/') {
            return Err(self.args.fault(format!("needs a file's path, and `{path}` is a folder's")));
        }
        let below = file.strip_prefix(&self.top).unwrap_or(&file).display().to_string();
        Ok((Allowed { path: below, area: Area::Workspace }, file))
    }
}

/// Applies edits or a patch: all of it, or nothing.
pub fn edit(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let top = root(tools)?;
    let places = Workspace { tools, args, top: top.clone() };
    let plan = match (args.value("edits"), args.maybe_text("patch")) {
        (Some(edits), None) => plan::from_edits(&places, &given(edits)),
        (None, Some(patch)) => plan::from_patch(&places, patch),
        _ => return Err(args.fault("needs either `edits` or `patch`")),
    };
    let plan = plan.map_err(|failed| failed.fault)?;
    if let Some(failed) = plan.refusal() {
        return Err(failed.fault);
    }
    if plan.changes.is_empty() {
        return Ok(json!({"already": true, "applied": plan.report}));
    }
    let bytes = |change: &change::Change| {
        let [before, after] = [change.before.as_ref().map(Vec::len), change.after.as_ref().map(String::len)];
        after.unwrap_or(0).saturating_sub(before.unwrap_or(0)) as u64
    };
    room(tools, plan.changes.iter().map(bytes).sum())?;
    let named = shown(tools, &top);
    let did = |change: &change::Change| format!("{named}/{} ({})", change.path, change.how());
    let files: Vec<String> = plan.changes.iter().map(did).collect();
    let first = plan.changes.first().map(|change| format!("{named}/{}", change.path));
    let written = change::write(&top, plan.changes);
    let risky = tools.belt.files.risky;
    let hint = |fault: Fault| match risky {
        true => Fault { hint: fault::unwritable(ErrorKind::PermissionDenied, true).to_owned(), ..fault },
        false => fault,
    };
    written.map_err(hint)?.keep();
    Ok(json!({"path": first, "files": files, "applied": plan.report}))
}

fn given(edits: &Value) -> Vec<Edit> {
    let field =
        |edit: &Value, name: &str| edit.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let edit =
        |edit: &Value| Edit { path: field(edit, "path"), old: field(edit, "old"), new: field(edit, "new") };
    edits.as_array().into_iter().flatten().map(edit).collect()
}

/// Moves or renames a file or folder; nothing is overwritten.
pub fn rename(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let from = there(tools, args, args.text("path"))?;
    let to = inside(tools, args, args.text("to"))?;
    if to.symlink_metadata().is_ok() {
        return Err(args.fault(format!("overwrites nothing, and {} is there", shown(tools, &to))));
    }
    if to.starts_with(&from) {
        return Err(args.fault("moves nothing into itself"));
    }
    let moved = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::rename(&from, &to));
    moved
        .map_err(|cause| unwritten(tools, &format!("move {}", shown(tools, &from)), cause.kind(), &cause))?;
    Ok(json!({"path": shown(tools, &to), "was": shown(tools, &from)}))
}

/// Deletes a file, or a folder with all that is in it.
pub fn delete(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let path = there(tools, args, args.text("path"))?;
    if tools.belt.files.risky && holds_kept(&path, 0) {
        let named = shown(tools, &path);
        return Err(
            args.fault(format!("leaves repositories, keys and houses as they are, and {named} holds one"))
        );
    }
    files::remove(&path).map_err(|cause| {
        unwritten(tools, &format!("delete {}", shown(tools, &path)), cause.kind(), &cause)
    })?;
    Ok(json!({"deleted": shown(tools, &path)}))
}

/// A file or folder that is there, and is not the whole workspace.
fn there(tools: &ToolContext<'_>, args: &Arguments, path: &str) -> Result<PathBuf, Fault> {
    let at = inside(tools, args, path)?;
    if at == root(tools)? {
        return Err(args.fault("needs a path below the workspace's own folder"));
    }
    match at.symlink_metadata() {
        Ok(_) => Ok(at),
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            Err(Fault::new(format!("{} is not there", shown(tools, &at)), "files.list shows what is"))
        }
        Err(cause) => Err(Fault::caused(
            format!("find {}", shown(tools, &at)),
            &cause,
            "files.list shows what is there",
        )),
    }
}
