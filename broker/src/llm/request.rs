//! Reads a request as far as its cost goes: what it can use at most, and whether that can be known at all.
//!
//! Invariant: of a request that is not free every field is one whose cost is bounded by what is counted here; what is
//! sent is written anew from what was judged, so that no two readers of it can differ.

use super::Wire;
use crate::refusal::Refusal;
use serde_json::{Map, Value, json};

/// Tokens of a reply where the client does not say.
pub const USUAL_MAX_TOKENS: u64 = 8_192;

/// The two names of the limit on a reply.
const LIMIT: &str = "max_tokens";
const NEW_LIMIT: &str = "max_completion_tokens";

/// What a provider adds to a prompt of its own, in tokens.
const OVERHEAD_TOKENS: u64 = 1_000;

/// An image counts by its size on screen, not by its bytes: this is above the dearest of them, in tokens.
const IMAGE_TOKENS: u64 = 50_000;

/// Replies of one request at most.
const MOST_REPLIES: u64 = 128;

/// Fields whose cost is known: the prompt's bytes and the reply's tokens.
const ANTHROPIC_FIELDS: &[&str] = &[
    "model",
    "messages",
    "system",
    "max_tokens",
    "metadata",
    "stop_sequences",
    "stream",
    "temperature",
    "top_k",
    "top_p",
    "thinking",
    "tools",
    "tool_choice",
    "output_config",
    "output_format",
    "service_tier",
    "cache_control",
];
const OPENAI_FIELDS: &[&str] = &[
    "model",
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "n",
    "stream",
    "stream_options",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "response_format",
    "seed",
    "stop",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "functions",
    "function_call",
    "user",
    "metadata",
    "reasoning_effort",
    "reasoning",
    "verbosity",
    "store",
    "prompt_cache_key",
    "safety_identifier",
    "service_tier",
    "chat_template_kwargs",
    "enable_thinking",
    "think",
    "keep_alive",
    "cache_prompt",
    "usage",
];

/// Tools that run at the client, so that they cost no more than their words.
const CLIENT_TOOLS: &[&str] = &["custom", "function"];
const CLIENT_TOOL_FAMILIES: &[&str] = &["bash_", "text_editor_", "computer_", "memory_"];

/// Blocks of a message whose tokens are in its bytes.
const PLAIN_BLOCKS: &[&str] = &[
    "text",
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "refusal",
    "function",
    "custom",
    "search_result",
    "input_text",
    "output_text",
];
const IMAGE_BLOCKS: &[&str] = &["image", "image_url", "input_image"];

/// A request whose cost has a bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    pub model: String,
    pub is_stream: bool,
    /// At most.
    pub input_tokens: u64,
    /// At most, all replies together.
    pub output_tokens: u64,
    /// Whether it may write to a cache that keeps for an hour.
    pub hour_cache: bool,
    /// What is sent.
    pub body: Vec<u8>,
}

/// What a field cannot be accepted for; `hint` is what to do.
fn refused(message: impl Into<String>, hint: &str) -> Refusal {
    Refusal::new(400, "cost_unknown", message, hint)
}

fn malformed(message: impl Into<String>) -> Refusal {
    Refusal::new(400, "invalid_request_error", message, "send a request of this wire as JSON")
}

/// Written anew, so that a field that stands twice is read in one way only.
fn written(fields: &Map<String, Value>) -> Result<Vec<u8>, Refusal> {
    serde_json::to_vec(fields).map_err(|error| malformed(error.to_string()))
}

/// What a body asks for.
pub fn fields(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(malformed("the body is not a JSON object")),
        Err(error) => Err(malformed(format!("the body is not JSON: {error}"))),
    }
}

/// The model a body names; it decides what the rest costs.
pub fn parse(body: &[u8]) -> Result<(String, Map<String, Value>), Refusal> {
    let fields = fields(body)?;
    match fields.get("model").and_then(Value::as_str).map(str::trim) {
        Some(model) if !model.is_empty() && model.len() <= 200 => Ok((model.to_owned(), fields)),
        _ => Err(malformed("`model` must be a name")),
    }
}

/// A request that costs nothing, whatever it asks for.
pub fn free(model: String, fields: &Map<String, Value>) -> Result<Judged, Refusal> {
    let is_stream = fields.get("stream").and_then(Value::as_bool).unwrap_or(false);
    Ok(Judged {
        model,
        is_stream,
        input_tokens: 0,
        output_tokens: 0,
        hour_cache: false,
        body: written(fields)?,
    })
}

/// Judges a request that costs. `new_limit` says which name of the limit the server knows.
pub fn judge(
    wire: Wire,
    model: String,
    mut fields: Map<String, Value>,
    new_limit: bool,
) -> Result<Judged, Refusal> {
    let known = match wire {
        Wire::Anthropic => ANTHROPIC_FIELDS,
        Wire::OpenAi => OPENAI_FIELDS,
    };
    if let Some(odd) = fields.keys().find(|key| !known.contains(&key.as_str())) {
        let hint = format!("leave it out; what may stand in a request: {}", known.join(", "));
        return Err(refused(format!("what `{}` costs is not known", short(odd)), &hint));
    }
    tier(&fields)?;
    tools(&fields)?;
    let images = blocks(wire, &fields)?;
    let usual = if wire == Wire::OpenAi && new_limit { NEW_LIMIT } else { LIMIT };
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
        // Without it a stream does not say what it cost.
        match fields.get_mut("stream_options") {
            Some(Value::Object(options)) => drop(options.insert("include_usage".into(), true.into())),
            _ => drop(fields.insert("stream_options".into(), json!({"include_usage": true}))),
        }
    }
    let body = written(&fields)?;
    let hour_cache = body.windows(4).any(|text| text == b"\"1h\"");
    // A token is at least a byte.
    let input_tokens = body.len() as u64 + OVERHEAD_TOKENS + images * IMAGE_TOKENS;
    let output_tokens = each.saturating_mul(replies);
    Ok(Judged { model, is_stream, input_tokens, output_tokens, hour_cache, body })
}

/// The limit on one reply, under the one name the server heeds; set where the client set none.
fn limit(fields: &mut Map<String, Value>, usual: &str) -> Result<u64, Refusal> {
    let mut most = None;
    for name in [LIMIT, NEW_LIMIT] {
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

/// Tiers and places that cost more than the list says.
fn tier(fields: &Map<String, Value>) -> Result<(), Refusal> {
    let usual = ["auto", "default", "standard_only", "flex"];
    match fields.get("service_tier") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(tier)) if usual.contains(&tier.as_str()) => Ok(()),
        Some(_) => {
            let hint = format!("use one of {}, or leave it out", usual.join(", "));
            Err(refused("this `service_tier` may cost more than the price list says", &hint))
        }
    }
}

/// Tools the provider runs cost by use, without a bound.
fn tools(fields: &Map<String, Value>) -> Result<(), Refusal> {
    let hint = "use tools of your own (function, custom, bash, text_editor, computer, memory); to read the web, use /web";
    let tools = match fields.get("tools") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(tools)) => tools,
        Some(_) => return Err(malformed("`tools` must be a list")),
    };
    for tool in tools {
        let kind = match tool.get("type") {
            None | Some(Value::Null) => continue,
            Some(kind) => kind.as_str().unwrap_or("of no name"),
        };
        let is_clients = CLIENT_TOOLS.contains(&kind)
            || CLIENT_TOOL_FAMILIES.iter().any(|family| kind.starts_with(family));
        if !is_clients {
            return Err(refused(
                format!("the provider runs the tool `{}` at a price of its own", short(kind)),
                hint,
            ));
        }
    }
    Ok(())
}

/// Counts images; refuses what brings tokens that are not in its bytes.
fn blocks(wire: Wire, fields: &Map<String, Value>) -> Result<u64, Refusal> {
    let mut images = 0;
    let messages = match fields.get("messages") {
        Some(Value::Array(messages)) => messages,
        _ => return Err(malformed("`messages` must be a list")),
    };
    for message in messages {
        if wire == Wire::OpenAi && message.get("audio").is_some_and(|audio| !audio.is_null()) {
            return Err(refused("what audio costs is not known", "send its text"));
        }
        content(message.get("content"), &mut images)?;
    }
    content(fields.get("system"), &mut images)?;
    Ok(images)
}

fn content(content: Option<&Value>, images: &mut u64) -> Result<(), Refusal> {
    let Some(Value::Array(blocks)) = content else { return Ok(()) };
    for block in blocks {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or("text");
        let source = block.pointer("/source/type").and_then(Value::as_str);
        if IMAGE_BLOCKS.contains(&kind) {
            *images += 1;
        } else if kind == "document" && matches!(source, Some("text" | "content")) {
            self::content(block.pointer("/source/content"), images)?;
        } else if !PLAIN_BLOCKS.contains(&kind) {
            let hint = "send it as text or as images";
            return Err(refused(format!("how many tokens a block `{}` has is not known", short(kind)), hint));
        }
        // Results of tools hold blocks of their own.
        self::content(block.get("content"), images)?;
    }
    Ok(())
}

fn short(text: &str) -> String {
    text.chars().take(60).collect()
}
