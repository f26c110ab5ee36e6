//! Model: one call to a language model over the two wire formats the field speaks.
//!
//! Invariant: a call ends within its deadline, in a reply or in an error that says whose fault it is; the key is in neither.
//! Absent on purpose: providers, keys and money, which are the broker's; streaming, tool-call formats, conversations; a thought is one question and one text.

mod anthropic;
mod client;
mod error;
mod http;
mod lenient;
mod openai;
pub mod repair;

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

pub use client::Client;
pub use error::{Error, Kind};

/// The format spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI chat completions, and everything that imitates them.
    OpenAi,
}

/// Where a model is and how to call it.
#[derive(Clone)]
pub struct Endpoint {
    pub wire: Wire,
    /// The broker's address and the path of this wire; plain http.
    pub base_url: String,
    pub model: String,
    /// The token of this life; the broker puts the key in its place.
    pub token: String,
    /// For the whole call, retries included.
    pub deadline: Duration,
    /// The longest reply, in tokens.
    pub max_tokens: u64,
}

/// One question, in the order of how seldom its parts change, which is what makes caching work.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Never changes: cached.
    pub system: String,
    /// Changes slowly: cached.
    pub context: String,
    /// New each time.
    pub situation: String,
    /// What the reply's JSON should look like, where the model can be held to it.
    pub schema: Value,
    /// Its name; letters, digits, `_` and `-`.
    pub schema_name: String,
    /// Nobody asked for it: the broker counts it against what a creature may spend by itself.
    pub autonomous: bool,
}

/// What a call cost, in the same words for both wires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Not counting what was read from or written to a cache.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub text: String,
    pub usage: Usage,
    /// The model that answered, in its server's words.
    pub model: String,
    /// Requests sent, the one that succeeded included.
    pub attempts: u32,
    /// `end_turn`, `max_tokens` (cut short), `refusal`, or the server's own word.
    pub stop: String,
}

/// What of a request is left out for a server that refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    schema: bool,
    /// It was answered with one before.
    schema_is_proven: bool,
    /// Whether the limit on the reply has OpenAI's new name, `max_completion_tokens`.
    completion_tokens: bool,
}
