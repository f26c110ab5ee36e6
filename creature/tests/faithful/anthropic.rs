//! Anthropic Messages: what a request shows, its blocks for the cache, and a reply whole or as events.

use super::anthropic_turns::{blocks, prefix, seal, split, unmarked};
use super::cache::{Piece, Tokens, tokens};
use super::events::Events;
use super::given::{Given, arguments};
use super::reply::{Asked, Reply, id};
use super::rules::{list, text};
use super::say::{Part, Say, wire_name};
use super::seen::{Message, Shown};
use serde_json::{Value, json};

pub fn system(body: &Value) -> String {
    let blocks = blocks(&body["system"]);
    blocks.iter().map(|block| text(block, "text")).collect::<Vec<_>>().join("\n\n")
}

pub fn tools(body: &Value) -> Vec<(String, Value)> {
    list(body, "tools")
        .iter()
        .map(|tool| (text(tool, "name").to_owned(), tool["input_schema"].clone()))
        .collect()
}

pub fn messages(body: &Value, given: &Given) -> Vec<Message> {
    let mut calls: Vec<(String, String)> = Vec::new();
    let mut messages: Vec<Message> = Vec::new();
    for message in list(body, "messages") {
        let mut parts = Vec::new();
        for block in blocks(&message["content"]) {
            parts.push(shown(&block, &mut calls, given));
        }
        let role = text(message, "role").to_owned();
        match messages.last_mut().filter(|last| last.role == role) {
            Some(last) => last.parts.extend(parts),
            None => messages.push(Message { role, parts }),
        }
    }
    messages
}

fn shown(block: &Value, calls: &mut Vec<(String, String)>, given: &Given) -> Shown {
    match text(block, "type") {
        "text" => Shown::Text(text(block, "text").to_owned()),
        "thinking" => Shown::Thinking(text(block, "thinking").to_owned()),
        "tool_use" => {
            let (id, name) = (text(block, "id").to_owned(), given.said(text(block, "name")));
            calls.push((id.clone(), name.clone()));
            Shown::Call { id, name, args: block["input"].clone() }
        }
        "tool_result" => {
            let id = text(block, "tool_use_id").to_owned();
            let name = calls.iter().rev().find(|(call, _)| *call == id).map(|(_, name)| name.clone());
            let texts = blocks(&block["content"]);
            let texts: Vec<&str> = texts.iter().map(|part| text(part, "text")).collect();
            let failed = block["is_error"] == true;
            Shown::Result { id, name: name.unwrap_or_default(), text: texts.join("\n"), failed }
        }
        _ => Shown::Other(block.clone()),
    }
}

/// The prompt's blocks in the order they are cached in.
pub fn pieces(body: &Value) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let life = |block: &Value| match text(&block["cache_control"], "ttl") {
        "1h" => 3_600,
        _ => 300,
    };
    let mark = |block: &Value| block.get("cache_control").filter(|mark| !mark.is_null()).map(|_| life(block));
    // A run of calls, or of results, is one position.
    let mut last_run = String::new();
    let mut add = |block: &Value, salt: &str, run: String| {
        let same = run == last_run && !run.is_empty();
        let position = pieces.last().map_or(0, |last| last.run + usize::from(!same));
        last_run = run;
        pieces.push(Piece {
            text: unmarked(block).to_string(),
            salt: salt.to_owned(),
            mark: mark(block),
            run: position,
        });
    };
    let model = text(body, "model");
    for tool in list(body, "tools") {
        add(tool, model, String::new());
    }
    let format = body["output_config"]["format"].to_string();
    for block in blocks(&body["system"]) {
        add(&block, &format!("{model} {format}"), String::new());
    }
    let effort = &body["output_config"]["effort"];
    let settings = json!([model, format, body["tool_choice"], body["thinking"], effort]);
    for (at, message) in list(body, "messages").iter().enumerate() {
        for block in blocks(&message["content"]) {
            let kind = text(&block, "type");
            let run = if kind.starts_with("tool_") { format!("{at} {kind}") } else { String::new() };
            add(&block, &format!("{settings} {}", text(message, "role")), run);
        }
    }
    if let Some(last) = pieces.last_mut().filter(|_| !body["cache_control"].is_null()) {
        last.mark = Some(life(body));
    }
    pieces
}

/// The content blocks of an answer.
fn content(asked: &Asked, say: &Say) -> Vec<Value> {
    let body = &asked.request.body;
    let (model, shows) = (text(body, "model"), text(&body["thinking"], "display") == "summarized");
    let thinks = asked.model.adaptive || matches!(text(&body["thinking"], "type"), "adaptive" | "enabled");
    let role = "assistant";
    let mut before = prefix(body);
    let (mut content, mut calls) = (Vec::new(), 0);
    for part in &say.parts {
        let block = match part {
            Part::Thinking(_) if !thinks => continue,
            Part::Thinking(thinking) => {
                let thinking = if shows { thinking.as_str() } else { "" };
                json!({"type": "thinking", "thinking": thinking, "signature": seal(model, before, thinking)})
            }
            Part::Text(text) => json!({"type": "text", "text": text}),
            Part::Unknown(block) => block.clone(),
            Part::Call(name, input) => call(asked, say, &mut calls, name, input),
            Part::Broken(name, text) => call(asked, say, &mut calls, name, &arguments(&json!(text))),
        };
        before = super::anthropic_turns::follow(before, role, &block);
        content.push(block);
    }
    content
}

fn call(asked: &Asked, say: &Say, calls: &mut usize, name: &str, input: &Value) -> Value {
    *calls += 1;
    let mut block = json!({"type": "tool_use", "id": id("toolu", asked.number, say, *calls), "name": wire_name(name), "input": input});
    if let Some(block) = block.as_object_mut().filter(|_| say.without_ids) {
        block.remove("id");
    }
    block
}

fn usage(tokens: Tokens, output: usize) -> Value {
    json!({
        "input_tokens": tokens.uncached,
        "cache_creation_input_tokens": tokens.written,
        "cache_read_input_tokens": tokens.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": tokens.written - tokens.written_hour,
            "ephemeral_1h_input_tokens": tokens.written_hour,
        },
        "output_tokens": output,
        "service_tier": "standard",
    })
}

/// A reply to a good request.
pub fn reply(asked: &Asked, say: &Say) -> Reply {
    let body = &asked.request.body;
    let content = content(asked, say);
    // Thinking that nothing follows is no turn's end.
    let end = content.iter().rposition(|block| text(block, "type") != "thinking").map_or(0, |at| at + 1);
    let (parts, seals) = split(&content[..end], text(body, "model"));
    let calls = content.iter().any(|block| text(block, "type") == "tool_use");
    let usual = if calls { "tool_use" } else { "end_turn" };
    let stop = match say.stop.as_deref().unwrap_or(usual) {
        "window" => "model_context_window_exceeded",
        stop => stop,
    };
    // Thinking is billed at its full length, whatever of it is shown.
    let output = tokens(Value::Array(content.clone()).to_string().len() + say.thinking().len()).max(1);
    let whole = json!({
        "id": format!("msg_{:06}", asked.number), "type": "message", "role": "assistant", "model": body["model"],
        "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage(asked.tokens, output),
    });
    let stream = events(asked, say, &whole, &content);
    Reply { whole, stream, parts, seals, output }
}

fn events(asked: &Asked, say: &Say, whole: &Value, content: &[Value]) -> Vec<u8> {
    let mut events = Events::new(asked.seed, asked.noise);
    let mut start = whole.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"] = usage(asked.tokens, 1);
    events.named("message_start", &json!({"type": "message_start", "message": start}));
    events.named("ping", &json!({"type": "ping"}));
    let mut broken = say.parts.iter().filter_map(|part| match part {
        Part::Call(_, args) => Some(args.to_string()),
        Part::Broken(_, text) => Some(text.clone()),
        _ => None,
    });
    for (at, block) in content.iter().enumerate() {
        let args = if text(block, "type") == "tool_use" { broken.next() } else { None };
        one_block(&mut events, at, block, &args.unwrap_or_default());
    }
    events.named(
        "message_delta",
        &json!({
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": null},
            "usage": {"output_tokens": whole["usage"]["output_tokens"]},
        }),
    );
    events.named("message_stop", &json!({"type": "message_stop"}));
    events.bytes
}

fn one_block(events: &mut Events, at: usize, block: &Value, args: &str) {
    let mut start = block.clone();
    let mut deltas = Vec::new();
    match text(block, "type") {
        "text" => {
            start["text"] = json!("");
            let pieces = events.dice.pieces(text(block, "text"));
            deltas.extend(pieces.iter().map(|piece| json!({"type": "text_delta", "text": piece})));
        }
        "thinking" => {
            start["thinking"] = json!("");
            start["signature"] = json!("");
            let pieces = events.dice.pieces(text(block, "thinking"));
            deltas.extend(pieces.iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece})));
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
        }
        "tool_use" => {
            start["input"] = json!({});
            deltas.push(json!({"type": "input_json_delta", "partial_json": ""}));
            let pieces = events.dice.pieces(if args == "{}" { "" } else { args });
            deltas.extend(
                pieces.iter().map(|piece| json!({"type": "input_json_delta", "partial_json": piece})),
            );
        }
        _ => {}
    }
    events.named(
        "content_block_start",
        &json!({"type": "content_block_start", "index": at, "content_block": start}),
    );
    for delta in deltas {
        if events.dice.roll().is_multiple_of(20) {
            events.named("ping", &json!({"type": "ping"}));
        }
        events.named(
            "content_block_delta",
            &json!({"type": "content_block_delta", "index": at, "delta": delta}),
        );
    }
    events.named("content_block_stop", &json!({"type": "content_block_stop", "index": at}));
}
