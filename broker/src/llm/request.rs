//! Parses a request as far as its cost goes: the most it can use, and whether that is bounded at all.
//!
//! Invariant: every field of a request that costs has a cost bounded by what is counted here. The body sent is
//! serialized from the parsed one, so that no second reader can read it differently.

use super::refusals::{malformed, refused};
use super::wire::Wire;
use super::{allowed, blocks};
use crate::ground::refusal::Refusal;
use serde_json::{Map, Value, json};

/// The limit on a reply if the client sets none, in tokens.
pub const USUAL_MAX_TOKENS: u64 = 8_192;

/// Names of the limit on a reply.
const LIMIT: &str = "max_tokens";
const NEW_LIMIT: &str = "max_completion_tokens";
const LIMIT_OF_RESPONSES: &str = "max_output_tokens";
pub const LIMITS: [&str; 3] = [LIMIT, NEW_LIMIT, LIMIT_OF_RESPONSES];

/// Most tokens a provider adds to a prompt.
pub const OVERHEAD_TOKENS: u64 = 1_000;

/// Tokens counted per image, above the dearest there are: its cost depends on its size on screen, not on its bytes.
const IMAGE_TOKENS: u64 = 50_000;

/// Most replies to one request.
const MOST_REPLIES: u64 = 128;

/// Most tokens of a call, by which it is billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Most tokens of the prompt: a token has at least one byte.
    pub input_tokens: u64,
    /// Of these, tokens not in its bytes: images, documents, and what a provider adds.
    pub extra_tokens: u64,
    /// Of these, tokens that a usage may claim and that are not reserved: the data of images and documents, which no model
    /// reads as text, and of a document all that the model can hold.
    pub unlikely_tokens: u64,
    /// Of these, tokens of documents beyond their bytes: a prompt whose usage nobody told may have had them all.
    pub page_tokens: u64,
    /// Most tokens of all replies together.
    pub output_tokens: u64,
    /// Whether it may write to a cache that keeps for an hour.
    pub hour_cache: bool,
}

/// A request with bounded cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    pub model: String,
    pub is_stream: bool,
    pub size: Size,
    /// The body to send.
    pub body: Vec<u8>,
}

/// Serializes the body anew, so that a duplicate field cannot be read in two ways.
fn written(fields: &Map<String, Value>) -> Result<Vec<u8>, Refusal> {
    serde_json::to_vec(fields).map_err(|error| malformed(error.to_string()))
}

/// Parses a body.
pub fn fields(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(malformed("the body is not a JSON object")),
        Err(error) => Err(malformed(format!("the body is not JSON: {error}"))),
    }
}

/// Parses a body and the model it names, which decides the price.
pub fn parse(body: &[u8]) -> Result<(String, Map<String, Value>), Refusal> {
    let fields = fields(body)?;
    match fields.get("model").and_then(Value::as_str).map(str::trim) {
        Some(model) if !model.is_empty() && model.len() <= 200 => Ok((model.to_owned(), fields)),
        _ => Err(malformed("`model` must be a name")),
    }
}

/// Accepts a request to a free model, whatever it asks for.
pub fn free(model: String, fields: &Map<String, Value>) -> Result<Judged, Refusal> {
    let is_stream = fields.get("stream").and_then(Value::as_bool).unwrap_or(false);
    Ok(Judged { model, is_stream, body: written(fields)?, ..Judged::default() })
}

/// Judges a request that costs. `new_limit` says which name of the limit the server knows, `window` what the
/// model can hold; none where documents are not taken.
pub fn judge(
    wire: Wire,
    model: String,
    mut fields: Map<String, Value>,
    new_limit: bool,
    window: Option<u64>,
) -> Result<Judged, Refusal> {
    allowed::fields(wire, &fields)?;
    let media = blocks::judge(wire, &fields)?;
    let documents = documents(&media, window)?;
    let usual = match wire {
        Wire::Responses => LIMIT_OF_RESPONSES,
        Wire::OpenAi if new_limit => NEW_LIMIT,
        Wire::Anthropic | Wire::OpenAi => LIMIT,
    };
    let each = limit(&mut fields, usual)?;
    let replies = match fields.get("n") {
        None | Some(Value::Null) => 1,
        Some(n) => n
            .as_u64()
            .filter(|n| (1..=MOST_REPLIES).contains(n))
            .ok_or_else(|| malformed(format!("`n` must be a number from 1 to {MOST_REPLIES}")))?,
    };
    let is_stream = match fields.get("stream") {
        None | Some(Value::Null) => false,
        Some(stream) => stream.as_bool().ok_or_else(|| malformed("`stream` must be true or false"))?,
    };
    if wire == Wire::OpenAi && is_stream {
        // Without this option a stream does not report its usage.
        match fields.get_mut("stream_options") {
            Some(Value::Object(options)) => drop(options.insert("include_usage".into(), true.into())),
            _ => drop(fields.insert("stream_options".into(), json!({"include_usage": true}))),
        }
    }
    if wire == Wire::Responses {
        // Left out, it means that the provider stores the reply.
        fields.insert("store".into(), false.into());
    }
    let body = written(&fields)?;
    let extra_tokens = OVERHEAD_TOKENS + media.images * IMAGE_TOKENS + documents.likely;
    let size = Size {
        input_tokens: body.len() as u64 + extra_tokens + documents.more,
        extra_tokens,
        unlikely_tokens: media.image_bytes + media.document_bytes + documents.more,
        page_tokens: documents.more,
        output_tokens: each.saturating_mul(replies),
        hour_cache: body.windows(4).any(|text| text == b"\"1h\""),
    };
    Ok(Judged { model, is_stream, size, body })
}

/// Tokens of documents: those that are reserved, and those that a usage may claim beyond them.
struct Documents {
    likely: u64,
    more: u64,
}

/// A document has text and an image of each page: Anthropic, PDF support; OpenAI, PDF files. How many pages there are its bytes
/// do not say, but what the model cannot hold is refused and not billed.
fn documents(media: &blocks::Media, window: Option<u64>) -> Result<Documents, Refusal> {
    match (media.documents, window) {
        (0, _) => Ok(Documents { likely: 0, more: 0 }),
        (_, Some(window)) => {
            let likely = media.document_bytes.min(window);
            Ok(Documents { likely, more: window - likely })
        }
        (_, None) => Err(refused(
            "what a document costs there is not known, or not how much the model holds",
            "send it as text or as images",
        )),
    }
}

/// The limit on one reply, under the name the server knows; set if the client set none.
fn limit(fields: &mut Map<String, Value>, usual: &str) -> Result<u64, Refusal> {
    let mut most = None;
    for name in LIMITS {
        match fields.get(name) {
            None | Some(Value::Null) => {}
            Some(value) => {
                let bad = || malformed(format!("`{name}` must be a positive whole number"));
                let tokens = value.as_u64().filter(|tokens| *tokens > 0).ok_or_else(bad)?;
                most = most.max(Some(tokens));
            }
        }
        if name != usual {
            fields.shift_remove(name);
        }
    }
    let most = most.unwrap_or(USUAL_MAX_TOKENS);
    fields.insert(usual.to_owned(), most.into());
    Ok(most)
}
