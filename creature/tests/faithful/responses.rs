//! OpenAI Responses: what a request shows, its text for the cache, and a reply whole or as events.

use super::cache::{Tokens, tokens};
use super::events::Events;
use super::given::Given;
use super::reply::{Asked, Reply, id};
use super::responses_items::{content, follow, is_own, items, kind, prefix, seal, split};
use super::rules::{list, text};
use super::say::{Part, Say, wire_name};
use super::seen::{Message, Shown};
use serde_json::{Value, json};

fn is_system(item: &Value) -> bool {
    kind(item) == "message" && matches!(text(item, "role"), "system" | "developer")
}

pub fn system(body: &Value) -> String {
    let items = items(body);
    let first = items.iter().take_while(|item| is_system(item)).map(content);
    let all = [text(body, "instructions").to_owned()].into_iter().chain(first);
    all.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

pub fn tools(body: &Value) -> Vec<(String, Value)> {
    list(body, "tools")
        .iter()
        .map(|tool| (text(tool, "name").to_owned(), tool["parameters"].clone()))
        .collect()
}

/// Items as messages: the model's run of items is one, outputs are the user's.
pub fn messages(body: &Value, given: &Given) -> Vec<Message> {
    let mut calls: Vec<(String, String)> = Vec::new();
    let mut messages: Vec<Message> = Vec::new();
    for item in items(body).iter().skip_while(|item| is_system(item)) {
        let id = text(item, "call_id").to_owned();
        let part = match kind(item) {
            "message" => Shown::Text(content(item)),
            "function_call" => {
                let name = given.said(text(item, "name"));
                calls.push((id.clone(), name.clone()));
                Shown::Call {
                    id,
                    name,
                    args: serde_json::from_str(text(item, "arguments")).unwrap_or_default(),
                }
            }
            "function_call_output" => {
                let name = calls.iter().rev().find(|(call, _)| *call == id).map(|(_, name)| name.clone());
                Shown::Result { id, name: name.unwrap_or_default(), text: content(item), failed: false }
            }
            "reasoning" => {
                let summary = list(item, "summary").iter().map(|part| text(part, "text"));
                Shown::Thinking(summary.collect::<Vec<_>>().join("\n"))
            }
            _ => Shown::Other(item.clone()),
        };
        let role = match (is_own(item), is_system(item)) {
            (true, _) => "assistant",
            (false, true) => "system",
            (false, false) => "user",
        };
        match messages.last_mut().filter(|last| last.role == role) {
            Some(last) => last.parts.push(part),
            None => messages.push(Message { role: role.to_owned(), parts: vec![part] }),
        }
    }
    messages
}

/// The prompt as text, tools first.
pub fn prompt(body: &Value) -> String {
    let mut prompt = String::new();
    for tool in list(body, "tools") {
        prompt += &format!("{tool}\n");
    }
    prompt += text(body, "instructions");
    for item in items(body) {
        prompt += &format!("\n{item}");
    }
    prompt
}

fn output(asked: &Asked, say: &Say) -> Vec<Value> {
    let body = &asked.request.body;
    let sealed = list(body, "include").iter().any(|name| name == "reasoning.encrypted_content");
    let shows = !text(&body["reasoning"], "summary").is_empty();
    let has_calls = say.parts.iter().any(|part| matches!(part, Part::Call(..) | Part::Broken(..)));
    let phase = if has_calls { "commentary" } else { "final_answer" };
    let mut before = prefix(body);
    let (mut items, mut calls) = (Vec::new(), 0);
    for part in &say.parts {
        let id = |kind: &str| format!("{kind}_{:06}{:03}", asked.number, items.len() + 1);
        let item = match part {
            Part::Thinking(_) if !asked.model.reasons => continue,
            Part::Thinking(thinking) => {
                let summary =
                    if shows { json!([{"type": "summary_text", "text": thinking}]) } else { json!([]) };
                let mut item = json!({"id": id("rs"), "type": "reasoning", "summary": summary});
                if sealed {
                    item["encrypted_content"] = json!(seal(text(body, "model"), before));
                }
                item
            }
            Part::Text(text) => {
                let part = match say.stop.as_deref() {
                    Some("refusal") => json!({"type": "refusal", "refusal": text}),
                    _ => json!({"type": "output_text", "text": text, "annotations": []}),
                };
                json!({
                    "id": id("msg"), "type": "message", "role": "assistant", "status": "completed", "phase": phase,
                    "content": [part],
                })
            }
            Part::Unknown(item) => item.clone(),
            Part::Call(name, args) => call(asked, say, &mut calls, id("fc"), name, &args.to_string()),
            Part::Broken(name, args) => call(asked, say, &mut calls, id("fc"), name, args),
        };
        before = follow(before, &item);
        items.push(item);
    }
    items
}

fn call(asked: &Asked, say: &Say, calls: &mut usize, item: String, name: &str, arguments: &str) -> Value {
    *calls += 1;
    let mut call = json!({
        "id": item, "type": "function_call", "status": "completed", "call_id": id("call", asked.number, say, *calls),
        "name": wire_name(name), "arguments": arguments,
    });
    if let Some(call) = call.as_object_mut().filter(|_| say.without_ids) {
        call.remove("call_id");
    }
    call
}

fn usage(tokens: Tokens, output: usize, thinking: usize) -> Value {
    json!({
        "input_tokens": tokens.total(),
        "input_tokens_details": {"cached_tokens": tokens.read, "cache_write_tokens": tokens.written},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": thinking},
        "total_tokens": tokens.total() + output,
    })
}

/// A reply to a good request.
pub fn reply(asked: &Asked, say: &Say) -> Reply {
    let mut items = output(asked, say);
    let (parts, seals) = split(&items.iter().collect::<Vec<_>>(), text(&asked.request.body, "model"));
    let reason = match say.stop.as_deref() {
        Some("max_tokens" | "window") => Some("max_output_tokens"),
        _ => None,
    };
    if let Some(last) = items.last_mut().filter(|item| reason.is_some() && item.get("status").is_some()) {
        last["status"] = json!("incomplete");
    }
    let thinking = tokens(say.thinking().len());
    let output = tokens(json!(items).to_string().len()) + thinking + 1;
    let whole = json!({
        "id": format!("resp_{:06}", asked.number), "object": "response", "created_at": 1_795_000_000,
        "model": asked.request.body["model"], "store": asked.request.body["store"],
        "status": if reason.is_some() { "incomplete" } else { "completed" },
        "incomplete_details": reason.map(|reason| json!({"reason": reason})), "error": null,
        "output": items, "usage": usage(asked.tokens, output, thinking),
    });
    Reply { stream: events(asked, &whole), whole, parts, seals, output }
}

fn events(asked: &Asked, whole: &Value) -> Vec<u8> {
    let mut sender = Sender { events: Events::new(asked.seed, asked.noise), number: 0 };
    let mut start = whole.clone();
    start["status"] = json!("in_progress");
    start["output"] = json!([]);
    start["usage"] = Value::Null;
    sender.send("response.created", json!({"response": start}));
    sender.send("response.in_progress", json!({"response": start}));
    for (at, item) in list(whole, "output").iter().enumerate() {
        sender.item(at, item);
    }
    let end = if whole["status"] == "incomplete" { "response.incomplete" } else { "response.completed" };
    sender.send(end, json!({"response": whole}));
    sender.events.bytes
}

struct Sender {
    events: Events,
    number: usize,
}

impl Sender {
    fn send(&mut self, name: &str, mut data: Value) {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.number);
        self.number += 1;
        self.events.named(name, &data);
    }

    fn item(&mut self, at: usize, item: &Value) {
        let mut start = item.clone();
        match kind(item) {
            "message" => start["content"] = json!([]),
            "function_call" => start["arguments"] = json!(""),
            "reasoning" => {
                start["summary"] = json!([]);
                // Half a seal, whole only when the item is done: `ReasoningItem.encrypted_content` of openapi.yaml.
                start["encrypted_content"] = json!("enc.unfinished");
            }
            _ => {}
        }
        let place = json!({"item_id": item["id"], "output_index": at});
        self.send("response.output_item.added", json!({"output_index": at, "item": start}));
        match kind(item) {
            "message" => list(item, "content").iter().enumerate().for_each(|(index, part)| {
                let (name, field) = match text(part, "type") {
                    "refusal" => ("refusal", "refusal"),
                    _ => ("output_text", "text"),
                };
                let place = with(&place, "content_index", json!(index));
                let mut empty = part.clone();
                empty[field] = json!("");
                self.send("response.content_part.added", with(&place, "part", empty));
                self.text(&format!("response.{name}"), &place, field, text(part, field));
                self.send("response.content_part.done", with(&place, "part", part.clone()));
            }),
            "function_call" => {
                self.text("response.function_call_arguments", &place, "arguments", text(item, "arguments"));
            }
            "reasoning" => list(item, "summary").iter().enumerate().for_each(|(index, part)| {
                let place = with(&place, "summary_index", json!(index));
                let empty = json!({"type": "summary_text", "text": ""});
                self.send("response.reasoning_summary_part.added", with(&place, "part", empty));
                self.text("response.reasoning_summary_text", &place, "text", text(part, "text"));
                self.send("response.reasoning_summary_part.done", with(&place, "part", part.clone()));
            }),
            _ => {}
        }
        self.send("response.output_item.done", json!({"output_index": at, "item": item}));
    }

    fn text(&mut self, name: &str, place: &Value, field: &str, text: &str) {
        for piece in self.events.dice.pieces(text) {
            self.send(&format!("{name}.delta"), with(place, "delta", json!(piece)));
        }
        self.send(&format!("{name}.done"), with(place, field, json!(text)));
    }
}

fn with(place: &Value, name: &str, value: Value) -> Value {
    let mut place = place.clone();
    place[name] = value;
    place
}
