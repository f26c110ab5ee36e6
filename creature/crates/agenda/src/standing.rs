//! The autonomous state: what stands between the owner's word and the loop, in one short block.

use serde::{Deserialize, Serialize};

/// What a creature that acts by itself should do with what is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Continue,
    Resume,
    Pause,
    AwaitConfirmation,
}

/// The block and the same as data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Standing {
    /// The block as a thought is shown it.
    pub text: String,
    pub mode: Mode,
    pub owner_summary: String,
    pub loop_summary: String,
    pub pending_items: Vec<String>,
    /// From 0, nothing is known, to 1.
    pub confidence: f64,
}
