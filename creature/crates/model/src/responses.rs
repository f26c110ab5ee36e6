//! The OpenAI Responses wire, stateless: what a request is, and how a reply is put together and read. Pure.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value, json};

use crate::arguments::{self, Ids};
use crate::form::{Form, Part};
use crate::rounds::{Round, rounds};
use crate::stream::{Draft, End, Gather, Hear, Speech, count, set, word};
use crate::strict;
use crate::{Call, Endpoint, Heard, Medium, Talk, Tool, Usage};

pub(crate) struct Responses;

impl Speech for Responses {
    fn path(&self) -> &'static str {
        "/responses"
    }

    fn body(&self, endpoint: &Endpoint, talk: &Talk<'_>, form: Form) -> Value {
        let mut body = Map::new();
        let mut put = |key: &str, value| body.insert(key.to_owned(), value);
        put("model", json!(endpoint.model));
        put("max_output_tokens", json!(endpoint.max_tokens));
        put("store", json!(false));
        if form.has(Part::Encrypted) {
            put("include", json!(["reasoning.encrypted_content"]));
        }
        if !talk.system.trim().is_empty() {
            put("instructions", json!(talk.system));
        }
        if !talk.system.trim().is_empty() && form.has(Part::CacheKey) {
            // Requests with one key go to the machine that has their beginning in its cache.
            let mut hasher = DefaultHasher::new();
            talk.system.hash(&mut hasher);
            put("prompt_cache_key", json!(format!("feral-{:016x}", hasher.finish())));
        }
        if !talk.tools.is_empty() {
            put("tools", talk.tools.iter().map(|one| tool(one, form)).collect());
            put("parallel_tool_calls", json!(true));
        }
        let mut reasoning = Map::new();
        if form.has(Part::Summary) && !talk.tools.is_empty() {
            reasoning.insert("summary".to_owned(), json!("auto"));
        }
        if !endpoint.effort.is_empty() && form.has(Part::Effort) {
            reasoning.insert("effort".to_owned(), json!(endpoint.effort));
        }
        if !reasoning.is_empty() {
            put("reasoning", Value::Object(reasoning));
        }
        put("input", input(talk));
        if let Some(schema) = form.schema(talk) {
            let format = json!({"type": "json_schema", "name": "thought", "schema": schema, "strict": false});
            put("text", json!({"format": format}));
        }
        put("stream", json!(true));
        Value::Object(body)
    }

    fn ids(&self, raw: &Value) -> Vec<String> {
        let items = raw.as_array().into_iter().flatten();
        items.filter(|item| is_call(item)).map(|item| word(item, "call_id").to_owned()).collect()
    }

    fn gather(&self) -> Box<dyn Gather> {
        Box::new(Stream::default())
    }

    fn read(&self, whole: &Value, ids: &mut Ids) -> Option<Draft> {
        let mut draft = Draft { usage: usage(whole.get("usage")), ..Draft::default() };
        let (mut raw, mut refused, mut is_last_cut) = (Vec::new(), false, false);
        for item in whole.get("output")?.as_array()? {
            is_last_cut = false;
            match word(item, "type") {
                "message" => {
                    let parts = item.get("content").and_then(Value::as_array);
                    let said: String = parts.into_iter().flatten().map(said).collect();
                    if said.trim().is_empty() {
                        continue;
                    }
                    refused |= parts.into_iter().flatten().any(|part| word(part, "type") == "refusal");
                    draft.text.push_str(&said);
                }
                "reasoning" => {
                    // Open models have no summary, but what they thought.
                    let parts = |key: &str| item.get(key)?.as_array().filter(|parts| !parts.is_empty());
                    let parts = parts("summary").or(parts("content")).into_iter().flatten();
                    let parts: Vec<&str> = parts.map(|part| word(part, "text")).collect();
                    draft.thinking.push_str(&parts.join("\n\n"));
                }
                "function_call" => {
                    let (call, item) = call(item, ids);
                    is_last_cut = call.cut;
                    draft.calls.push(call);
                    raw.push(item);
                    continue;
                }
                _ => {}
            }
            raw.push(item.clone());
        }
        // Reasoning is refused without the item it led to.
        while raw.last().is_some_and(is_reasoning) {
            raw.pop();
        }
        let why = whole.pointer("/incomplete_details/reason").and_then(Value::as_str);
        draft.stop = match (word(whole, "status"), why) {
            ("incomplete", Some("max_output_tokens")) => "max_tokens",
            ("incomplete", Some("content_filter")) => "refusal",
            ("incomplete", Some(other)) => other,
            _ if is_last_cut => "max_tokens",
            _ if refused => "refusal",
            _ if !draft.calls.is_empty() => "tool_use",
            ("completed" | "", _) => "end_turn",
            (other, _) => other,
        }
        .to_owned();
        Some(Draft { raw: Value::Array(raw), ..draft })
    }
}

fn said(part: &Value) -> &str {
    match word(part, "text") {
        "" => word(part, "refusal"),
        text => text,
    }
}

fn call(item: &Value, ids: &mut Ids) -> (Call, Value) {
    let args = arguments::arguments(item.get("arguments"));
    let (id, name) = (ids.unique(word(item, "call_id")), word(item, "name").to_owned());
    let mut fit = item.clone();
    set(&mut fit, "call_id", json!(id));
    set(&mut fit, "name", json!(arguments::name(&name)));
    set(&mut fit, "arguments", json!(arguments::text(item.get("arguments"), &args)));
    (Call { id, name, args, cut: word(item, "status") == "incomplete" }, fit)
}

fn usage(usage: Option<&Value>) -> Usage {
    let read = count(usage, "/input_tokens_details/cached_tokens");
    let write = count(usage, "/input_tokens_details/cache_write_tokens");
    let prompt = count(usage, "/input_tokens");
    // Some makers leave thinking out of the output; the total has it.
    let beyond = if prompt > 0 { count(usage, "/total_tokens").saturating_sub(prompt) } else { 0 };
    Usage {
        input_tokens: prompt.saturating_sub(read).saturating_sub(write),
        output_tokens: count(usage, "/output_tokens").max(beyond),
        cache_read_tokens: read,
        cache_write_tokens: write,
        ..Usage::default()
    }
}

fn tool(tool: &Tool, form: Form) -> Value {
    // A tool that does not say so would be taken as strict.
    let closed = strict::closed(&tool.schema, true).filter(|_| tool.strict && form.has(Part::Strict));
    let (name, description, strict) = (&tool.name, &tool.description, closed.is_some());
    let parameters = closed.unwrap_or_else(|| tool.schema.clone());
    json!({"type": "function", "name": name, "description": description, "parameters": parameters, "strict": strict})
}

fn input(talk: &Talk<'_>) -> Value {
    let mut items = Vec::new();
    let mut seen = HashSet::new();
    for Round { thought, results, said } in
        rounds(talk.turns, |raw| fit(raw, talk.without_thinking, &mut seen))
    {
        if let Some(Value::Array(thought)) = thought {
            items.extend(thought);
        }
        for answer in results {
            items.push(json!({"type": "function_call_output", "call_id": answer.id, "output": answer.text}));
        }
        for text in said {
            items.push(json!({"role": "user", "content": [{"type": "input_text", "text": text}]}));
        }
    }
    if let Some(parts) = items.last_mut().and_then(|last| last.get_mut("content")?.as_array_mut()) {
        drop(parts.splice(0..0, talk.media.iter().map(Medium::responses_part)));
    }
    Value::Array(items)
}

/// Returns the part of a thought that is sent back: reasoning without an id, for the server stored none; no id twice.
fn fit(raw: &Value, without_thinking: bool, seen: &mut HashSet<String>) -> Option<(Value, Vec<String>)> {
    let mut items = Vec::new();
    for item in raw.as_array()?.iter().filter(|item| !without_thinking || !is_reasoning(item)) {
        let mut item = item.clone();
        let id = word(&item, "id").to_owned();
        // Where reasoning is left out, so are all ids: an item's id names the reasoning that led to it.
        let is_named = !without_thinking && !is_reasoning(&item) && (id.is_empty() || seen.insert(id));
        if let (Value::Object(fields), false) = (&mut item, is_named) {
            fields.shift_remove("id");
        }
        items.push(item);
    }
    let raw = Value::Array(items);
    let ids = Responses.ids(&raw);
    (raw != json!([])).then_some((raw, ids))
}

fn is_call(item: &Value) -> bool {
    word(item, "type") == "function_call"
}

fn is_reasoning(item: &Value) -> bool {
    word(item, "type") == "reasoning"
}

/// The place of an event's item in the reply.
fn place(event: &Value) -> u64 {
    event.get("output_index").and_then(Value::as_u64).unwrap_or(u64::MAX)
}

/// The events of a reply; only items that are done count.
#[derive(Default)]
struct Stream {
    /// Items with their place in the reply.
    items: Vec<(u64, Value)>,
    /// Arguments of the call at a place, as they were told before it was done.
    args: BTreeMap<u64, String>,
    /// Calls that were begun, and words, for servers that never say that one is done.
    begun: Vec<(u64, Value)>,
    said: String,
    response: Value,
}

impl Gather for Stream {
    fn event(&mut self, kind: &str, mut data: Value, hear: &mut Hear<'_>) -> End {
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.said.push_str(word(&data, "delta"));
                hear(Heard::Text(word(&data, "delta")))
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                hear(Heard::Thinking(word(&data, "delta")));
            }
            "response.output_item.added" => {
                if let Some(item) = data.get("item").filter(|item| is_call(item)) {
                    hear(Heard::Call(word(item, "name")));
                    self.begun.push((place(&data), item.clone()));
                }
            }
            "response.function_call_arguments.delta" => {
                self.args.entry(place(&data)).or_default().push_str(word(&data, "delta"));
            }
            "response.function_call_arguments.done" if !word(&data, "arguments").is_empty() => {
                self.args.insert(place(&data), word(&data, "arguments").to_owned());
            }
            "response.output_item.done" => {
                let Some(mut item) = data.get_mut("item").map(Value::take) else { return End::Open };
                self.begun.retain(|(begun, _)| *begun != place(&data));
                let is_bare =
                    is_call(&item) && item.get("arguments").is_none_or(|args| args == "" || args.is_null());
                if let Some(told) = self.args.remove(&place(&data)).filter(|_| is_bare) {
                    set(&mut item, "arguments", json!(told));
                }
                self.items.push((place(&data), item));
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                self.response = data.get_mut("response").map_or(Value::Null, Value::take);
                return End::Over;
            }
            _ => {}
        }
        End::Open
    }

    fn whole(mut self: Box<Self>) -> Value {
        let has_output = self.response.get("output").is_some_and(|output| *output != json!([]));
        if self.items.is_empty() && !has_output {
            if !self.said.trim().is_empty() {
                let content = json!([{"type": "output_text", "text": self.said}]);
                self.items.push((0, json!({"type": "message", "role": "assistant", "content": content})));
            }
            for (place, mut call) in self.begun {
                self.args
                    .remove(&place)
                    .into_iter()
                    .for_each(|told| set(&mut call, "arguments", json!(told)));
                self.items.push((place, call));
            }
        }
        self.items.sort_by_key(|(place, _)| *place);
        if !self.items.is_empty() {
            let items = self.items.into_iter().map(|(_, item)| item).collect();
            set(&mut self.response, "output", items);
        }
        self.response
    }
}
