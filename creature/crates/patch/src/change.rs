//! Changes to files of the tree that lives: written all or none, put back byte for byte.
//!
//! Invariant: dropped without `keep`, written changes are undone, so a cancelled self-edit leaves no trace.

use crate::boundary::Area;
use crate::text::unified;
use ground::fault::Fault;
use std::fs::{self, Permissions};
use std::path::{Path, PathBuf};

/// Largest file a self-edit reads or makes, in bytes; source files are a hundredth of it.
pub const MOST_BYTES: usize = 1024 * 1024;

/// One file as it was and as it is to be; none where there is no file.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub path: String,
    pub area: Area,
    pub before: Option<Vec<u8>>,
    pub after: Option<String>,
    pub(crate) rights: Option<Permissions>,
}

impl Change {
    /// What becomes of the file.
    pub fn how(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "new",
            (_, None) => "deleted",
            _ => "changed",
        }
    }

    /// As a unified diff.
    pub fn diff(&self) -> String {
        unified::diff(&self.path, self.before.as_deref(), self.after.as_ref().map(String::as_bytes))
    }
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
    for mut change in changes {
        let file = root.join(&change.path);
        change.rights = fs::metadata(&file).ok().map(|found| found.permissions());
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
