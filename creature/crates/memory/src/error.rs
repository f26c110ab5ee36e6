//! Errors of memory: what failed and on which path; the cause is in `source`, so that a chain prints it once.

use std::io;
use std::path::{Path, PathBuf};

/// A failed act on a file; displays as the end of "failed to …".
#[derive(Debug, thiserror::Error)]
#[error("{doing} {}", path.display())]
pub struct Error {
    doing: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl Error {
    /// The file or folder it happened on.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of the cause, to tell a full disk from a missing right.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    pub(crate) fn on(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> Error {
        move |source| Error { doing, path: path.to_path_buf(), source }
    }
}
