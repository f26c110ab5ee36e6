//! The Anthropic Messages wire: what a request and a reply look like.

use serde_json::{Map, Value, json};

use crate::{Ask, Endpoint, Form, Usage};

pub(crate) const PATH: &str = "/v1/messages";
pub(crate) const VERSION: &str = "2023-06-01";

/// The request's body; everything but the situation ends in a mark up to which the server may cache.
pub(crate) fn body(endpoint: &Endpoint, ask: &Ask, form: Form) -> Value {
    let mut content = Vec::new();
    content.extend(block(&ask.context, true));
    content.extend(block(&ask.situation, false));
    let messages = json!([{"role": "user", "content": content}]);
    let mut body = Map::new();
    let mut put = |key: &str, value| body.insert(key.to_string(), value);
    put("model", json!(endpoint.model));
    put("max_tokens", json!(endpoint.max_tokens));
    if let Some(system) = block(&ask.system, true) {
        put("system", json!([system]));
    }
    put("messages", messages);
    if form.schema && !ask.schema.is_null() {
        let format = json!({"type": "json_schema", "schema": ask.schema});
        put("output_config", json!({ "format": format }));
    }
    Value::Object(body)
}

/// Text, usage and stop of a reply; `None` when it is not one.
pub(crate) fn read(reply: &Value) -> Option<(String, Usage, String)> {
    let blocks = reply.get("content")?.as_array()?;
    let is_text = |block: &&Value| block.get("type").and_then(Value::as_str) == Some("text");
    let text = blocks.iter().filter(is_text).filter_map(|block| block.get("text")?.as_str()).collect();
    let usage = reply.get("usage");
    let count = |key: &str| usage.and_then(|usage| usage.get(key)?.as_u64()).unwrap_or(0);
    let usage = Usage {
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        cache_read_tokens: count("cache_read_input_tokens"),
        cache_write_tokens: count("cache_creation_input_tokens"),
    };
    let stop = reply.get("stop_reason").and_then(Value::as_str);
    let stop = stop.unwrap_or_default();
    Some((text, usage, stop.to_string()))
}

/// None for an empty text, which the API refuses.
fn block(text: &str, cached: bool) -> Option<Value> {
    if text.is_empty() {
        return None;
    }
    Some(match cached {
        true => json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}),
        false => json!({"type": "text", "text": text}),
    })
}
