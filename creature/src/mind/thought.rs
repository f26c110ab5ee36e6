//! A thought as a mind gives it, and how one is read from text. Pure.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What one call of a mind comes to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thought {
    /// The inner voice, for the record and the feed.
    pub monologue: String,
    /// What it means to do next, in one line.
    pub intent: String,
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// Rest wanted after this thought, in seconds; 0 asks for another round at once.
    #[serde(default)]
    pub sleep_s: u64,
}

/// One call of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Name of the tool, `family.verb`.
    pub tool: String,
    #[serde(default)]
    pub args: Map<String, Value>,
}
