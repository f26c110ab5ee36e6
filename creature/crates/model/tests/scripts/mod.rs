//! Replies made up by chance, as each wire sends them: whole, and as the events of a stream.
#![allow(dead_code)]

use model::{Reply, Wire};
use serde_json::{Map, Value, json};

/// Numbers that look random and are the same for the same seed.
#[derive(Clone)]
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % most as u64).unwrap()
    }

    pub fn pieces(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, left) = rest.split_at((1 + self.below(200)).min(rest.len()));
            pieces.push(piece.to_vec());
            rest = left;
        }
        pieces
    }

    /// A text in pieces of whole letters.
    fn deltas(&mut self, text: &str) -> Vec<String> {
        // The last seed there is means no splits.
        if self.0 == u64::MAX {
            return vec![text.to_owned()];
        }
        let letters: Vec<char> = text.chars().collect();
        let mut deltas = Vec::new();
        let mut rest = letters.as_slice();
        while !rest.is_empty() {
            let (piece, left) = rest.split_at((1 + self.below(30)).min(rest.len()));
            deltas.push(piece.iter().collect());
            rest = left;
        }
        deltas
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Thinking(String),
    Text(String),
    Call(String, Value),
    /// A call whose arguments are no JSON.
    Broken(String, String),
    Unknown(Value),
}

#[derive(Clone, Debug)]
pub struct Script {
    pub parts: Vec<Part>,
    /// In Anthropic's words.
    pub stop: &'static str,
}

const WORDS: [&str; 8] = [
    "look",
    "{\"a\": 1}",
    "\u{1f600} smile",
    "line\nline",
    "\\ud83d",
    "tab\t\"quoted\"",
    "häuser",
    "data: x",
];

impl Script {
    pub fn every_part() -> Script {
        let parts = vec![
            Part::Thinking("hm \u{1f914}".to_owned()),
            Part::Text("I look.".to_owned()),
            Part::Unknown(json!({"type": "of_tomorrow", "id": "x1", "deep": {"z": [1, null], "a": "é"}})),
            Part::Call("repo_read".to_owned(), json!({"path": "ä\u{1f600}.rs", "from": 3})),
            Part::Call("self_edit".to_owned(), json!({})),
        ];
        Script { parts, stop: "tool_use" }
    }

    pub fn random(seed: u64) -> Script {
        let mut dice = Dice(seed.wrapping_mul(77));
        let mut parts = Vec::new();
        for number in 0..=dice.below(6) {
            let text = (0..=dice.below(4)).map(|_| WORDS[dice.below(8)]).collect::<Vec<_>>().join(" ");
            parts.push(match dice.below(6) {
                0 => Part::Thinking(text),
                1 => Part::Unknown(json!({"type": format!("odd_{number}"), "say": text})),
                2 => Part::Broken("repo_read".to_owned(), format!("{{\"path\": \"{number}")),
                3 => Part::Call("tool.of nobody".to_owned(), json!({"text": text})),
                4 => Part::Call("repo_read".to_owned(), json!({"path": text, "number": number})),
                _ => Part::Text(text),
            });
        }
        parts.push(Part::Text("done".to_owned()));
        let calls = parts.iter().any(|part| matches!(part, Part::Call(..) | Part::Broken(..)));
        Script { parts, stop: if calls { "tool_use" } else { "end_turn" } }
    }

    /// What holds for a reply to it.
    pub fn check(&self, wire: Wire, reply: &Reply) {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let calls: Vec<&Part> =
            self.parts.iter().filter(|part| matches!(part, Part::Call(..) | Part::Broken(..))).collect();
        assert_eq!(reply.text, texts.collect::<String>());
        assert_eq!((reply.stop.as_str(), reply.calls.len()), (self.stop, calls.len()));
        for (part, call) in calls.into_iter().zip(&reply.calls) {
            match part {
                Part::Call(name, args) => {
                    assert_eq!((&call.name, call.args.clone().map(Value::Object)), (name, Ok(args.clone())));
                }
                Part::Broken(name, text) => {
                    assert!(call.name == *name && call.args.as_ref().is_err_and(|said| said.contains(text)));
                }
                _ => {}
            }
        }
        // What nobody knows goes back as it came.
        let unknown = self.parts.iter().filter_map(|part| match part {
            Part::Unknown(block) if wire != Wire::Chat => Some(block),
            _ => None,
        });
        for block in unknown {
            assert!(reply.raw.as_array().unwrap().contains(block), "{block} is not in {}", reply.raw);
        }
    }

    pub fn plain(&self, wire: Wire) -> Value {
        match wire {
            Wire::Anthropic => {
                json!({"type": "message", "model": "m", "role": "assistant", "content": self.blocks(),
                "stop_reason": self.stop, "usage": {"input_tokens": 7, "output_tokens": 5, "cache_read_input_tokens": 3}})
            }
            Wire::Responses => {
                let is_cut = self.stop == "max_tokens";
                json!({"model": "m", "status": if is_cut { "incomplete" } else { "completed" }, "output": self.items(),
                    "incomplete_details": is_cut.then(|| json!({"reason": "max_output_tokens"})),
                    "usage": {"input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 3}}})
            }
            Wire::Chat => {
                let finish = match self.stop {
                    "tool_use" => "tool_calls",
                    "max_tokens" => "length",
                    _ => "stop",
                };
                json!({"model": "m", "choices": [{"index": 0, "message": self.message(), "finish_reason": finish}],
                    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 3}}})
            }
        }
    }

    fn blocks(&self) -> Vec<Value> {
        let blocks = self.parts.iter().enumerate().map(|(number, part)| match part {
            Part::Thinking(text) => {
                json!({"type": "thinking", "thinking": text, "signature": format!("sig{number}")})
            }
            Part::Text(text) => json!({"type": "text", "text": text}),
            Part::Unknown(block) => block.clone(),
            Part::Call(name, args) => {
                json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": args})
            }
            Part::Broken(name, text) => {
                json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": text})
            }
        });
        blocks.collect()
    }

    fn items(&self) -> Vec<Value> {
        let items = self.parts.iter().enumerate().map(|(number, part)| match part {
            Part::Thinking(text) => {
                json!({"type": "reasoning", "id": format!("rs_{number}"), "encrypted_content": format!("enc{number}"),
                    "summary": [{"type": "summary_text", "text": text}]})
            }
            Part::Text(text) => {
                json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant", "phase": "commentary",
                    "content": [{"type": "output_text", "text": text, "annotations": []}]})
            }
            Part::Unknown(block) => block.clone(),
            Part::Call(name, args) => {
                json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
                    "name": name, "arguments": args.to_string(), "status": "completed"})
            }
            Part::Broken(name, text) => {
                json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
                    "name": name, "arguments": text, "status": "incomplete"})
            }
        });
        items.collect()
    }

    fn message(&self) -> Value {
        let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
        for (number, part) in self.parts.iter().enumerate() {
            let (name, args) = match part {
                Part::Thinking(more) => {
                    thinking += more;
                    continue;
                }
                Part::Text(more) => {
                    text += more;
                    continue;
                }
                Part::Unknown(_) => continue,
                Part::Call(name, args) => (name, args.to_string()),
                Part::Broken(name, args) => (name, args.clone()),
            };
            calls.push(json!({"id": format!("c{number}"), "type": "function",
                "function": {"name": name, "arguments": args}}));
        }
        let mut message =
            Map::from_iter([("role".to_owned(), json!("assistant")), ("content".to_owned(), json!(text))]);
        if !thinking.is_empty() {
            message.insert("reasoning_content".to_owned(), json!(thinking));
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), json!(calls));
        }
        Value::Object(message)
    }

    pub fn stream(&self, wire: Wire, dice: &mut Dice) -> Vec<u8> {
        let whole = self.plain(wire);
        let mut events = match wire {
            Wire::Anthropic => anthropic(&whole, dice),
            Wire::Responses => responses(&whole, dice),
            Wire::Chat => chat(&whole, dice),
        };
        if wire == Wire::Chat {
            events.push(("".to_owned(), Value::Null));
        }
        let mut bytes = String::new();
        for (name, data) in events {
            if !name.is_empty() {
                bytes += &format!("event: {name}\n");
            }
            bytes += &match data {
                Value::Null => "data: [DONE]\n\n".to_owned(),
                data => format!("data: {data}\n\n"),
            };
        }
        bytes.into_bytes()
    }
}

type Events = Vec<(String, Value)>;

fn named(kind: &str, mut data: Value) -> (String, Value) {
    data["type"] = json!(kind);
    (kind.to_owned(), data)
}

fn anthropic(whole: &Value, dice: &mut Dice) -> Events {
    let mut start = whole.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    let mut events = vec![named("message_start", json!({"message": start}))];
    for (index, block) in whole["content"].as_array().unwrap().iter().enumerate() {
        let mut start = block.clone();
        let mut deltas = Vec::new();
        match block["type"].as_str().unwrap() {
            "text" => {
                start["text"] = json!("");
                let text = dice.deltas(block["text"].as_str().unwrap());
                deltas.extend(text.iter().map(|text| json!({"type": "text_delta", "text": text})));
            }
            "thinking" => {
                start["thinking"] = json!("");
                start["signature"] = json!("");
                let text = dice.deltas(block["thinking"].as_str().unwrap());
                deltas.extend(text.iter().map(|text| json!({"type": "thinking_delta", "thinking": text})));
                deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
            }
            "tool_use" => {
                start["input"] = json!({});
                let text = block["input"].as_str().map_or_else(|| block["input"].to_string(), str::to_owned);
                let text = if text == "{}" { Vec::new() } else { dice.deltas(&text) };
                deltas.push(json!({"type": "input_json_delta", "partial_json": ""}));
                deltas.extend(
                    text.iter().map(|text| json!({"type": "input_json_delta", "partial_json": text})),
                );
            }
            _ => {}
        }
        events.push(named("content_block_start", json!({"index": index, "content_block": start})));
        let deltas = deltas.into_iter();
        events.extend(
            deltas.map(|delta| named("content_block_delta", json!({"index": index, "delta": delta}))),
        );
        events.push(named("content_block_stop", json!({"index": index})));
    }
    let delta = json!({"delta": {"stop_reason": whole["stop_reason"]}, "usage": {"output_tokens": 5}});
    events.push(named("message_delta", delta));
    events.push(named("message_stop", json!({})));
    events
}

fn responses(whole: &Value, dice: &mut Dice) -> Events {
    let mut events =
        vec![named("response.created", json!({"response": {"status": "in_progress", "output": []}}))];
    for (index, item) in whole["output"].as_array().unwrap().iter().enumerate() {
        let mut half = item.clone();
        for key in ["arguments", "encrypted_content"] {
            if half.get(key).is_some() {
                half[key] = json!("unfinished");
            }
        }
        events.push(named("response.output_item.added", json!({"output_index": index, "item": half})));
        let (kind, text) = match item["type"].as_str().unwrap() {
            "message" => ("response.output_text.delta", item.pointer("/content/0/text")),
            "reasoning" => ("response.reasoning_summary_text.delta", item.pointer("/summary/0/text")),
            _ => ("response.function_call_arguments.delta", item.get("arguments")),
        };
        let deltas = dice.deltas(text.and_then(Value::as_str).unwrap_or_default()).into_iter();
        events.extend(deltas.map(|delta| named(kind, json!({"output_index": index, "delta": delta}))));
        events.push(named("response.output_item.done", json!({"output_index": index, "item": item})));
    }
    let mut last = whole.clone();
    last["output"] = json!([]);
    let end = if whole["status"] == "incomplete" { "response.incomplete" } else { "response.completed" };
    events.push(named(end, json!({"response": last})));
    events
}

fn chat(whole: &Value, dice: &mut Dice) -> Events {
    let message = &whole["choices"][0]["message"];
    let chunk =
        |delta: Value| (String::new(), json!({"model": "m", "choices": [{"index": 0, "delta": delta}]}));
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}))];
    for key in ["content", "reasoning_content"] {
        let deltas = dice.deltas(message[key].as_str().unwrap_or_default());
        events.extend(
            deltas
                .into_iter()
                .map(|delta| chunk(Value::Object(Map::from_iter([(key.to_owned(), json!(delta))])))),
        );
    }
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let mut first = call.clone();
        first["index"] = json!(index);
        first["function"]["arguments"] = json!("");
        events.push(chunk(json!({"tool_calls": [first]})));
        let deltas = dice.deltas(call["function"]["arguments"].as_str().unwrap()).into_iter();
        events.extend(
            deltas.map(|delta| {
                chunk(json!({"tool_calls": [{"index": index, "function": {"arguments": delta}}]}))
            }),
        );
    }
    let finish = json!([{"index": 0, "delta": {}, "finish_reason": whole["choices"][0]["finish_reason"]}]);
    events.push((String::new(), json!({"model": "m", "choices": finish})));
    events.push((String::new(), json!({"model": "m", "choices": [], "usage": whole["usage"]})));
    events
}
