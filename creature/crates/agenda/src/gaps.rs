//! Capability gaps: what it could not do, and how often it missed it.

use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gaps {}

/// A change of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum GapChange {
    Nothing,
}

impl Gaps {
    /// The next moment at which one comes due by itself.
    pub fn next_at(&self, _now: Timestamp) -> Option<Timestamp> {
        None
    }

    /// Forgets what was finished before this time; how many.
    pub fn purge(&mut self, _before: Timestamp) -> usize {
        0
    }
}

pub(crate) fn apply(_agenda: &mut Agenda, change: &GapChange, _when: When) -> Result<Value, Refusal> {
    match change {
        GapChange::Nothing => Ok(Value::Null),
    }
}
