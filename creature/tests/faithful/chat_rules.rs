//! What Chat Completions refuses: at OpenAI's own address, and as local servers and their templates do.

use super::Rules;
use super::given::{Amiss, Given, arguments};
use super::media;
use super::models::Model;
use super::rules::{Checked, NAME, Refusal, Why, is_name, list, must, refusal, refuse, strict, text, unique};
use super::tool_rules::{self, Tool};
use serde_json::{Map, Value, json};

/// `CreateChatCompletionRequest` of `openapi.yaml`, github.com/openai/openai-openapi (2026-08-21).
const FIELDS: [&str; 37] = [
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

pub fn check(body: &Value, model: &Model, rules: &Rules, given: &Given) -> Checked {
    fields(body, rules)?;
    settings(body, model, rules)?;
    tools(body, model, rules)?;
    let messages = list(body, "messages");
    must(!messages.is_empty(), || {
        "Invalid 'messages': empty array. Expected an array with minimum length 1.".into()
    })?;
    for (at, message) in messages.iter().enumerate() {
        self::message(at, message)?;
    }
    pairs(messages)?;
    template(messages, rules)?;
    // What was given comes back in several turns here, or with other ids.
    let as_given = !rules.single_calls && !rules.alternates_beside_calls;
    let mut older = false;
    for (at, message) in
        messages.iter().enumerate().filter(|(_, message)| as_given && text(message, "role") == "assistant")
    {
        if given.check(&said(message), &[], &mut older) == Err(Amiss::NeverGiven) {
            return refuse(format!(
                "messages[{at}]: this assistant message is not as it was given out: {message}"
            ));
        }
    }
    Ok(())
}

fn fields(body: &Value, rules: &Rules) -> Checked {
    let empty = Map::new();
    let mut keys = body.as_object().unwrap_or(&empty).keys();
    // Local servers read over what they do not know.
    match keys.find(|key| !rules.local && !FIELDS.contains(&key.as_str())) {
        Some(key) => refuse(format!("Unrecognized request argument supplied: {key}")),
        None => Ok(()),
    }
}

fn settings(body: &Value, model: &Model, rules: &Rules) -> Checked {
    let has = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
    // Tried on gpt-6-sol by others: qiita.com/kai_kou/items/92d3e48a0e78bfa1d853, as the rule of tools beside reasoning.
    must(!(model.reasons && has("max_tokens")), || {
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
            .into()
    })?;
    let odd = ["temperature", "top_p"]
        .into_iter()
        .find(|name| model.reasons && has(name) && body[*name].as_f64() != Some(1.0));
    must(odd.is_none(), || {
        format!(
            "Unsupported value: '{}' does not support this value with this model.",
            odd.unwrap_or_default()
        )
    })?;
    // `ChatCompletionStreamOptions` of openapi.yaml.
    must(!has("stream_options") || body["stream"] == true, || {
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.".into()
    })?;
    // By langchain4j's reference (OpenAiOfficialPromptCacheOptions); openapi.yaml calls the two independent.
    must(!(has("prompt_cache_retention") && has("prompt_cache_options")), || {
        "'prompt_cache_retention' cannot be used together with 'prompt_cache_options'.".into()
    })?;
    let format = &body["response_format"];
    let taste = |message: &str| Err(Refusal { why: Why::Taste, ..refusal(message) });
    if rules.refuses_format && !format.is_null() {
        return taste("response_format is not supported by this server");
    }
    if rules.refuses_schema && text(format, "type") == "json_schema" {
        return taste("This response_format type is unavailable now");
    }
    // OpenAI, JSON mode; DeepSeek, JSON Output.
    let names_json = || body["messages"].to_string().to_lowercase().contains("json");
    must(text(format, "type") != "json_object" || names_json(), || {
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.".into()
    })?;
    if text(format, "type") == "json_schema" {
        let held = &format["json_schema"];
        must(is_name(text(held, "name")), || {
            format!("Invalid 'response_format.json_schema.name': string does not match pattern '{NAME}'.")
        })?;
        if held["strict"] == true {
            let at = "Invalid schema for response_format";
            strict(&held["schema"], true).or_else(|why| refuse(format!("{at}: In context=(), {why}")))?;
        }
    }
    Ok(())
}

fn tools(body: &Value, model: &Model, rules: &Rules) -> Checked {
    let tools = list(body, "tools");
    must(body["tools"].is_null() || !tools.is_empty() || rules.local, || {
        "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.".into()
    })?;
    for name in ["parallel_tool_calls", "tool_choice"] {
        must(body[name].is_null() || !tools.is_empty(), || {
            format!("'{name}' is only allowed when 'tools' are specified.")
        })?;
    }
    for (at, tool) in tools.iter().enumerate() {
        let function = &tool["function"];
        must(text(tool, "type") == "function", || {
            format!("Missing required parameter: 'tools[{at}].type'.")
        })?;
        let parameters = &function["parameters"];
        if function["strict"] == true {
            let at = format!("Invalid schema for function '{}'", text(function, "name"));
            strict(parameters, true).or_else(|why| refuse(format!("{at}: In context=(), {why}")))?;
        }
    }
    let all: Vec<Tool<'_>> = tools.iter().map(given).collect();
    tool_rules::check(&all).or_else(refuse)?;
    let reasons = model.no_chat_tools && text(body, "reasoning_effort") != "none";
    must(tools.is_empty() || !reasons, || {
        let model = text(body, "model");
        format!(
            "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. To use \
             function tools, use /v1/responses or set reasoning_effort to 'none'."
        )
    })
}

fn given(tool: &Value) -> Tool<'_> {
    let function = &tool["function"];
    Tool {
        name: text(function, "name"),
        description: &function["description"],
        schema: &function["parameters"],
        strict: function["strict"] == true,
    }
}

fn message(at: usize, message: &Value) -> Checked {
    let role = text(message, "role");
    let content = &message["content"];
    let calls = list(message, "tool_calls");
    must(matches!(role, "system" | "developer" | "user" | "assistant" | "tool"), || {
        format!(
            "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'."
        )
    })?;
    must(content.is_string() || content.is_array() || (role == "assistant" && !calls.is_empty()), || {
        format!("Invalid value for 'messages[{at}].content': expected a string, got null.")
    })?;
    // A model's own parts come back as it gave them.
    for (place, part) in list(message, "content").iter().enumerate().filter(|_| role != "assistant") {
        media::chat_part(&format!("messages[{at}].content[{place}]"), role, part)?;
    }
    must(message["tool_calls"].is_null() || !calls.is_empty(), || {
        format!("Invalid 'messages[{at}].tool_calls': empty array. Expected an array with minimum length 1.")
    })?;
    must(role != "tool" || message["tool_call_id"].is_string(), || {
        "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.".into()
    })?;
    for (place, call) in calls.iter().enumerate() {
        let at = format!("messages[{at}].tool_calls[{place}]");
        let function = &call["function"];
        must(!text(call, "id").is_empty(), || format!("Missing required parameter: '{at}.id'."))?;
        must(text(call, "type") == "function", || format!("Missing required parameter: '{at}.type'."))?;
        must(is_name(text(function, "name")), || {
            format!(
                "Invalid '{at}.function.name': string does not match pattern. Expected a string that matches the pattern '{NAME}'."
            )
        })?;
        let args: Value = serde_json::from_str(text(function, "arguments")).unwrap_or_default();
        must(args.is_object(), || {
            format!("Invalid '{at}.function.arguments': not a JSON object in a string.")
        })?;
    }
    Ok(())
}

/// Every call is answered by a tool message right after, and every tool message has its call: DeepSeek's words in
/// github.com/langgenius/dify/issues/32222, OpenAI's in github.com/BerriAI/litellm/issues/10083.
fn pairs(messages: &[Value]) -> Checked {
    let mut all = Vec::new();
    let mut open: Vec<(&str, &str)> = Vec::new();
    let unanswered = |open: &[(&str, &str)]| {
        must(open.is_empty(), || {
            format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
                open.iter().map(|(id, _)| *id).collect::<Vec<_>>().join(", ")
            )
        })
    };
    for message in messages {
        if text(message, "role") == "tool" {
            let id = text(message, "tool_call_id");
            let Some(at) = open.iter().position(|(open, _)| *open == id) else {
                return refuse(format!(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
                     'tool_calls' (tool_call_id {id})."
                ));
            };
            let (_, name) = open.remove(at);
            // Google's compatible address: github.com/NousResearch/hermes-agent/pull/19728.
            must(text(message, "name") == name, || "function_response.name: Name cannot be empty.".into())?;
            continue;
        }
        unanswered(&open)?;
        let calls = list(message, "tool_calls").iter();
        open = calls.map(|call| (text(call, "id"), text(&call["function"], "name"))).collect();
        all.extend(open.iter().map(|(id, _)| *id));
    }
    unanswered(&open)?;
    unique(all.into_iter()).or_else(|id| refuse(format!("Duplicate value for 'tool_call_id' of '{id}'.")))
}

/// What the templates of local servers refuse.
fn template(messages: &[Value], rules: &Rules) -> Checked {
    let roles: Vec<&str> = messages.iter().map(|message| text(message, "role")).collect();
    let late = roles.iter().skip(1).any(|role| matches!(*role, "system" | "developer"));
    must(!(rules.system_first && late), || "System message must be at the beginning.".into())?;
    let talk: Vec<&str> = roles.into_iter().filter(|role| *role != "system").collect();
    let twice = talk.windows(2).any(|pair| pair[0] == pair[1] && pair[0] != "tool");
    let begins = talk.first().is_none_or(|role| *role == "user");
    must(!rules.roles_alternate || (!twice && begins), || {
        "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...".into()
    })?;
    // github.com/vllm-project/vllm/issues/25108; models/templates/meta-llama-Llama-3.3-70B-Instruct.jinja of llama.cpp.
    let several = messages.iter().any(|message| list(message, "tool_calls").len() > 1);
    if rules.single_calls && several {
        return Err(of_template(400, "This model only supports single tool-calls at once!"));
    }
    // github.com/mistralai/mistral-vibe/issues/1006; .../mistralai-Mistral-Nemo-Instruct-2407.jinja.
    let spoken = messages.iter().filter(|message| {
        !matches!(text(message, "role"), "tool" | "system") && list(message, "tool_calls").is_empty()
    });
    let in_turn =
        spoken.enumerate().all(|(at, message)| (text(message, "role") == "user") == at.is_multiple_of(2));
    if rules.alternates_beside_calls && !in_turn {
        let said = "After the optional system message, conversation roles must alternate user and assistant roles except \
                    for tool calls and results.";
        return Err(of_template(500, said));
    }
    // The same template; github.com/vllm-project/vllm/issues/9059.
    let ids = messages.iter().flat_map(|message| list(message, "tool_calls")).map(|call| text(call, "id"));
    let is_of_nine = |id: &str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if rules.alternates_beside_calls && !ids.into_iter().all(is_of_nine) {
        return Err(of_template(500, "Tool call IDs should be alphanumeric strings with length 9!"));
    }
    Ok(())
}

/// A refusal as llama.cpp's server passes it on; what a client may try is no fault of its form.
fn of_template(status: u16, said: &str) -> Refusal {
    let source = "\n------------\nWhile executing CallExpression at line 48, column 32 in source:\n...== 0) %}↵            \
                  {{- raise_exception('…\n                                           ^\nError: Jinja Exception: ";
    Refusal { status, why: Why::Taste, ..refusal(format!("{source}{said}")) }
}

/// What an assistant's message says: its words, then its calls.
pub fn said(message: &Value) -> Vec<Value> {
    let words = content(message);
    let mut parts = Vec::new();
    if !words.trim().is_empty() {
        parts.push(json!({"text": words}));
    }
    for call in list(message, "tool_calls") {
        let args = arguments(&call["function"]["arguments"]);
        parts.push(json!({"id": call["id"], "name": call["function"]["name"], "args": args}));
    }
    parts
}

/// The text of a message.
pub fn content(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| text(part, "text")).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}
