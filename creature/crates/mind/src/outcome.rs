//! What comes of asking a mind: a thought, a reply that cannot be read, or why there is none.

use crate::thought::Thought;
use serde_json::Value;

/// What came of asking a mind.
#[derive(Clone, Debug)]
pub enum Outcome {
    Thought {
        thought: Thought,
        usage: Value,
    },
    /// The reply could not be read as a thought; `text` is its head.
    Garbled {
        error: String,
        text: String,
        usage: Value,
    },
    /// The mind could not be reached or refused.
    Down(Down),
}

/// Why there is no thought of a mind, and for how long to leave it alone.
#[derive(Clone, Debug, Default)]
pub struct Down {
    pub error: String,
    pub hint: String,
    pub why: Why,
    /// The cause alone, for people.
    pub cause: String,
    /// Seconds to rest at least.
    pub rest_s: u64,
    /// In how many seconds it will be otherwise, where that is known.
    pub reset_s: Option<u64>,
}

impl Down {
    /// Whether another model might answer where this one does not.
    pub fn is_of_server(&self) -> bool {
        matches!(self.why, Why::Away | Why::Key | Why::Money | Why::Unfit)
    }
}

/// Whose fault it is that a mind gives no thought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Why {
    Budget,
    /// The owner has to act first.
    Stopped,
    Key,
    Money,
    /// The request or the settings are not what the server takes.
    Unfit,
    #[default]
    Away,
    Garbled,
}
