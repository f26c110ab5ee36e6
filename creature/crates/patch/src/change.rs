//! Changes to files of the tree that lives: written all or none, put back byte for byte.
//!
//! Invariant: dropped without `keep`, written changes are undone, so a cancelled self-edit leaves no trace.

use crate::boundary::Area;
use crate::source;
use crate::text::unified;
use ground::fault::Fault;
use std::fs::{self, Permissions};
use std::path::{Path, PathBuf};

/// Largest file a self-edit reads or makes, in bytes; source files are a hundredth of it.
pub const MOST_BYTES: usize = 1024 * 1024;

/// File as it was and as it is to be; no text means no file.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub path: String,
    pub area: Area,
    pub before: Option<Vec<u8>>,
    pub after: Option<String>,
}

impl Change {
    /// Says what becomes of the file: `new`, `deleted` or `changed`.
    pub fn how(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "new",
            (_, None) => "deleted",
            _ => "changed",
        }
    }

    /// Writes it as a unified diff.
    pub fn diff(&self) -> String {
        unified::write(&self.path, self.before.as_deref(), self.after.as_ref().map(String::as_bytes))
    }
}

/// A file as it was before it was written.
struct Before {
    path: String,
    bytes: Option<Vec<u8>>,
    rights: Option<Permissions>,
}

/// Changes that are on disk, to be kept or put back.
pub struct Written {
    root: PathBuf,
    files: Vec<Before>,
    /// Folders that were made for them, outermost first.
    folders: Vec<PathBuf>,
}

/// Writes all changes, each file whole; on a failure puts back what was written.
pub fn write(root: &Path, changes: Vec<Change>) -> Result<Written, Fault> {
    let mut written = Written { root: root.to_path_buf(), files: Vec::new(), folders: Vec::new() };
    for Change { path, before, after, .. } in changes {
        let file = root.join(&path);
        written.note_new_folders(&file);
        let rights = fs::metadata(&file).ok().map(|found| found.permissions());
        // Noted before the write, so that one that fails half way is undone too.
        written.files.push(Before { path, bytes: before, rights });
        set(&file, after.as_ref().map(String::as_bytes), HINT)?;
    }
    Ok(written)
}

impl Written {
    /// Also puts this file back on failure, though the self-edit does not name it: cargo rewrites its lock file.
    pub fn guard(&mut self, path: &str) {
        if self.files.iter().all(|file| file.path != path) {
            let bytes = source::read(&self.root.join(path)).ok();
            self.files.push(Before { path: path.to_owned(), bytes, rights: None });
        }
    }

    /// Keeps the changes.
    pub fn keep(mut self) {
        self.files.clear();
        self.folders.clear();
    }

    /// Puts everything back but the modification times, which are new: with old ones cargo runs the stale binary.
    pub fn put_back(mut self) -> Result<(), Fault> {
        self.undo()
    }

    fn undo(&mut self) -> Result<(), Fault> {
        let mut first = Ok(());
        for before in self.files.drain(..).rev() {
            let file = self.root.join(&before.path);
            let undone = set(&file, before.bytes.as_deref(), HINT);
            if let (Ok(()), Some(_), Some(rights)) = (&undone, before.bytes, before.rights) {
                // A deleted script wants its executable bit back; without it the text is back all the same.
                let _ = fs::set_permissions(file, rights);
            }
            first = first.and(undone);
        }
        for folder in self.folders.drain(..).rev() {
            // A folder in which something else was put meanwhile stays.
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
        if self.undo().is_err() {
            tracing::error!("a dropped self-edit could not be put back whole");
        }
    }
}

const HINT: &str = "is the disk full, or the file not writable?";

/// Makes the file hold these bytes, or not be there.
pub(crate) fn set(file: &Path, bytes: Option<&[u8]>, hint: &str) -> Result<(), Fault> {
    match bytes {
        Some(bytes) => {
            memory::replace(file, bytes).map_err(|cause| Fault::caused("write a file", &cause, hint))
        }
        None => match fs::remove_file(file) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                Err(Fault::caused(format!("remove {}", file.display()), &cause, hint))
            }
            _ => Ok(()),
        },
    }
}
