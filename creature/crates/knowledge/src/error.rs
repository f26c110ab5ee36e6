//! Errors of knowledge: what failed; displays as the end of "failed to …", the cause is in `source`.

use std::fmt;
use std::io;
use std::path::Path;

/// A failed search or update of the index.
#[derive(Debug)]
pub enum Error {
    /// Failed act with the path of its file, and the cause.
    File(String, io::Error),
    Index(rusqlite::Error),
    /// The index is not one of ours, or no longer agrees with the files.
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

impl From<rusqlite::Error> for Error {
    fn from(cause: rusqlite::Error) -> Self {
        Error::Index(cause)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Error::File(doing, _) => doing,
            Error::Index(_) => "use the index",
            Error::Stale => "use the index: it does not agree with the files",
        })
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File(_, cause) => Some(cause),
            Error::Index(cause) => Some(cause),
            Error::Stale => None,
        }
    }
}
