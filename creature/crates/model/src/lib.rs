//! Model: a conversation with a language model over the three wire formats the field speaks, streamed, with tools.
//!
//! Invariant: what is sent is a pure function of the turns and of a form every server of the wire accepts; an answer is
//! whole or an error that says whose fault it is; the key is in neither.
//! Absent on purpose: providers, keys and money, which are the broker's; what turns are kept and what calls come to.

mod anthropic;
mod arguments;
mod chat;
mod client;
mod content;
mod error;
mod form;
mod http;
mod meaning;
mod media;
mod pieces;
mod plain;
mod probe;
mod refusal;
pub mod repair;
mod responses;
mod rounds;
mod said;
mod sse;
mod stream;
mod strict;
mod surrogates;
mod wait;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use client::Client;
pub use error::{Error, Kind};
pub use form::Accepted;
pub use media::Medium;

/// The format spoken with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses, stateless.
    Responses,
    /// OpenAI chat completions, and everything that imitates them.
    Chat,
}

/// Address of a model, and how to call it.
#[derive(Clone)]
pub struct Endpoint {
    pub wire: Wire,
    /// The broker's address and the path of this wire; plain http.
    pub base_url: String,
    pub model: String,
    /// The token of this life; the broker puts the key in its place.
    pub token: String,
    /// Longest time for connecting, and for each question of a probe.
    pub deadline: Duration,
    /// Longest time without a byte before a reply has failed; the whole of it may take twelve times as long.
    pub silence: Duration,
    /// The longest reply, in tokens.
    pub max_tokens: u64,
    /// How much the model thinks, in its maker's words; empty: as its maker has it.
    pub effort: String,
}

/// Tool as the wire has it.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Name that fits `[a-zA-Z0-9_-]{1,64}`.
    pub name: String,
    pub description: String,
    /// A JSON schema of type object, in the form that every server takes.
    pub schema: Value,
    /// The server is to hold the arguments to the schema, where its wire says how.
    pub strict: bool,
}

/// Turn of a conversation; never changed once sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "turn", rename_all = "snake_case")]
pub enum Turn {
    /// Words of ours: the first of a conversation, later ones are news.
    Said { text: String },
    /// The model's turn as its wire gave it: content blocks (Anthropic), output items (Responses), the message (Chat).
    Thought { raw: Value },
    /// Results of the calls of the thought before, one for each, in their order.
    Results { results: Vec<Answer> },
}

/// Result of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub id: String,
    pub text: String,
    pub failed: bool,
}

/// A request to a model. The parts that change least come first, which is what makes caching work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Talk<'a> {
    pub system: &'a str,
    pub tools: &'a [Tool],
    pub turns: &'a [Turn],
    /// Shown with the last words of ours, which must stand alone: in no conversation, for each request would send them again.
    pub media: &'a [Medium],
    /// JSON schema of the reply, for servers that hold a model to one; sent only where there are no tools.
    pub schema: Option<&'a Value>,
    /// Nobody asked for this call: the broker counts it against what a creature may spend by itself.
    pub autonomous: bool,
    /// Old thinking is left out: once, after a refused signature.
    pub without_thinking: bool,
}

impl<'a> Talk<'a> {
    /// The schema that its reply is to be held to; none where tools are offered.
    fn reply_schema(&self) -> Option<&'a Value> {
        self.schema.filter(|_| self.tools.is_empty())
    }
}

/// Piece of a reply, heard while it comes; none counts before the reply is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard<'a> {
    Byte,
    Thinking(&'a str),
    Text(&'a str),
    /// The name of a call that begins.
    Call(&'a str),
}

/// A whole reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Value to be sent back as [`Turn::Thought`]; each call has an id of its own, broken arguments stand as `{}`.
    pub raw: Value,
    /// Words of the model, without its thinking.
    pub text: String,
    /// The model's thinking, or its summary, where the wire gives one.
    pub thinking: String,
    pub calls: Vec<Call>,
    pub usage: Usage,
    /// The model that answered, in its server's words.
    pub model: String,
    /// Requests sent, the one that succeeded included.
    pub attempts: u32,
    /// `end_turn`, `tool_use`, `max_tokens` (cut short), `refusal`, `window`, or the server's own word.
    pub stop: String,
}

/// Call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub id: String,
    /// Name as the model gave it, known or not.
    pub name: String,
    /// The arguments; an error says why they are no object, and how they begin.
    pub args: Result<Map<String, Value>, String>,
    /// The reply was cut short here: neither to be run nor to be repaired.
    pub cut: bool,
}

/// Tokens of a request and its reply, counted alike for all wires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens of the request, without those read from or written to a cache.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    /// Tokens among those written to a cache that are kept for an hour.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_hour_tokens: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn is_zero(count: &u64) -> bool {
    *count == 0
}
