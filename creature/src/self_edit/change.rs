//! Changes to files: worked out in memory, written all or none, put back byte for byte.
//!
//! Invariant: dropped without `keep`, written changes are undone, so a cancelled self-edit leaves no trace.

use super::boundary::{self, Allowed, Area};
use super::hunks::{self, Pass};
use super::patch;
use super::replace;
use super::{Failed, Stage};
use crate::fault::Fault;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::path::{Path, PathBuf};

/// Largest file a self-edit reads or makes, in bytes; source files are a hundredth of it.
const MOST_BYTES: usize = 1024 * 1024;

/// One file as it was and as it is to be; none where there is no file.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub path: String,
    pub area: Area,
    pub before: Option<Vec<u8>>,
    pub after: Option<String>,
    rights: Option<Permissions>,
}

/// One passage to replace in one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    pub path: String,
    pub old: String,
    pub new: String,
}

/// What a self-edit comes to: the changes, and for each file how its parts found their places.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub changes: Vec<Change>,
    pub report: Value,
}

impl Plan {
    pub fn touches(&self, area: Area) -> bool {
        self.changes.iter().any(|change| change.area == area)
    }

    pub fn files(&self) -> Vec<String> {
        self.changes.iter().map(|change| change.path.clone()).collect()
    }
}

/// Works out what a patch makes of the files under `root`; writes nothing.
pub fn from_patch(root: &Path, text: &str) -> Result<Plan, Failed> {
    let files = patch::parse(text).map_err(|fault| Stage::Apply.failed(fault))?;
    let (mut changes, mut report) = (Vec::new(), Vec::new());
    for file in &files {
        let mut change = open(root, &file.path, &mut changes)?;
        let applied = hunks::apply(file, change.after.as_deref()).map_err(|miss| {
            let what = format!("hunk {} of {}: {}", miss.hunk, change.path, miss.why);
            let hint = match miss.around.is_empty() {
                true => {
                    "nothing was changed; read the file with repo.read and send the patch again".to_owned()
                }
                false => format!("nothing was changed; the file really says:\n{}", miss.around),
            };
            Stage::Apply.failed(Fault::new(what, hint))
        })?;
        let hunks: Vec<Value> =
            applied.placed.iter().map(|at| json!({"line": at.line, "pass": at.pass.name()})).collect();
        report.push(json!({"path": change.path, "hunks": hunks}));
        let already = applied.placed.iter().all(|at| at.pass == Pass::AlreadyApplied);
        if !already && applied.text == change.after {
            let what = format!("the patch changes nothing in {}", change.path);
            return Err(Stage::Apply.failed(Fault::new(what, "its removed and added lines are the same")));
        }
        change.after = applied.text;
        changes.push(change);
    }
    finish(changes, json!(report))
}

/// Works out what the edits make of the files under `root`, one after the other; writes nothing.
pub fn from_edits(root: &Path, edits: &[Edit]) -> Result<Plan, Failed> {
    let (mut changes, mut report) = (Vec::new(), Vec::new());
    for (at, edit) in edits.iter().enumerate() {
        let mut change = open(root, &edit.path, &mut changes)?;
        let missing = change.after.is_none();
        if missing && !edit.old.is_empty() {
            let what = format!("edit {} of {}: there is no such file", at + 1, change.path);
            return Err(Stage::Apply.failed(Fault::new(what, "to create it, leave `old` empty")));
        }
        let text = change.after.take().unwrap_or_default();
        let replaced = replace::replace(&text, &edit.old, &edit.new).map_err(|why| {
            let what = format!("edit {} of {}: {why}", at + 1, change.path);
            Stage::Apply.failed(Fault::new(what, "nothing was changed; quote the file as repo.read shows it"))
        })?;
        report.push(json!({"path": change.path, "line": replaced.line, "pass": replaced.pass}));
        change.after = Some(replaced.text);
        changes.push(change);
    }
    finish(changes, json!(report))
}

/// The file as earlier parts of the same self-edit left it, or as it is on disk.
fn open(root: &Path, path: &str, changes: &mut Vec<Change>) -> Result<Change, Failed> {
    let Allowed { path, area } = boundary::judge(path).map_err(|fault| Stage::Boundary.failed(fault))?;
    if let Some(known) = changes.iter().position(|change| change.path == path) {
        return Ok(changes.swap_remove(known));
    }
    boundary::no_links(root, &path).map_err(|fault| Stage::Boundary.failed(fault))?;
    let file = root.join(&path);
    let refuse =
        |why: &str| Stage::Apply.failed(Fault::new(format!("{path} {why}"), "only text files can be edited"));
    let (before, rights) = match fs::read(&file) {
        Ok(bytes) => (Some(bytes), fs::metadata(&file).ok().map(|found| found.permissions())),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => (None, None),
        Err(cause) => return Err(Stage::Apply.failed(Fault::caused(format!("read {path}"), &cause, ""))),
    };
    if before.as_ref().is_some_and(|bytes| bytes.len() > MOST_BYTES) {
        return Err(refuse("is over 1 MiB"));
    }
    let after = match before.clone().map(String::from_utf8) {
        Some(Ok(text)) => Some(text),
        Some(Err(_)) => return Err(refuse("is not UTF-8 text")),
        None => None,
    };
    Ok(Change { path, area, before, after, rights })
}

/// Leaves out what is as it was, so that a plan without changes is one that was already done.
fn finish(mut changes: Vec<Change>, report: Value) -> Result<Plan, Failed> {
    changes.retain(|change| change.after.as_ref().map(String::as_bytes) != change.before.as_deref());
    let large =
        changes.iter().find(|change| change.after.as_ref().is_some_and(|text| text.len() > MOST_BYTES));
    if let Some(change) = large {
        let fault = Fault::new(format!("{} would be over 1 MiB", change.path), "split it");
        return Err(Stage::Apply.failed(fault));
    }
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Plan { changes, report })
}

/// Changes that are on disk and not yet decided.
pub struct Written {
    root: PathBuf,
    changes: Vec<Change>,
    folders: Vec<PathBuf>,
    kept: bool,
}

/// Writes all changes, each file whole; on a failure puts back what was written.
pub fn write(root: &Path, changes: Vec<Change>) -> Result<Written, Fault> {
    let mut written =
        Written { root: root.to_path_buf(), changes: Vec::new(), folders: Vec::new(), kept: false };
    for change in changes {
        let file = root.join(&change.path);
        written.note_new_folders(&file);
        // Noted before it is done, so that half of it is undone as well.
        written.changes.push(change.clone());
        set(&file, change.after.as_ref().map(String::as_bytes), None)?;
    }
    Ok(written)
}

impl Written {
    /// Also puts this file back on failure, though the self-edit does not name it: cargo rewrites its lock file.
    pub fn guard(&mut self, path: &str) {
        if self.changes.iter().all(|change| change.path != path) {
            self.changes.push(Change {
                path: path.to_owned(),
                area: Area::Source,
                before: fs::read(self.root.join(path)).ok(),
                after: None,
                rights: None,
            });
        }
    }

    /// The changes stay.
    pub fn keep(mut self) {
        self.kept = true;
    }

    /// Everything as it was, new modification times aside: with old ones cargo would run the stale binary.
    pub fn put_back(mut self) -> Result<(), Fault> {
        self.kept = true;
        self.undo()
    }

    fn undo(&mut self) -> Result<(), Fault> {
        let mut first = Ok(());
        for change in self.changes.iter().rev() {
            let file = self.root.join(&change.path);
            let undone = set(&file, change.before.as_deref(), change.rights.as_ref());
            if first.is_ok() {
                first = undone;
            }
        }
        for folder in self.folders.iter().rev() {
            // Only an empty folder goes; what else is in it is somebody's.
            let _ = fs::remove_dir(folder);
        }
        first
    }

    fn note_new_folders(&mut self, file: &Path) {
        let missing = file.ancestors().skip(1).take_while(|folder| !folder.exists());
        let mut missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        missing.reverse();
        self.folders.extend(missing);
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        if !self.kept && self.undo().is_err() {
            tracing::error!("a dropped self-edit could not be put back whole");
        }
    }
}

/// Makes the file hold these bytes, or not be there.
fn set(file: &Path, bytes: Option<&[u8]>, rights: Option<&Permissions>) -> Result<(), Fault> {
    let hint = "is the disk full, or the file not writable?";
    match bytes {
        Some(bytes) => {
            memory::replace(file, bytes).map_err(|cause| Fault::caused("write a file", &cause, hint))?;
            if let Some(rights) = rights {
                // Matters for a deleted script only; its text is back either way.
                let _ = fs::set_permissions(file, rights.clone());
            }
            Ok(())
        }
        None => match fs::remove_file(file) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                Err(Fault::caused(format!("remove {}", file.display()), &cause, hint))
            }
            _ => Ok(()),
        },
    }
}
