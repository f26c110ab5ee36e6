//! Ask as stored in its file, and its states.
//!
//! Invariant: asked → approved → executing → executed or failed; an ask that was executing is never started again by
//! itself.

use super::act::Act;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Asked,
    Approved,
    Executing,
    Executed,
    Failed,
    Denied,
}

impl State {
    /// Whether the owner can still answer.
    pub fn waits(self) -> bool {
        matches!(self, Self::Asked | Self::Failed)
    }
}

/// An ask as stored in its file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ask {
    pub id: u64,
    pub at: String,
    pub life: u64,
    pub state: State,
    /// Reason why the owner is asked.
    pub why: String,
    /// The purpose the creature gives.
    pub reason: String,
    pub summary: String,
    pub digest: String,
    /// Position in `answers.jsonl` from which answers to this ask count, so that each counts once.
    pub answers_from: u64,
    /// Whether it failed in a way that leaves open whether the act happened.
    pub may_have_happened: bool,
    /// Time of the answer, in milliseconds since 1970.
    pub answered_ms: i64,
    pub status: Option<u16>,
    pub result: String,
    pub act: Act,
}
