//! Directives: the owner's word on what goes first, understood from plain words, with a time and an expiry.

use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Directives {}

/// A change of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum DirectiveChange {
    Nothing,
}

impl Directives {
    /// The next moment at which one comes due by itself.
    pub fn next_at(&self, _now: Timestamp) -> Option<Timestamp> {
        None
    }

    /// Forgets what was finished before this time; how many.
    pub fn purge(&mut self, _before: Timestamp) -> usize {
        0
    }
}

pub(crate) fn apply(_agenda: &mut Agenda, change: &DirectiveChange, _when: When) -> Result<Value, Refusal> {
    match change {
        DirectiveChange::Nothing => Ok(Value::Null),
    }
}
