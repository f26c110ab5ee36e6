//! What Anthropic Messages refuses of a request's settings, tools and marks.

use super::http::Request;
use super::models::Model;
use super::rules::{Checked, NAME, is_name, known, list, must, parts, refuse, strict, text, unique};
use super::tool_rules::{self, Tool};
use serde_json::Value;

/// `message_create_params.py` of github.com/anthropics/anthropic-sdk-python (2026-08-07), as all fields here.
const FIELDS: [&str; 15] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "metadata",
    "stop_sequences",
    "temperature",
    "top_p",
    "top_k",
    "thinking",
    "output_config",
    "cache_control",
];
const MORE_FIELDS: [&str; 3] = ["service_tier", "inference_geo", "container"];
/// `tool_param.py` there.
const TOOL_FIELDS: [&str; 10] = [
    "type",
    "name",
    "description",
    "input_schema",
    "strict",
    "cache_control",
    "input_examples",
    "defer_loading",
    "eager_input_streaming",
    "allowed_callers",
];
/// Anthropic, prompt caching; its refusal: github.com/continuedev/continue/pull/6937.
const MOST_MARKS: usize = 4;
/// Anthropic, structured outputs, limits of schema complexity: over all strict tools of a request.
const MOST_STRICT: usize = 20;
const MOST_OPTIONAL: usize = 24;

/// Everything but the messages.
pub fn check(request: &Request, model: &Model) -> Checked {
    let body = &request.body;
    must(request.header("anthropic-version") == Some("2023-06-01"), || {
        "anthropic-version: header is required".into()
    })?;
    let fields: Vec<&str> = FIELDS.iter().chain(&MORE_FIELDS).copied().collect();
    known(body, "", &fields)?;
    must(body["max_tokens"].as_u64().is_some_and(|most| most > 0), || "max_tokens: Field required".into())?;
    must(body["messages"].is_array(), || "messages: Field required".into())?;
    thinking(body, model)?;
    sampling(body, model)?;
    output(&body["output_config"])?;
    tools(body, model)?;
    system(&body["system"])?;
    marks(body)
}

/// `thinking_config_adaptive_param.py`, `thinking_config_enabled_param.py` there; which model takes which: Anthropic, adaptive
/// thinking.
fn thinking(body: &Value, model: &Model) -> Checked {
    let thinking = &body["thinking"];
    if thinking.is_null() {
        return Ok(());
    }
    let kind = text(thinking, "type");
    match kind {
        "adaptive" => known(thinking, "thinking.adaptive.", &["type", "display"])?,
        "between_tools" if model.between_tools => {
            known(thinking, "thinking.between_tools.", &["type", "display"])?
        }
        "enabled" if !model.adaptive => {
            known(thinking, "thinking.enabled.", &["type", "budget_tokens", "display"])?;
            let budget = thinking["budget_tokens"].as_u64().unwrap_or(0);
            must(budget >= 1_024 && budget < body["max_tokens"].as_u64().unwrap_or(0), || {
                "thinking.enabled.budget_tokens: must be at least 1024 and less than max_tokens".into()
            })?;
        }
        "disabled" if !model.adaptive => {}
        _ => return refuse(format!("thinking.type: \"{kind}\" is not supported on this model")),
    }
    let shown = text(thinking, "display");
    must(matches!(shown, "" | "omitted" | "summarized"), || {
        format!("thinking.display: \"{shown}\" needs a beta header")
    })
}

/// Anthropic, migration guide of Haiku 5.5 and overview of Sonnet 5; Opus 4.7: github.com/NousResearch/hermes-agent/issues/11137.
fn sampling(body: &Value, model: &Model) -> Checked {
    let odd = |name: &str, usual: f64| body.get(name).is_some_and(|value| value.as_f64() != Some(usual));
    let refused = [("temperature", 1.0), ("top_p", 1.0), ("top_k", f64::NAN)];
    match refused.iter().find(|(name, usual)| model.adaptive && odd(name, *usual)) {
        Some((name, _)) => refuse(format!("{name}: sampling parameters are not supported on this model")),
        None => Ok(()),
    }
}

fn output(output: &Value) -> Checked {
    if output.is_null() {
        return Ok(());
    }
    known(output, "output_config.", &["effort", "format"])?;
    // `output_config_param.py` there.
    let effort = text(output, "effort");
    must(matches!(effort, "" | "low" | "medium" | "high" | "xhigh" | "max"), || {
        format!("output_config.effort: \"{effort}\" is not one of low, medium, high, xhigh, max")
    })?;
    let Some(format) = output.get("format") else { return Ok(()) };
    known(format, "output_config.format.", &["type", "schema"])?;
    must(text(format, "type") == "json_schema", || {
        "output_config.format.type: Input should be 'json_schema'".into()
    })?;
    strict(&format["schema"], false).or_else(|why| refuse(format!("output_config.format.schema: {why}")))
}

fn tools(body: &Value, model: &Model) -> Checked {
    let tools = list(body, "tools");
    for (at, tool) in tools.iter().enumerate() {
        let name = text(tool, "name");
        known(tool, &format!("tools.{at}.custom."), &TOOL_FIELDS)?;
        must(is_name(name), || format!("tools.{at}.custom.name: String should match pattern '{NAME}'"))?;
        let schema = &tool["input_schema"];
        must(text(schema, "type") == "object", || {
            format!("tools.{at}.custom.input_schema.type: Field required")
        })?;
        let mixed = ["oneOf", "allOf", "anyOf"].iter().any(|word| schema.get(word).is_some());
        must(!mixed, || {
            format!(
                "tools.{at}.custom.input_schema: does not support oneOf, allOf, or anyOf at the top level"
            )
        })?;
        if tool["strict"] == true {
            strict(schema, false).or_else(|why| refuse(format!("tools.{at}.custom: {why}")))?;
        }
    }
    unique(tools.iter().map(|tool| text(tool, "name")))
        .or_else(|_| refuse("tools: Tool names must be unique."))?;
    let all: Vec<Tool<'_>> = tools.iter().map(given).collect();
    tool_rules::check(&all).or_else(refuse)?;
    let held = tools.iter().filter(|tool| tool["strict"] == true).count();
    must(held <= MOST_STRICT, || {
        format!("tools: at most {MOST_STRICT} strict tools are allowed, got {held}")
    })?;
    let optional: usize =
        tools.iter().filter(|tool| tool["strict"] == true).map(|tool| optional(&tool["input_schema"])).sum();
    must(optional <= MOST_OPTIONAL, || {
        format!(
            "tools: at most {MOST_OPTIONAL} optional parameters of strict tools are allowed, got {optional}"
        )
    })?;
    choice(&body["tool_choice"], tools, model)
}

fn given(tool: &Value) -> Tool<'_> {
    Tool {
        name: text(tool, "name"),
        description: &tool["description"],
        schema: &tool["input_schema"],
        strict: tool["strict"] == true,
    }
}

/// Parameters that may be left out, at any depth.
fn optional(schema: &Value) -> usize {
    let properties = schema["properties"].as_object().map_or(0, serde_json::Map::len);
    let own = properties.saturating_sub(list(schema, "required").len());
    own + parts(schema).into_iter().map(optional).sum::<usize>()
}

/// A forced choice: Anthropic, what's new in Sonnet 5.5 and in Opus 5.5.
fn choice(choice: &Value, tools: &[Value], model: &Model) -> Checked {
    if choice.is_null() {
        return Ok(());
    }
    known(choice, "tool_choice.", &["type", "name", "disable_parallel_tool_use"])?;
    must(!tools.is_empty(), || "tool_choice: may only be specified while providing tools".into())?;
    match text(choice, "type") {
        "auto" | "none" => Ok(()),
        "any" | "tool" if !model.adaptive => Ok(()),
        "any" | "tool" => refuse("tool_choice: type \"tool\" and \"any\" are not supported on this model"),
        other => refuse(format!("tool_choice.type: unknown type \"{other}\"")),
    }
}

fn system(system: &Value) -> Checked {
    match system {
        Value::Null | Value::String(_) => Ok(()),
        Value::Array(blocks) => {
            for (at, block) in blocks.iter().enumerate() {
                known(block, &format!("system.{at}."), &["type", "text", "cache_control"])?;
                must(text(block, "type") == "text", || format!("system.{at}.type: Input should be 'text'"))?;
                must(!text(block, "text").is_empty(), || {
                    "system: text content blocks must be non-empty".into()
                })?;
            }
            Ok(())
        }
        _ => refuse("system: Input should be a valid string or list"),
    }
}

/// Marks in the order of the prompt.
fn marks(body: &Value) -> Checked {
    let mut marks: Vec<&Value> = list(body, "tools").iter().map(|tool| &tool["cache_control"]).collect();
    marks.extend(list(body, "system").iter().map(|block| &block["cache_control"]));
    for message in list(body, "messages") {
        for block in list(message, "content") {
            marks.push(&block["cache_control"]);
            let marked = !block["cache_control"].is_null();
            let thinking = matches!(text(block, "type"), "thinking" | "redacted_thinking");
            must(!(marked && thinking), || {
                "cache_control: Extra inputs are not permitted in thinking blocks".into()
            })?;
            let inner = list(block, "content");
            marks.extend(inner.iter().map(|part| &part["cache_control"]));
        }
    }
    marks.push(&body["cache_control"]);
    marks.retain(|mark| !mark.is_null());
    for mark in &marks {
        known(mark, "cache_control.", &["type", "ttl"])?;
        let fits = text(mark, "type") == "ephemeral" && matches!(text(mark, "ttl"), "" | "5m" | "1h");
        must(fits, || format!("cache_control: {mark} is neither ephemeral 5m nor 1h"))?;
    }
    let count = marks.len();
    must(count <= MOST_MARKS, || {
        format!("A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {count}.")
    })?;
    // github.com/headroomlabs-ai/headroom/issues/2939, with the order of the parts.
    let hour = |mark: &&Value| text(mark, "ttl") == "1h";
    let short = marks.iter().position(|mark| !hour(mark)).unwrap_or(count);
    must(!marks.iter().skip(short).any(hour), || {
        "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are \
         processed in the following order: `tools`, `system`, `messages`."
            .into()
    })
}
