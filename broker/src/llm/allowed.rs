//! Content allowed in a paid request: fields, tools and betas with a price bounded by bytes and token limit; pure.

use super::refusals::{malformed, refused};
use super::wire::Wire;
use crate::ground::refusal::Refusal;
use house::bounds::{NAME_CHARS, brief};
use serde_json::{Map, Value};

/// Fields whose cost is bounded by the prompt's bytes and the reply's tokens.
const ANTHROPIC: &str = "model messages system max_tokens metadata stop_sequences stream temperature top_k top_p thinking tools \
    tool_choice output_config output_format service_tier cache_control";
const CHAT: &str = "model messages max_tokens max_completion_tokens n stream stream_options temperature top_p top_k min_p \
    frequency_penalty presence_penalty repetition_penalty logit_bias logprobs top_logprobs response_format seed \
    stop tools tool_choice parallel_tool_calls functions function_call user metadata reasoning_effort reasoning \
    verbosity store prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier service_tier \
    chat_template_kwargs enable_thinking think keep_alive cache_prompt usage";
const RESPONSES: &str = "model input instructions max_output_tokens stream stream_options temperature top_p top_logprobs tools \
    tool_choice parallel_tool_calls max_tool_calls reasoning text include truncation user metadata store \
    background previous_response_id conversation prompt_cache_key prompt_cache_options prompt_cache_retention \
    safety_identifier service_tier";

/// Tools that run at the client, so that they cost no more than their text.
const CLIENT_TOOLS: &[&str] = &["custom", "function"];
const CLIENT_TOOL_FAMILIES: &[&str] = &["bash_", "text_editor_", "computer_", "memory_"];

/// Betas, without their dates, with which a call costs no more than its tokens.
const BETAS: &str = "computer-use effort extended-cache-ttl fine-grained-tool-streaming interleaved-thinking \
    mid-conversation-output-config mid-conversation-system-clear-at output-128k prompt-caching structured-outputs \
    thinking-binding-controls thinking-display-updates token-efficient-tools";

/// Refuses a field of unbounded cost.
pub fn fields(wire: Wire, fields: &Map<String, Value>) -> Result<(), Refusal> {
    let known = match wire {
        Wire::Anthropic => ANTHROPIC,
        Wire::OpenAi => CHAT,
        Wire::Responses => RESPONSES,
    };
    let is_known = |key: &str| known.split(' ').any(|name| name == key);
    if let Some(odd) = fields.keys().find(|key| !is_known(key)) {
        let hint = format!("leave it out; what may stand in a request: {}", known.replace(' ', ", "));
        return Err(refused(format!("what `{}` costs is not known", brief(odd, NAME_CHARS)), &hint));
    }
    if wire == Wire::Responses {
        stateless(fields)?;
    }
    tier(fields)?;
    tools(fields)
}

/// Refuses state kept at the provider: everything that is billed has to be in the request.
fn stateless(fields: &Map<String, Value>) -> Result<(), Refusal> {
    let is_set = |name: &&&str| fields.get(**name).is_some_and(|value| !value.is_null() && value != false);
    if let Some(name) = ["previous_response_id", "conversation", "background", "store"].iter().find(is_set) {
        let hint = "send the whole input each time, with store false or left out, and wait for the answer";
        return Err(refused(format!("`{name}` brings or leaves what is not in the request"), hint));
    }
    let encrypted = |include: &Value| include == "reasoning.encrypted_content";
    match fields.get("include") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(asked)) if asked.iter().all(encrypted) => Ok(()),
        Some(_) => {
            let hint = "include [\"reasoning.encrypted_content\"], or leave it out";
            Err(refused("what else `include` may bring is not known", hint))
        }
    }
}

/// Refuses a beta that may cost more than the tokens.
pub fn betas(header: &str) -> Result<(), Refusal> {
    let is_known = |beta: &str| {
        let dated = |name: &str| {
            let date = beta.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
            date.is_some_and(|date| date.len() == 10 && date.chars().all(|c| c.is_ascii_digit() || c == '-'))
        };
        beta.is_empty() || BETAS.split(' ').any(dated)
    };
    match header.split(',').map(str::trim).find(|beta| !is_known(beta)) {
        None => Ok(()),
        Some(odd) => {
            let hint =
                format!("leave it out; of anthropic-beta these are passed on: {}", BETAS.replace(' ', ", "));
            Err(refused(format!("what the beta `{}` costs is not known", brief(odd, NAME_CHARS)), &hint))
        }
    }
}

/// Refuses service tiers and regions that cost more than the list price.
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

/// Refuses tools that the provider runs: they cost by use, without a bound.
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
                format!("the provider runs the tool `{}` at a price of its own", brief(kind, NAME_CHARS)),
                hint,
            ));
        }
    }
    Ok(())
}
