//! What failed; displays as the end of "failed to …", the cause is in `source`.

use std::fmt;
use std::io;

/// A failed look at knowledge.
#[derive(Debug)]
pub struct Error {
    doing: String,
    source: Cause,
}

#[derive(Debug)]
enum Cause {
    File(io::Error),
    Index(rusqlite::Error),
    /// The index is not one of ours, or no longer agrees with the files.
    Stale,
}

impl Error {
    /// The index itself is at fault, and a new one would do.
    pub(crate) fn is_garbage(&self) -> bool {
        use rusqlite::Error::{InvalidColumnType, SqlInputError};
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match &self.source {
            Cause::Stale => true,
            // Tables or columns that are not ours: somebody else's database.
            Cause::Index(SqlInputError { .. } | InvalidColumnType(..)) => true,
            Cause::Index(cause) => {
                matches!(cause.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
            }
            Cause::File(_) => false,
        }
    }

    pub(crate) fn stale() -> Self {
        Error { doing: "use the index: it does not agree with the files".to_owned(), source: Cause::Stale }
    }

    pub(crate) fn file(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        move |cause| Error { doing: doing.into(), source: Cause::File(cause) }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(cause: rusqlite::Error) -> Self {
        Error { doing: "use the index".to_owned(), source: Cause::Index(cause) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.doing)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Cause::File(cause) => Some(cause),
            Cause::Index(cause) => Some(cause),
            Cause::Stale => None,
        }
    }
}
