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

/// Why there is no thought of a mind; how long to leave it alone for that is for whoever asked it to say.
#[derive(Clone, Debug, Default)]
pub struct Down {
    pub error: String,
    pub hint: String,
    pub why: Why,
    /// The cause alone, for people.
    pub cause: String,
    /// In how many seconds to ask again, where the broker or the server behind it says so.
    pub asked_s: Option<u64>,
}

impl Down {
    /// Whether another model might answer where this one does not.
    pub fn is_of_server(&self) -> bool {
        !matches!(self.why, Why::Budget | Why::Stopped | Why::Garbled)
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
    /// The request is not what the server takes.
    Unfit,
    /// The server cannot be asked as it is set.
    Settings,
    /// The conversation could not be kept.
    Unkept,
    /// The broker does not know this life's token, which is nothing the owner could mend.
    UnknownLife,
    #[default]
    Away,
    Garbled,
}
