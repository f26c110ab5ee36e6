//! Outcome of asking a mind: a thought, a reply that cannot be read, or why there is none.

use crate::thought::Thought;
use serde_json::Value;

/// Outcome of asking a mind.
#[derive(Clone, Debug)]
pub enum Outcome {
    Thought {
        thought: Thought,
        usage: Value,
    },
    /// The reply could not be read as a thought; `text` is what it said, shortened.
    Garbled {
        error: String,
        text: String,
        usage: Value,
    },
    /// The model was not reached, refused, or may not be called.
    Down(Down),
}

/// Failure of a mind to give a thought; the caller decides how long to leave it alone for that.
#[derive(Clone, Debug, Default)]
pub struct Down {
    pub error: String,
    pub hint: String,
    pub why: Why,
    /// The cause alone, for people.
    pub cause: String,
    /// Seconds after which to ask again, where the broker or the server behind it says so.
    pub asked_s: Option<u64>,
}

impl Down {
    /// Whether another model might answer where this one does not.
    pub fn is_of_server(&self) -> bool {
        !matches!(self.why, Why::Budget | Why::Stopped | Why::Garbled)
    }
}

/// Cause for which a mind gives no thought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Why {
    /// The budget has no room; it resets by itself.
    Budget,
    /// The owner has to act first.
    Stopped,
    /// The provider refuses the key.
    Key,
    /// The account at the provider is empty.
    Money,
    /// The request is not what the server takes.
    Unfit,
    /// A filter of the maker's refuses what the conversation holds.
    Filtered,
    /// The server cannot be asked as it is set.
    Settings,
    /// The conversation could not be kept.
    Unkept,
    /// The broker does not know this life's token, which is nothing the owner could mend.
    UnknownLife,
    /// The server is not reached, busy or late.
    #[default]
    Away,
    Garbled,
}
