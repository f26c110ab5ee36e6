//! A record: the envelope that never changes around data that may.
//!
//! Invariant: keys and kinds this version does not know are no error; a newer self may have written them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Record: one line of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// When, RFC 3339 UTC.
    pub at: String,
    /// The number of the life that wrote it.
    pub life: u64,
    /// The kind of record; an unknown one is kept as it is.
    pub kind: String,
    /// The fields of its kind; later versions may add some.
    pub data: Value,
}

impl Record {
    /// A record of this moment.
    pub fn new(life: u64, kind: &str, data: Value) -> Self {
        Record { at: now(), life, kind: kind.to_string(), data }
    }
}

/// Returns the current time as RFC 3339 UTC with milliseconds and a `Z`.
pub fn now() -> String {
    format!("{:.3}", Timestamp::now())
}
