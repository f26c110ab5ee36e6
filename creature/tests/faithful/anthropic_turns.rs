//! What Anthropic Messages refuses of a conversation: order, pairs, empty blocks, changed turns, thinking bound elsewhere.

use super::given::{Amiss, Given, mended};
use super::media;
use super::models::Model;
use super::rules::{Checked, hash, is_name, known, list, must, refuse, text, unique};
use serde_json::{Value, json};

/// The messages of a request.
pub fn check(body: &Value, model: &Model, given: &Given) -> Checked {
    let messages = list(body, "messages");
    must(!messages.is_empty(), || "messages: at least one message is required".into())?;
    for (at, message) in messages.iter().enumerate() {
        self::message(at, message)?;
        role(at, messages, model)?;
    }
    // Anthropic, migration guide of Haiku 5.5; older models take a prefill, and this server is stricter.
    let last = messages.last().map_or("", |message| text(message, "role"));
    must(last != "assistant", || {
        "This model does not support assistant message prefill. The conversation must end with a user message.".into()
    })?;
    pairs(messages)?;
    if model.bound {
        bound(body, messages)?;
    }
    as_given(messages, text(body, "model"), given)
}

/// `message_param.py` of github.com/anthropics/anthropic-sdk-python has the roles; where `system` may stand: Anthropic, system
/// messages within a conversation.
fn role(at: usize, messages: &[Value], model: &Model) -> Checked {
    let role = |at: usize| messages.get(at).map_or("", |message| text(message, "role"));
    let before = at.checked_sub(1).map_or("", role);
    match role(at) {
        "user" => Ok(()),
        "assistant" => must(at > 0, || "messages: first message must use the \"user\" role".into()),
        "system" => {
            must(model.news, || "role 'system' is not supported on this model".into())?;
            must(before == "user", || format!("messages.{at}: role 'system' must follow a user message"))?;
            must(matches!(role(at + 1), "" | "assistant"), || {
                format!("messages.{at}: role 'system' must be last or followed by an assistant message")
            })
        }
        other => refuse(format!("messages.{at}.role: \"{other}\" is not one of user, assistant, system")),
    }
}

fn message(at: usize, message: &Value) -> Checked {
    known(message, &format!("messages.{at}."), &["role", "content"])?;
    let role = text(message, "role");
    let blocks = blocks(&message["content"]);
    must(!blocks.is_empty(), || format!("messages.{at}: {role} messages must have non-empty content"))?;
    for (place, block) in blocks.iter().enumerate() {
        self::block(&format!("messages.{at}.content.{place}"), role, block)?;
    }
    let first_other =
        blocks.iter().position(|block| text(block, "type") != "tool_result").unwrap_or(blocks.len());
    // github.com/tailcallhq/forgecode/issues/2107.
    must(blocks.last().is_none_or(|block| text(block, "type") != "thinking"), || {
        format!("messages.{at}: The final block in an assistant message cannot be `thinking`.")
    })?;
    let late = blocks.iter().skip(first_other).any(|block| text(block, "type") == "tool_result");
    must(!late, || {
        format!("messages.{at}: tool_result blocks must come first in the content of a user message")
    })
}

/// Fields by `text_block_param.py`, `tool_use_block_param.py` and `thinking_block_param.py` of the SDK.
fn block(at: &str, role: &str, block: &Value) -> Checked {
    let within = format!("{at}.");
    let kind = text(block, "type");
    let place = match kind {
        "tool_result" | "image" | "document" => "user",
        "tool_use" | "thinking" | "redacted_thinking" => "assistant",
        _ => role,
    };
    must(role == place, || format!("{at}: `{kind}` blocks can only be in {place} messages"))?;
    match kind {
        "text" => {
            known(block, &format!("{within}text."), &["type", "text", "cache_control", "citations"])?;
            let text = text(block, "text");
            must(!text.is_empty(), || format!("{at}: text content blocks must be non-empty"))?;
            must(!text.trim().is_empty(), || {
                format!("{at}: text content blocks must contain non-whitespace text")
            })
        }
        "tool_use" => {
            known(
                block,
                &format!("{within}tool_use."),
                &["type", "id", "name", "input", "cache_control", "caller"],
            )?;
            must(is_id(text(block, "id")), || {
                format!("{within}tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
            })?;
            must(is_name(text(block, "name")), || {
                format!("{within}tool_use.name: String should match pattern")
            })?;
            must(block["input"].is_object(), || format!("{within}tool_use.input: Input should be an object"))
        }
        "tool_result" => result(at, block),
        "thinking" => {
            known(block, &format!("{within}thinking."), &["type", "thinking", "signature"])?;
            must(block["thinking"].is_string(), || format!("{within}thinking.thinking: Field required"))?;
            must(block["signature"].is_string(), || format!("{within}thinking.signature: Field required"))
        }
        _ if role == "assistant" => Ok(()),
        _ if role == "system" => refuse(format!("{at}: role 'system' takes text only")),
        "image" | "document" => media::block(at, block),
        other => refuse(format!(
            "{at}: Input tag '{other}' found using 'type' does not match any of the expected tags"
        )),
    }
}

/// `tool_result_block_param.py` of the SDK.
fn result(at: &str, block: &Value) -> Checked {
    let fields = ["type", "tool_use_id", "content", "is_error", "cache_control"];
    known(block, &format!("{at}.tool_result."), &fields)?;
    must(is_id(text(block, "tool_use_id")), || format!("{at}.tool_result.tool_use_id: Field required"))?;
    let is_error = &block["is_error"];
    must(is_error.is_null() || is_error.is_boolean(), || {
        format!("{at}.tool_result.is_error: Input should be a boolean")
    })?;
    for part in list(block, "content") {
        // `Content` of that file: text, images, documents, search results and references to tools.
        if matches!(text(part, "type"), "image" | "document") {
            media::block(&format!("{at}.tool_result"), part)?;
        }
        let empty = text(part, "type") == "text" && text(part, "text").is_empty();
        must(!empty, || format!("{at}.tool_result: text content blocks must be non-empty"))?;
    }
    let content = &block["content"];
    must(content.is_null() || content.is_string() || content.is_array(), || {
        format!("{at}.tool_result.content: Input should be a valid string or list")
    })
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Every call has its result in the next message, and every result its call in the one before.
fn pairs(messages: &[Value]) -> Checked {
    let ids = |at: usize, kind: &str, name: &str| -> Vec<String> {
        let blocks = messages.get(at).map(|message| blocks(&message["content"])).unwrap_or_default();
        let of = blocks.iter().filter(|block| text(block, "type") == kind);
        of.map(|block| text(block, name).to_owned()).collect()
    };
    let mut all = Vec::new();
    for at in 0..messages.len() {
        let is_last_of_role = messages.get(at + 1).map(|next| &next["role"]) != Some(&messages[at]["role"]);
        let calls = ids(at, "tool_use", "id");
        let answered = ids(at + 1, "tool_result", "tool_use_id");
        must(calls.is_empty() || is_last_of_role, || {
            format!("messages.{at}: calls are not followed by their results")
        })?;
        let open: Vec<&str> = calls.iter().filter(|id| !answered.contains(id)).map(String::as_str).collect();
        must(open.is_empty(), || {
            format!(
                "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
                 `tool_use` block must have a corresponding `tool_result` block in the next message.",
                open.join(", ")
            )
        })?;
        let results = ids(at, "tool_result", "tool_use_id");
        let before = at.checked_sub(1).map(|before| ids(before, "tool_use", "id")).unwrap_or_default();
        if let Some((place, id)) = results.iter().enumerate().find(|(_, id)| !before.contains(id)) {
            return refuse(format!(
                "messages.{at}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                 `tool_result` block must have a corresponding `tool_use` block in the previous message."
            ));
        }
        unique(results.iter().map(String::as_str)).or_else(|id| {
            refuse(format!("messages.{at}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"))
        })?;
        all.extend(calls);
    }
    unique(all.iter().map(String::as_str)).or_else(|_| refuse("messages: `tool_use` ids must be unique"))
}

/// Thinking goes back only behind what it was made behind: Anthropic, preserved thinking; a beta header drops it instead.
fn bound(body: &Value, messages: &[Value]) -> Checked {
    let mut before = head(body);
    for (at, message) in messages.iter().enumerate() {
        for (place, block) in blocks(&message["content"]).iter().enumerate() {
            if text(block, "type") != "thinking" {
                before = follow(before, text(message, "role"), block);
                continue;
            }
            let signature = text(block, "signature");
            let (model, thinking) = (text(body, "model"), text(block, "thinking"));
            let is_own = signature.starts_with(&format!("sig.{model}."));
            let foreign = signature.starts_with("sig.") && !is_own;
            must(foreign || signature == seal(model, before, thinking), || {
                format!(
                    "messages.{at}.content.{place}: Invalid `signature` in `thinking` block. The block is bound to a \
                     different conversation"
                )
            })?;
        }
    }
    Ok(())
}

/// The hash of what stands before the messages.
pub fn head(body: &Value) -> u64 {
    let tools: Vec<String> = list(body, "tools").iter().map(|tool| unmarked(tool).to_string()).collect();
    let system: Vec<String> =
        blocks(&body["system"]).iter().map(|block| text(block, "text").to_owned()).collect();
    hash(&(text(body, "model"), tools, system))
}

/// The hash with one more block, thinking and blank text aside: the former may be left out from the oldest on.
pub fn follow(before: u64, role: &str, block: &Value) -> u64 {
    let blank = text(block, "type") == "text" && text(block, "text").trim().is_empty();
    if blank || text(block, "type") == "thinking" {
        return before;
    }
    hash(&(before, role, mended(&unmarked(block))))
}

/// The hash of a whole conversation.
pub fn prefix(body: &Value) -> u64 {
    list(body, "messages").iter().fold(head(body), |before, message| {
        let role = text(message, "role");
        blocks(&message["content"]).iter().fold(before, |before, block| follow(before, role, block))
    })
}

pub fn seal(model: &str, before: u64, thinking: &str) -> String {
    format!("sig.{model}.{:016x}", hash(&(before, thinking, "sealed")))
}

fn as_given(messages: &[Value], model: &str, given: &Given) -> Checked {
    let last = messages.iter().rposition(|message| text(message, "role") == "assistant");
    let mut older = false;
    for (at, message) in messages.iter().enumerate() {
        if text(message, "role") != "assistant" {
            continue;
        }
        let (parts, seals) = split(&blocks(&message["content"]), model);
        let place = format!("messages.{at}.content.0");
        match given.check(&parts, &seals, &mut older) {
            Ok(()) => {}
            Err(Amiss::NeverGiven) => {
                return refuse(format!(
                    "messages.{at}: this assistant message is not as it was given out: {message}"
                ));
            }
            Err(_) if Some(at) == last => {
                return refuse(format!(
                    "{place}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be \
                     modified. These blocks must remain as they were in the original response."
                ));
            }
            Err(Amiss::ThinkingInPart | Amiss::ThinkingGone) => {
                return refuse(format!(
                    "{place}: Invalid `signature` in `thinking` block. The block is bound to a different conversation"
                ));
            }
        }
    }
    Ok(())
}

/// What is said, and the marks of what is thought by this model, in their order.
pub fn split(blocks: &[Value], model: &str) -> (Vec<Value>, Vec<String>) {
    let (mut parts, mut seals) = (Vec::new(), Vec::new());
    for block in blocks {
        match text(block, "type") {
            "thinking" => {
                let signature = text(block, "signature");
                if signature.starts_with(&format!("sig.{model}.")) || !signature.starts_with("sig.") {
                    seals.push(format!("{signature} {}", text(block, "thinking")));
                }
            }
            "text" if text(block, "text").trim().is_empty() => {}
            _ => parts.push(unmarked(block)),
        }
    }
    (parts, seals)
}

/// Content as blocks.
pub fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

/// A block or a tool without its mark.
pub fn unmarked(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(object) = value.as_object_mut() {
        object.remove("cache_control");
    }
    value
}
