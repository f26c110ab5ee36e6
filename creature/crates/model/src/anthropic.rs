//! The Anthropic Messages wire: what a request is, and how a reply is put together and read. Pure.

use serde_json::{Map, Value, json};

use crate::arguments::{self, Ids};
use crate::form::{Form, Part};
use crate::rounds::{Round, rounds};
use crate::stream::{Draft, End, Gather, Hear, Speech, count, merge, set, word};
use crate::strict;
use crate::{Call, Endpoint, Heard, Medium, Talk, Tool, Usage, pieces};

pub(crate) const VERSION: &str = "2023-06-01";

pub(crate) struct Anthropic;

impl Speech for Anthropic {
    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn body(&self, endpoint: &Endpoint, talk: &Talk<'_>, form: Form) -> Value {
        let mut body = Map::new();
        let mut put = |key: &str, value| body.insert(key.to_owned(), value);
        put("model", json!(endpoint.model));
        put("max_tokens", json!(endpoint.max_tokens));
        if !talk.tools.is_empty() {
            put("tools", talk.tools.iter().map(|one| tool(one, form)).collect());
            // Else what the model says between calls would come as thinking without its words.
            if form.has(Part::Summary) && version(&endpoint.model).is_some_and(thinks_always) {
                put("thinking", json!({"type": "adaptive", "display": "summarized"}));
            }
        }
        if !talk.system.trim().is_empty() {
            put("system", json!([marked(text(talk.system), form.has(Part::Hour))]));
        }
        let news = form.has(Part::SystemNews) && version(&endpoint.model).is_some_and(takes_news);
        put("messages", messages(talk, news, form.has(Part::Hour)));
        let mut output = Map::new();
        if let Some(schema) = form.schema(talk) {
            output.insert("format".to_owned(), json!({"type": "json_schema", "schema": schema}));
        }
        if !endpoint.effort.is_empty() && form.has(Part::Effort) {
            output.insert("effort".to_owned(), json!(endpoint.effort));
        }
        if !output.is_empty() {
            put("output_config", Value::Object(output));
        }
        put("stream", json!(true));
        Value::Object(body)
    }

    fn ids(&self, raw: &Value) -> Vec<String> {
        let blocks = raw.as_array().into_iter().flatten();
        blocks
            .filter(|block| word(block, "type") == "tool_use")
            .map(|block| word(block, "id").to_owned())
            .collect()
    }

    fn gather(&self) -> Box<dyn Gather> {
        Box::new(Stream { message: json!({}), blocks: Vec::new() })
    }

    fn read(&self, whole: &Value, ids: &mut Ids) -> Option<Draft> {
        let mut draft = Draft { usage: usage(whole.get("usage")), ..Draft::default() };
        let mut raw = Vec::new();
        let one = whole.get("content")?.as_str().map(|words| vec![text(words)]);
        for block in one.as_ref().or(whole.get("content")?.as_array())? {
            match word(block, "type") {
                // The server refuses its own empty text.
                "text" if word(block, "text").trim().is_empty() => continue,
                "text" => draft.text.push_str(word(block, "text")),
                "thinking" => draft.thinking.push_str(word(block, "thinking")),
                "tool_use" => {
                    let (call, block) = call(block, ids);
                    draft.calls.push(call);
                    raw.push(block);
                    continue;
                }
                _ => {}
            }
            raw.push(block.clone());
        }
        // The server refuses a turn that ends with thinking.
        while raw.last().is_some_and(is_thinking) {
            raw.pop();
        }
        draft.stop = match word(whole, "stop_reason") {
            "model_context_window_exceeded" => "window",
            other => other,
        }
        .to_owned();
        Some(Draft { raw: Value::Array(raw), ..draft })
    }
}

fn call(block: &Value, ids: &mut Ids) -> (Call, Value) {
    let fits = |id: &&str| id.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter));
    let id = ids.unique(Some(word(block, "id")).filter(fits).unwrap_or_default());
    let args = arguments::arguments(block.get("input"));
    let (name, mut block) = (word(block, "name").to_owned(), block.clone());
    set(&mut block, "id", json!(id));
    set(&mut block, "name", json!(arguments::name(&name)));
    set(&mut block, "input", Value::Object(args.clone().unwrap_or_default()));
    (Call { id, name, args, cut: false }, block)
}

fn usage(usage: Option<&Value>) -> Usage {
    Usage {
        input_tokens: count(usage, "/input_tokens"),
        output_tokens: count(usage, "/output_tokens"),
        cache_read_tokens: count(usage, "/cache_read_input_tokens"),
        cache_write_tokens: count(usage, "/cache_creation_input_tokens"),
        cache_write_hour_tokens: count(usage, "/cache_creation/ephemeral_1h_input_tokens"),
    }
}

fn tool(tool: &Tool, form: Form) -> Value {
    let mut one = json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema});
    let closed = strict::closed(&tool.schema, false).filter(|_| tool.strict && form.has(Part::Strict));
    if let Some(closed) = closed {
        set(&mut one, "input_schema", closed);
        set(&mut one, "strict", json!(true));
    }
    one
}

/// Puts cache marks at the first block, and at both ends of the last step: the block that the request before marked
/// last is marked again, for a read looks only some blocks back from a mark, and a step of many calls is longer than
/// that. With `hour` the first block's mark holds for an hour; longer marks come before shorter ones.
fn messages(talk: &Talk<'_>, news: bool, hour: bool) -> Value {
    let rounds = rounds(talk.turns, |raw| fit(raw, talk.without_thinking));
    let last = rounds.len().saturating_sub(1);
    let mut messages = Vec::new();
    for (number, Round { thought, results, said }) in rounds.into_iter().enumerate() {
        messages.extend(thought.map(|content| json!({"role": "assistant", "content": content})));
        let as_system = news && !results.is_empty() && !said.is_empty();
        let mut content: Vec<Value> = results
            .iter()
            .map(|answer| {
                let mut block =
                    json!({"type": "tool_result", "tool_use_id": answer.id, "content": answer.text});
                if answer.failed {
                    set(&mut block, "is_error", json!(true));
                }
                block
            })
            .collect();
        if !as_system {
            content.extend(said.iter().copied().map(text));
        }
        let end = content.len().saturating_sub(1);
        let is_end = number == last || number + 1 == last;
        // What is shown once is not worth a place in the cache.
        let is_kept = talk.media.is_empty();
        let is_marked = |at: usize| is_kept && ((number == 0 && at == 0) || (is_end && at == end));
        let content = content.into_iter().enumerate();
        let mark = |at: usize, block| marked(block, hour && number == 0 && at == 0);
        let mut content: Value =
            content.map(|(at, block)| if is_marked(at) { mark(at, block) } else { block }).collect();
        if let (true, Some(content)) = (number == last, content.as_array_mut()) {
            drop(content.splice(0..0, talk.media.iter().map(Medium::block)));
        }
        messages.push(json!({"role": "user", "content": content}));
        if as_system {
            messages.push(json!({"role": "system", "content": said.join("\n\n")}));
        }
    }
    Value::Array(messages)
}

/// Returns the part of a thought that is sent back, and the ids of its calls; none where nothing is left.
fn fit(raw: &Value, without_thinking: bool) -> Option<(Value, Vec<String>)> {
    let blocks = raw.as_array()?.iter().filter(|block| !without_thinking || !is_thinking(block)).cloned();
    let raw: Value = blocks.collect();
    let ids = Anthropic.ids(&raw);
    (raw != json!([])).then_some((raw, ids))
}

fn is_thinking(block: &Value) -> bool {
    matches!(word(block, "type"), "thinking" | "redacted_thinking")
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn marked(mut block: Value, hour: bool) -> Value {
    let mark = if hour { json!({"type": "ephemeral", "ttl": "1h"}) } else { json!({"type": "ephemeral"}) };
    set(&mut block, "cache_control", mark);
    block
}

/// Family, major and minor version of a name like `claude-opus-5-5-20261001`.
fn version(model: &str) -> Option<(&str, u32, u32)> {
    let name = model.rsplit('/').next()?.strip_prefix("claude-")?;
    let mut words = name.split(['-', '.', '@']);
    let family = words.next()?;
    let mut number = || words.next().and_then(|word| word.parse().ok()).filter(|number| *number < 100);
    let major = number()?;
    Some((family, major, number().unwrap_or(0)))
}

/// Whether the model takes a message of the role `system` after the results.
fn takes_news((family, major, minor): (&str, u32, u32)) -> bool {
    match family {
        "opus" => (major, minor) >= (4, 8),
        "fable" => major >= 5,
        "sonnet" => (major, minor) >= (5, 5),
        _ => false,
    }
}

/// Whether what the model says between calls comes as thinking, hidden if nobody asks for it.
fn thinks_always((family, major, minor): (&str, u32, u32)) -> bool {
    match family {
        "opus" | "sonnet" => (major, minor) >= (5, 5),
        "fable" => (major, minor) >= (5, 1),
        _ => false,
    }
}

/// The events of a reply.
struct Stream {
    message: Value,
    /// Index, block, and a call's arguments as text, in pieces.
    blocks: Vec<(u64, Value, Vec<String>)>,
}

impl Stream {
    fn block(&mut self, data: &Value) -> Option<&mut (u64, Value, Vec<String>)> {
        match data.get("index").and_then(Value::as_u64) {
            Some(index) => self.blocks.iter_mut().find(|(at, ..)| *at == index),
            None => self.blocks.last_mut(),
        }
    }

    fn delta(&mut self, data: &Value, hear: &mut Hear<'_>) -> Option<()> {
        if self.block(data).is_none() {
            // Its start was left out; a call's cannot be.
            let block = match data.pointer("/delta/type")?.as_str()? {
                "text_delta" => text(""),
                "thinking_delta" => json!({"type": "thinking", "thinking": ""}),
                _ => return None,
            };
            self.blocks.push((data.get("index").and_then(Value::as_u64).unwrap_or(0), block, Vec::new()));
        }
        let (_, block, input) = self.block(data)?;
        for (key, more) in data.get("delta")?.as_object()? {
            match (key.as_str(), more) {
                ("type", _) => continue,
                ("partial_json", Value::String(more)) => input.push(more.clone()),
                ("text", Value::String(more)) => hear(Heard::Text(more)),
                ("thinking", Value::String(more)) => hear(Heard::Thinking(more)),
                _ => {}
            }
            match key.as_str() {
                "partial_json" => {}
                "citation" => {
                    merge(block.as_object_mut()?.entry("citations").or_insert(json!([])), json!([more]))
                }
                _ => merge(block.as_object_mut()?.entry(key.as_str()).or_insert(Value::Null), more.clone()),
            }
        }
        Some(())
    }
}

impl Gather for Stream {
    fn event(&mut self, kind: &str, mut data: Value, hear: &mut Hear<'_>) -> End {
        match kind {
            "message_start" => self.message = data.get_mut("message").map_or(json!({}), Value::take),
            "content_block_start" => {
                let block = data.get_mut("content_block").map_or(json!({}), Value::take);
                match word(&block, "type") {
                    "tool_use" => hear(Heard::Call(word(&block, "name"))),
                    "text" if !word(&block, "text").is_empty() => hear(Heard::Text(word(&block, "text"))),
                    _ => {}
                }
                let index = data.get("index").and_then(Value::as_u64).unwrap_or(self.blocks.len() as u64);
                self.blocks.push((index, block, Vec::new()));
            }
            "content_block_delta" => drop(self.delta(&data, hear)),
            "message_delta" => {
                for (key, more) in data.get_mut("delta").and_then(Value::as_object_mut).into_iter().flatten()
                {
                    set(&mut self.message, key, more.take());
                }
                // The usage told here is the sum so far; a number left out stands as it was at the start.
                let mut usage = self.message.get_mut("usage").map_or(json!({}), Value::take);
                for (key, more) in data.get_mut("usage").and_then(Value::as_object_mut).into_iter().flatten()
                {
                    if !more.is_null() {
                        set(&mut usage, key, more.take());
                    }
                }
                set(&mut self.message, "usage", usage);
            }
            "message_stop" => return End::Over,
            _ => {}
        }
        End::Open
    }

    fn whole(mut self: Box<Self>) -> Value {
        let blocks = std::mem::take(&mut self.blocks).into_iter().map(|(_, mut block, input)| {
            if input.iter().any(|piece| !piece.is_empty()) {
                set(&mut block, "input", json!(pieces::joined(&input)));
            }
            block
        });
        let blocks = blocks.collect();
        set(&mut self.message, "content", blocks);
        self.message
    }
}
