//! What the wires share in answering: what was asked, and the reply as it is written and kept.

use super::Rules;
use super::cache::Tokens;
use super::http::Request;
use super::models::Model;
use super::say::Say;
use serde_json::Value;

/// A good request, with what is known of it.
pub struct Asked<'a> {
    pub request: &'a Request,
    pub model: Model,
    pub rules: &'a Rules,
    /// The first request is 1.
    pub number: usize,
    pub tokens: Tokens,
    /// Of the stream's pieces.
    pub seed: u64,
    pub noise: bool,
}

/// A reply, in both forms.
pub struct Reply {
    pub whole: Value,
    /// The body of a stream.
    pub stream: Vec<u8>,
    /// As it is to come back, thinking aside.
    pub parts: Vec<Value>,
    /// The marks of its thinking.
    pub seals: Vec<String>,
    /// In tokens.
    pub output: usize,
}

/// The id of a call, the first of which is 1.
pub fn id(kind: &str, number: usize, say: &Say, call: usize) -> String {
    let call = if say.same_ids { 1 } else { call };
    format!("{kind}_{number:06}{call:03}")
}
