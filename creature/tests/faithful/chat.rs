//! Chat Completions: what a request shows, its text for the cache, and a reply whole or as events, with local servers' habits.

use super::Rules;
use super::cache::{Tokens, tokens};
use super::chat_rules::{content, said};
use super::events::Events;
use super::given::Given;
use super::reply::{Asked, Reply, id};
use super::rules::{list, text};
use super::say::{Part, Say, wire_name};
use super::seen::{Message, Shown};
use serde_json::{Value, json};

pub fn system(body: &Value) -> String {
    let first = list(body, "messages").iter().take_while(|message| is_system(message));
    first.map(content).collect::<Vec<_>>().join("\n\n")
}

fn is_system(message: &Value) -> bool {
    matches!(text(message, "role"), "system" | "developer")
}

pub fn tools(body: &Value) -> Vec<(String, Value)> {
    let function = |tool: &Value| {
        let function = &tool["function"];
        (text(function, "name").to_owned(), function["parameters"].clone())
    };
    list(body, "tools").iter().map(function).collect()
}

/// All but the system's; tool messages are the user's.
pub fn messages(body: &Value, given: &Given) -> Vec<Message> {
    let mut calls: Vec<(String, String)> = Vec::new();
    let mut messages: Vec<Message> = Vec::new();
    for message in list(body, "messages").iter().skip_while(|message| is_system(message)) {
        let words = content(message);
        let mut parts = Vec::new();
        if text(message, "role") == "tool" {
            let id = text(message, "tool_call_id").to_owned();
            let name = calls.iter().rev().find(|(call, _)| *call == id).map(|(_, name)| name.clone());
            parts.push(Shown::Result { id, name: name.unwrap_or_default(), text: words, failed: false });
        } else if !words.is_empty() {
            parts.push(Shown::Text(words));
        }
        for call in list(message, "tool_calls") {
            let (id, name) = (text(call, "id").to_owned(), given.said(text(&call["function"], "name")));
            calls.push((id.clone(), name.clone()));
            let args = serde_json::from_str(text(&call["function"], "arguments")).unwrap_or_default();
            parts.push(Shown::Call { id, name, args });
        }
        let role = match text(message, "role") {
            "tool" => "user",
            "developer" => "system",
            role => role,
        };
        match messages.last_mut().filter(|last| last.role == role) {
            Some(last) => last.parts.extend(parts),
            None => messages.push(Message { role: role.to_owned(), parts }),
        }
    }
    messages
}

/// The prompt as text, tools first.
pub fn prompt(body: &Value) -> String {
    let mut prompt = String::new();
    for part in list(body, "tools").iter().chain(list(body, "messages")) {
        prompt += &part.to_string();
        prompt.push('\n');
    }
    prompt
}

/// The request a server sees that cuts what does not fit from the front: system and tools first, then the oldest messages.
pub fn cut_to_fit(body: &Value, most: usize) -> Value {
    let mut body = body.clone();
    while tokens(prompt(&body).len()) > most {
        let Some(messages) = body["messages"].as_array_mut() else { break };
        if messages.len() < 2 {
            break;
        }
        messages.remove(0);
        body["tools"] = json!([]);
    }
    body
}

fn message(asked: &Asked, say: &Say) -> Value {
    let without_ids = say.without_ids || asked.rules.no_ids;
    let mut calls = Vec::new();
    for part in &say.parts {
        let (name, arguments) = match part {
            Part::Call(name, args) if asked.rules.object_arguments => (name, args.clone()),
            Part::Call(name, args) => (name, json!(args.to_string())),
            Part::Broken(name, text) => (name, json!(text)),
            _ => continue,
        };
        let id = id("call", asked.number, say, calls.len() + 1);
        let function = json!({"name": wire_name(name), "arguments": arguments});
        calls.push(match without_ids {
            true => json!({"type": "function", "function": function}),
            false => json!({"id": id, "type": "function", "function": function}),
        });
    }
    let words = say.text();
    let words = if words.is_empty() && !calls.is_empty() { Value::Null } else { json!(words) };
    let mut message = json!({"role": "assistant", "content": words});
    if asked.rules.local && !say.thinking().is_empty() {
        message["reasoning_content"] = json!(say.thinking());
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}

fn usage(tokens: Tokens, output: usize) -> Value {
    json!({
        "prompt_tokens": tokens.total(), "completion_tokens": output, "total_tokens": tokens.total() + output,
        "prompt_tokens_details": {"cached_tokens": tokens.read, "cache_write_tokens": tokens.written},
        "completion_tokens_details": {"reasoning_tokens": 0},
    })
}

fn finish(say: &Say, calls: bool) -> &'static str {
    match (say.stop.as_deref(), calls) {
        (Some("max_tokens" | "window"), _) => "length",
        (Some("refusal"), _) => "content_filter",
        (None | Some("tool_use"), true) => "tool_calls",
        _ => "stop",
    }
}

/// A reply to a good request.
pub fn reply(asked: &Asked, say: &Say) -> Reply {
    let message = message(asked, say);
    let output = tokens(message.to_string().len() + say.thinking().len()).max(1);
    let finish = finish(say, message.get("tool_calls").is_some());
    let mut whole = json!({
        "id": format!("chatcmpl-{:06}", asked.number), "object": "chat.completion", "created": 1_795_000_000,
        "model": asked.request.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    });
    if !asked.rules.no_usage {
        whole["usage"] = usage(asked.tokens, output);
    }
    let stream = events(asked, say, &whole, &message, finish);
    Reply { parts: said(&message), seals: Vec::new(), whole, stream, output }
}

fn events(asked: &Asked, say: &Say, whole: &Value, message: &Value, finish: &str) -> Vec<u8> {
    let mut events = Events::new(asked.seed, asked.noise);
    let send = |events: &mut Events, delta: Value, finish: Value| {
        events.unnamed(&json!({
            "id": whole["id"], "object": "chat.completion.chunk", "created": whole["created"], "model": whole["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }));
    };
    send(&mut events, json!({"role": "assistant", "content": ""}), Value::Null);
    for (name, words) in
        [("reasoning_content", text(message, "reasoning_content")), ("content", text(message, "content"))]
    {
        for piece in events.dice.pieces(words) {
            send(&mut events, json!({name: piece}), Value::Null);
        }
    }
    let calls = list(message, "tool_calls");
    // Without ids and numbers nobody could tell where broken arguments end.
    let is_plain = calls.iter().all(|call| match &call["function"]["arguments"] {
        Value::String(text) => serde_json::from_str::<Value>(text).is_ok(),
        _ => true,
    });
    let whole_calls = (asked.rules.no_ids || say.without_ids) && is_plain;
    for (at, call) in calls.iter().enumerate() {
        for delta in deltas(&mut events, at, call, asked.rules, whole_calls) {
            send(&mut events, json!({"tool_calls": [delta]}), Value::Null);
        }
    }
    send(&mut events, json!({}), json!(finish));
    if asked.request.body["stream_options"]["include_usage"] == true && !asked.rules.no_usage {
        events.unnamed(&json!({
            "id": whole["id"], "object": "chat.completion.chunk", "created": whole["created"], "model": whole["model"],
            "choices": [], "usage": whole["usage"],
        }));
    }
    if !asked.rules.no_done {
        events.data("[DONE]");
    }
    events.bytes
}

/// One call in pieces; whole, and without a number, at servers that give no ids.
fn deltas(events: &mut Events, at: usize, call: &Value, rules: &Rules, whole: bool) -> Vec<Value> {
    let arguments = &call["function"]["arguments"];
    let mut start = call.clone();
    if whole {
        return vec![start];
    }
    start["index"] = json!(at);
    let Some(text) = arguments.as_str() else { return vec![start] };
    start["function"]["arguments"] = json!("");
    let mut deltas = vec![start];
    for piece in events.dice.pieces(text) {
        let mut function = json!({"arguments": piece});
        if rules.repeats_names {
            function["name"] = call["function"]["name"].clone();
        }
        deltas.push(json!({"index": at, "function": function}));
    }
    deltas
}
