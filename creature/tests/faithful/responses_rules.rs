//! What OpenAI Responses refuses of a request's settings and tools.

use super::models::Model;
use super::rules::{Checked, NAME, is_name, list, must, refuse, strict, text};
use super::tool_rules::{self, Tool};
use serde_json::Value;

/// `CreateResponse` of `openapi.yaml`, github.com/openai/openai-openapi (2026-08-21).
const FIELDS: [&str; 31] = [
    "background",
    "context_management",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "moderation",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];
/// `ReasoningEffort` there.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// Everything but the items of the input.
pub fn check(body: &Value, model: &Model) -> Checked {
    let has = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
    let mut keys = body.as_object().into_iter().flat_map(|body| body.keys());
    let unknown = keys.find(|key| !FIELDS.contains(&key.as_str()));
    must(unknown.is_none(), || format!("Unknown parameter: '{}'.", unknown.map_or("", String::as_str)))?;
    let odd = ["temperature", "top_p"].into_iter().find(|name| model.reasons && has(name));
    must(odd.is_none(), || {
        format!("Unsupported parameter: '{}' is not supported with this model.", odd.unwrap_or_default())
    })?;
    // `minimum: 16` there.
    must(
        !has("max_output_tokens") || body["max_output_tokens"].as_u64().is_some_and(|most| most >= 16),
        || "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.".into(),
    )?;
    // As in chat_rules.rs: langchain4j's reference; openapi.yaml calls the two independent.
    must(!(has("prompt_cache_retention") && has("prompt_cache_options")), || {
        "'prompt_cache_retention' cannot be used together with 'prompt_cache_options'.".into()
    })?;
    // github.com/vybestack/llxprt-code/issues/2135.
    must(text(body, "prompt_cache_key").len() <= 64, || {
        "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64.".into()
    })?;
    must(!has("previous_response_id"), || {
        format!("Previous response with id '{}' not found.", text(body, "previous_response_id"))
    })?;
    let effort = text(&body["reasoning"], "effort");
    must(effort.is_empty() || EFFORTS.contains(&effort), || {
        format!("Invalid value: '{effort}'. Supported values are: {}.", EFFORTS.join(", "))
    })?;
    format(&body["text"]["format"])?;
    tools(body)
}

fn format(format: &Value) -> Checked {
    match text(format, "type") {
        "" | "text" | "json_object" => Ok(()),
        "json_schema" => {
            must(is_name(text(format, "name")), || {
                format!("Invalid 'text.format.name': string does not match pattern '{NAME}'.")
            })?;
            if format["strict"] != true {
                return Ok(());
            }
            let at = "Invalid schema for response_format";
            strict(&format["schema"], true).or_else(|why| refuse(format!("{at}: In context=(), {why}")))
        }
        other => refuse(format!("Invalid value: '{other}' for 'text.format.type'.")),
    }
}

fn tools(body: &Value) -> Checked {
    let tools = list(body, "tools");
    for (at, tool) in tools.iter().enumerate() {
        let name = text(tool, "name");
        must(text(tool, "type") == "function", || format!("Invalid value: 'tools[{at}].type'."))?;
        must(tool.get("function").is_none(), || format!("Unknown parameter: 'tools[{at}].function'."))?;
        // Strict unless it says otherwise.
        if tool["strict"] != false {
            let at = format!("Invalid schema for function '{name}'");
            strict(&tool["parameters"], true).or_else(|why| refuse(format!("{at}: In context=(), {why}")))?;
        }
    }
    let all: Vec<Tool<'_>> = tools.iter().map(given).collect();
    tool_rules::check(&all).or_else(refuse)
}

fn given(tool: &Value) -> Tool<'_> {
    Tool {
        name: text(tool, "name"),
        description: &tool["description"],
        schema: &tool["parameters"],
        strict: tool["strict"] != false,
    }
}
