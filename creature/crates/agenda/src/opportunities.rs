//! Opportunities on their way through the revenue pipeline, and the amounts pending, earned and in it.

use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Opportunities {}

/// A change of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum OpportunityChange {
    Nothing,
}

impl Opportunities {
    /// The next moment at which one comes due by itself.
    pub fn next_at(&self, _now: Timestamp) -> Option<Timestamp> {
        None
    }

    /// Forgets what was finished before this time; how many.
    pub fn purge(&mut self, _before: Timestamp) -> usize {
        0
    }
}

pub(crate) fn apply(_agenda: &mut Agenda, change: &OpportunityChange, _when: When) -> Result<Value, Refusal> {
    match change {
        OpportunityChange::Nothing => Ok(Value::Null),
    }
}
