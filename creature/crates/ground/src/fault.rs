//! Faults: what failed and what to do next, the two sentences a mind needs of every refusal.

use std::error::Error;
use std::fmt;
use std::io::ErrorKind;

/// Parts of an error's text that name a full disk and a used-up quota.
const FULL: [&str; 2] = ["(os error 28)", "(os error 122)"];
/// Hint where the disk is full.
const FULL_DISK: &str = "the disk is full: files.delete frees what you made and need no more; tell your owner, who may delete \
                         target/, which is built anew";

/// A failure as a mind is told of it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct Fault {
    /// A lowercase fragment that names the path, tool or argument.
    pub error: String,
    /// The next step.
    pub hint: String,
    /// Seconds after which it may be tried again, where the other end said so.
    pub after_s: Option<u64>,
}

impl Fault {
    pub fn new(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: hint.into(), after_s: None }
    }

    /// The fault of an act, named by `doing`, that failed; its error tells the whole chain of causes.
    pub fn caused(doing: impl fmt::Display, cause: &dyn Error, hint: impl Into<String>) -> Self {
        let mut error = format!("{doing}: {cause}");
        let mut next = cause.source();
        while let Some(deeper) = next {
            error.push_str(&format!(": {deeper}"));
            next = deeper.source();
        }
        // The system's numbers for a full disk and a used-up quota: then there is nothing to ask.
        if FULL.iter().any(|number| error.contains(number)) {
            return Self::new(error, FULL_DISK);
        }
        Self::new(error, hint)
    }
}

/// Returns the hint where nothing can be written; `risky` says that the owner named another folder than the workspace.
pub fn unwritable(kind: ErrorKind, risky: bool) -> &'static str {
    match kind {
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied if risky => {
            "the walls do not let you write there: they grant the folder that [files] names in owner.toml from the \
             next life on, and repositories, keys and houses in it stay as they are; tell your owner"
        }
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            "you may not write there: choose another path, or tell your owner"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FULL_DISK,
        _ => "choose another path; files.list shows what is there",
    }
}
