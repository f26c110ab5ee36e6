//! The OpenAI chat wire: what a request and a reply look like, at OpenAI and at those who imitate it.

use serde_json::{Map, Value, json};

use crate::{Ask, Endpoint, Form, Usage};

pub(crate) const PATH: &str = "/chat/completions";

/// The request's body; servers cache by common beginning, so the order of the parts is what counts.
pub(crate) fn body(endpoint: &Endpoint, ask: &Ask, form: Form) -> Value {
    // One user message: many local chat templates refuse two in a row, or content in parts.
    let parts = [ask.context.as_str(), ask.situation.as_str()];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let mut messages = Vec::new();
    if !ask.system.is_empty() {
        messages.push(json!({"role": "system", "content": ask.system}));
    }
    messages.push(json!({"role": "user", "content": parts.join("\n\n")}));
    let limit = match form.completion_tokens {
        true => "max_completion_tokens",
        false => "max_tokens",
    };
    let mut body = Map::new();
    let mut put = |key: &str, value| body.insert(key.to_string(), value);
    put("model", json!(endpoint.model));
    put("messages", json!(messages));
    put(limit, json!(endpoint.max_tokens));
    if form.schema && !ask.schema.is_null() {
        let schema = json!({"name": ask.schema_name, "schema": ask.schema});
        let format = json!({"type": "json_schema", "json_schema": schema});
        put("response_format", format);
    }
    Value::Object(body)
}

/// Text, usage and stop of a reply; `None` when it is not one.
pub(crate) fn read(reply: &Value) -> Option<(String, Usage, String)> {
    let choice = reply.get("choices")?.as_array()?.first()?;
    let message = choice.get("message")?;
    let refusal = message.get("refusal").and_then(Value::as_str);
    let refusal = refusal.filter(|said| !said.is_empty());
    let text = content(message.get("content"));
    let finish = choice.get("finish_reason").and_then(Value::as_str);
    let stop = match (refusal, finish.unwrap_or_default()) {
        (Some(_), _) | (_, "content_filter") => "refusal",
        (_, "length") => "max_tokens",
        (_, "stop") => "end_turn",
        (_, other) => other,
    };
    let text = match refusal {
        Some(said) if text.is_empty() => said.to_string(),
        _ => text,
    };
    Some((text, usage(reply), stop.to_string()))
}

fn content(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

fn usage(reply: &Value) -> Usage {
    let count = |path: &str| {
        let count = reply.pointer(path).and_then(Value::as_u64);
        count.unwrap_or(0)
    };
    let read = count("/usage/prompt_tokens_details/cached_tokens");
    let write = count("/usage/prompt_tokens_details/cache_write_tokens");
    let prompt = count("/usage/prompt_tokens");
    Usage {
        input_tokens: prompt.saturating_sub(read).saturating_sub(write),
        output_tokens: count("/usage/completion_tokens"),
        cache_read_tokens: read,
        cache_write_tokens: write,
    }
}
