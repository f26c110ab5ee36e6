//! One ask as its file holds it, and the states it goes through.
//!
//! Invariant: it goes asked → approved → executing → executed or failed; from executing it is never begun again by itself.

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
    pub fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Approved => "approved",
            Self::Executing => "executing",
            Self::Executed => "executed",
            Self::Failed => "failed",
            Self::Denied => "denied",
        }
    }

    /// The owner can still answer.
    pub fn waits(self) -> bool {
        matches!(self, Self::Asked | Self::Failed)
    }
}

/// One ask, as its file holds it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ask {
    pub id: u64,
    pub at: String,
    pub life: u64,
    pub state: State,
    /// The last state that stands in `asks.jsonl`.
    pub told: Option<State>,
    /// Why the owner is asked.
    pub why: String,
    /// What the creature says it is for.
    pub reason: String,
    pub summary: String,
    pub digest: String,
    /// Where in `answers.jsonl` answers to this begin to count, in bytes: each is taken once.
    pub answers_from: u64,
    /// It failed in a way that leaves open whether it happened.
    pub may_have_happened: bool,
    /// When it was answered, in milliseconds since 1970.
    pub answered_ms: i64,
    pub status: Option<u16>,
    pub result: String,
    pub act: Act,
}
