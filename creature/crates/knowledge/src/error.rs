//! Errors of knowledge: what failed; displays as the end of "failed to …", the cause is in `source`.

use std::io;
use std::path::Path;

/// A failed search or update of the index.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Failed act with the path of its file, and the cause.
    #[error("{0}")]
    File(String, #[source] io::Error),
    #[error("use the index")]
    Index(#[from] rusqlite::Error),
    /// The index is not one of ours, or no longer agrees with the files.
    #[error("use the index: it does not agree with the files")]
    Stale,
}

impl Error {
    /// Whether the index itself is at fault, so that a new one would do.
    pub(crate) fn is_garbage(&self) -> bool {
        use rusqlite::Error::{InvalidColumnType, SqlInputError};
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            Error::File(..) => false,
            // Tables or columns that are not ours: somebody else's database.
            Error::Stale | Error::Index(SqlInputError { .. } | InvalidColumnType(..)) => true,
            Error::Index(cause) => {
                matches!(cause.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
            }
        }
    }

    pub(crate) fn file(doing: &str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |cause| Error::File(format!("{doing} {}", path.display()), cause)
    }
}
