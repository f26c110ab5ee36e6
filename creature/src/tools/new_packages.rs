//! New packages: a change that would have cargo fetch one needs the permission of `repo.install_deps`.

use super::tool_context::ToolContext;
use super::{permission, repo_look};
use crate::fault::Fault;
use git2::{ObjectType, TreeWalkMode, TreeWalkResult};
use ground::files;
use patch::change::Change;
use patch::packages::{self, Manifests};
use std::path::Path;

/// The tool whose permission a new package needs.
pub(super) const TOOL: &str = "repo.install_deps";

/// Folders looked into for manifests, and how deep.
const MOST_FOLDERS: usize = 2_000;

/// Bytes of a manifest that is read.
const MOST_MANIFEST: u64 = 4 << 20;
const DEEPEST: usize = 12;

/// Packages named in a refusal.
const MOST_NAMED: usize = 8;

/// Refuses changes that, with what stands uncommitted, add packages nobody allowed. True where only the owner's
/// request allows them.
pub(super) fn judge(tools: &ToolContext<'_>, changes: &[Change]) -> Result<bool, Fault> {
    let mut after = Manifests::new();
    below(
        tools.store.house.root(),
        &tools.store.house.source(),
        &mut after,
        &mut MOST_FOLDERS.clone(),
        DEEPEST,
    );
    let before = committed(tools).unwrap_or_else(|_| after.clone());
    for change in changes.iter().filter(|change| packages::is_manifest(&change.path)) {
        match &change.after {
            Some(text) => after.insert(change.path.clone(), text.clone()),
            None => after.remove(&change.path),
        };
    }
    let added = packages::added(&before, &after);
    if added.is_empty() {
        return Ok(false);
    }
    permission::permit(tools, TOOL).map_err(|fault| {
        let named = added.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let error = format!("this adds packages that the last lock does not hold ({named}): {}", fault.error);
        Fault::new(error, fault.hint)
    })
}

/// Manifests and locks of the last commit.
fn committed(tools: &ToolContext<'_>) -> Result<Manifests, git2::Error> {
    let repo = repo_look::open(tools).map_err(|fault| git2::Error::from_str(&fault.error))?;
    let mut manifests = Manifests::new();
    repo.head()?.peel_to_tree()?.walk(TreeWalkMode::PreOrder, |folder, entry| {
        let path = format!("{folder}{}", entry.name().unwrap_or_default());
        if folder.is_empty() && path != "creature" {
            return TreeWalkResult::Skip;
        }
        if entry.kind() == Some(ObjectType::Blob)
            && packages::is_manifest(&path)
            && let Ok(blob) = repo.find_blob(entry.id())
        {
            manifests.insert(path, String::from_utf8_lossy(blob.content()).into_owned());
        }
        TreeWalkResult::Ok
    })?;
    Ok(manifests)
}

/// Manifests and locks below a folder, without `target` and `.git`: at most `left` folders, `deep` levels down.
fn below(root: &Path, folder: &Path, manifests: &mut Manifests, left: &mut usize, deep: usize) {
    let built = folder.ends_with("target") || folder.ends_with(".git");
    if built || deep == 0 || *left == 0 {
        return;
    }
    *left -= 1;
    for entry in files::entries(folder) {
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => below(root, &path, manifests, left, deep - 1),
            Ok(kind) if kind.is_file() && packages::is_manifest(&name) => {
                manifests.extend(files::text(&path, MOST_MANIFEST).ok().map(|text| (name, text)));
            }
            _ => {}
        }
    }
}
