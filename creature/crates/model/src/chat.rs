//! The chat completions wire: what a request and a reply are, at OpenAI and at those who imitate it. Pure.

use serde_json::{Map, Value, json};

use crate::arguments::{self, Ids};
use crate::form::{Form, Part};
use crate::rounds::{Round, rounds};
use crate::stream::{Draft, End, Gather, Hear, Speech, count, merge, set, word};
use crate::{Call, Endpoint, Heard, Talk, Tool, Usage};

/// Where servers put what a model thought; the first that is there is read.
const THINKING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

pub(crate) struct Chat;

impl Speech for Chat {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn body(&self, endpoint: &Endpoint, talk: &Talk<'_>, form: Form) -> Value {
        let mut body = Map::new();
        let mut put = |key: &str, value| body.insert(key.to_owned(), value);
        put("model", json!(endpoint.model));
        put("messages", messages(talk));
        let limit = if form.has(Part::OldLimit) { "max_tokens" } else { "max_completion_tokens" };
        put(limit, json!(endpoint.max_tokens));
        if !talk.tools.is_empty() {
            put("tools", talk.tools.iter().map(tool).collect());
            if form.has(Part::Parallel) {
                put("parallel_tool_calls", json!(true));
            }
        }
        if let (Some(schema), true, true) = (talk.schema, talk.tools.is_empty(), form.has(Part::Schema)) {
            let schema = json!({"name": "thought", "schema": schema});
            put("response_format", json!({"type": "json_schema", "json_schema": schema}));
        }
        if !endpoint.effort.is_empty() && form.has(Part::Effort) {
            put("reasoning_effort", json!(endpoint.effort));
        }
        put("stream", json!(true));
        if form.has(Part::StreamUsage) {
            put("stream_options", json!({"include_usage": true}));
        }
        Value::Object(body)
    }

    fn ids(&self, raw: &Value) -> Vec<String> {
        let calls = raw.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        calls.map(|call| word(call, "id").to_owned()).collect()
    }

    fn gather(&self) -> Box<dyn Gather> {
        Box::new(Stream { message: json!({"role": "assistant", "content": null}), ..Stream::default() })
    }

    fn read(&self, whole: &Value, ids: &mut Ids) -> Option<Draft> {
        let choice = whole.get("choices")?.as_array()?.first()?;
        let mut raw = choice.get("message")?.as_object()?.clone();
        raw.retain(|key, value| match key.as_str() {
            "content" => true,
            "tool_calls" => value.as_array().is_some_and(|calls| !calls.is_empty()),
            _ => !value.is_null(),
        });
        raw.insert("role".to_owned(), json!("assistant"));
        let given = raw.get_mut("tool_calls").and_then(Value::as_array_mut);
        let calls: Vec<Call> = given.into_iter().flatten().map(|given| call(given, ids)).collect();
        let refusal = raw.shift_remove("refusal").map(|refusal| content(Some(&refusal)));
        let refusal = refusal.filter(|said| !said.is_empty());
        // A refusal's words go back as content: a message needs some.
        let said =
            Some(content(raw.get("content"))).filter(|said| !said.trim().is_empty()).or(refusal.clone());
        let text = said.unwrap_or_default();
        if text.is_empty() || refusal.is_some() {
            raw.insert("content".to_owned(), if text.is_empty() { Value::Null } else { json!(text) });
        }
        let (aloud, text) = aloud(&text);
        let thinking = THINKING.iter().map(|key| content(raw.get(*key))).find(|text| !text.is_empty());
        let stop = match (&refusal, word(choice, "finish_reason")) {
            (Some(_), _) | (_, "content_filter") => "refusal",
            (_, "length") => "max_tokens",
            (_, "stop" | "tool_calls" | "function_call" | "") if !calls.is_empty() => "tool_use",
            (_, "stop" | "tool_calls" | "function_call") => "end_turn",
            (_, other) => other,
        };
        Some(Draft {
            text: text.to_owned(),
            thinking: thinking.unwrap_or_else(|| aloud.to_owned()),
            calls,
            usage: usage(whole.get("usage")),
            stop: stop.to_owned(),
            raw: Value::Object(raw),
        })
    }
}

/// Makes a call fit to be sent back, and reads it.
fn call(given: &mut Value, ids: &mut Ids) -> Call {
    let mut function = given.get_mut("function").map_or(Value::Null, Value::take);
    let name = word(&function, "name").to_owned();
    let args = arguments::arguments(function.get("arguments"));
    let text = arguments::text(function.get("arguments"), &args);
    set(&mut function, "name", json!(arguments::name(&name)));
    set(&mut function, "arguments", json!(text));
    let id = ids.unique(word(given, "id"));
    set(given, "id", json!(id));
    set(given, "type", json!("function"));
    set(given, "function", function);
    given.as_object_mut().and_then(|given| given.shift_remove("index"));
    Call { id, name, args, cut: false }
}

fn content(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

/// The thinking that stands in `<think>` before the words, and the words.
fn aloud(text: &str) -> (&str, &str) {
    let thought = text.trim_start().strip_prefix("<think>").and_then(|rest| rest.split_once("</think>"));
    thought.map_or(("", text), |(thought, text)| (thought.trim(), text.trim_start()))
}

fn usage(usage: Option<&Value>) -> Usage {
    let read = count(usage, "/prompt_tokens_details/cached_tokens");
    let write = count(usage, "/prompt_tokens_details/cache_write_tokens");
    Usage {
        input_tokens: count(usage, "/prompt_tokens").saturating_sub(read).saturating_sub(write),
        output_tokens: count(usage, "/completion_tokens"),
        cache_read_tokens: read,
        cache_write_tokens: write,
    }
}

/// Never strict: some of those who imitate OpenAI refuse the word.
fn tool(tool: &Tool) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
    json!({"type": "function", "function": function})
}

/// One system message first, then user and model in turn: many local templates refuse two of a role in a row.
fn messages(talk: &Talk<'_>) -> Value {
    let mut messages = Vec::new();
    if !talk.system.trim().is_empty() {
        messages.push(json!({"role": "system", "content": talk.system}));
    }
    for Round { thought, results, said } in rounds(talk.turns, |raw| fit(raw, talk.without_thinking)) {
        let calls = thought.as_ref().and_then(|thought| thought.get("tool_calls")).cloned();
        messages.extend(thought);
        for answer in results {
            // Gemini's address wants the name again.
            let call = calls.as_ref().and_then(Value::as_array).into_iter().flatten();
            let name = call
                .filter(|call| word(call, "id") == answer.id)
                .find_map(|call| call.pointer("/function/name"));
            messages.push(
                json!({"role": "tool", "tool_call_id": answer.id, "name": name, "content": answer.text}),
            );
        }
        if !said.is_empty() {
            messages.push(json!({"role": "user", "content": said.join("\n\n")}));
        }
    }
    Value::Array(messages)
}

/// What of a thought is sent back, and the ids of its calls; none where nothing is.
fn fit(raw: &Value, without_thinking: bool) -> Option<(Value, Vec<String>)> {
    let mut message = raw.as_object()?.clone();
    message.retain(|key, _| !(without_thinking && THINKING.contains(&key.as_str())));
    let says =
        ["content", "refusal"].iter().any(|key| message.get(*key).is_some_and(|value| !value.is_null()));
    let raw = Value::Object(message);
    let ids = Chat.ids(&raw);
    (says || !ids.is_empty()).then_some((raw, ids))
}

/// The chunks of a reply.
#[derive(Default)]
struct Stream {
    message: Value,
    calls: Vec<Value>,
    finish: Value,
    model: Value,
    usage: Value,
}

impl Stream {
    fn delta(&mut self, delta: Value, hear: &mut Hear<'_>) {
        let Value::Object(delta) = delta else { return };
        let thinking = THINKING.iter().find(|key| delta.get(**key).is_some_and(Value::is_string));
        for (key, more) in delta {
            match (key.as_str(), more) {
                ("role", _) => {}
                ("tool_calls", Value::Array(calls)) => {
                    calls.into_iter().for_each(|call| self.call(call, hear))
                }
                (name, more) => {
                    let said = content(Some(&more));
                    match name {
                        _ if said.is_empty() => {}
                        "content" => hear(Heard::Text(&said)),
                        _ if thinking == Some(&name) => hear(Heard::Thinking(&said)),
                        _ => {}
                    }
                    if let Value::Object(message) = &mut self.message {
                        merge(message.entry(key).or_insert(Value::Null), more);
                    }
                }
            }
        }
    }

    /// Servers leave out the index, the id or both, give every call the index 0, or repeat the name.
    fn call(&mut self, mut more: Value, hear: &mut Hear<'_>) {
        let mut function = more.get_mut("function").map_or(Value::Null, Value::take);
        let (id, name) = (word(&more, "id").to_owned(), word(&function, "name").to_owned());
        let args = match function.get_mut("arguments").map(Value::take) {
            Some(Value::String(text)) => text,
            None | Some(Value::Null) => String::new(),
            Some(object) => object.to_string(),
        };
        let index = more.get("index").filter(|index| index.is_u64());
        let other =
            |there: &Value| !id.is_empty() && !word(there, "id").is_empty() && word(there, "id") != id;
        let complete =
            |there: &Value| serde_json::from_str::<Map<String, Value>>(arguments_of(there)).is_ok();
        let at = match index {
            Some(index) => self.calls.iter().rposition(|there| there.get("index") == Some(index)),
            None if !id.is_empty() => self.calls.iter().rposition(|there| word(there, "id") == id),
            None => self.calls.len().checked_sub(1),
        };
        let there = at.and_then(|at| self.calls.get_mut(at)).filter(|there| {
            // Without index and id, a name with arguments from their beginning is a call of its own.
            let begins = args.trim_start().starts_with('{') || (!args.is_empty() && complete(there));
            let another = index.is_none() && id.is_empty() && !name.is_empty() && begins;
            !other(there) && !another
        });
        if let Some(there) = there {
            let mut function = there.get_mut("function").map_or(Value::Null, Value::take);
            let known = word(&function, "name").to_owned();
            let whole = if known.ends_with(&name) { known } else { known + &name };
            let args = word(&function, "arguments").to_owned() + &args;
            set(&mut function, "name", json!(whole));
            set(&mut function, "arguments", json!(args));
            set(there, "function", function);
            return;
        }
        hear(Heard::Call(&name));
        set(&mut function, "name", json!(name));
        set(&mut function, "arguments", json!(args));
        set(&mut more, "function", function);
        self.calls.push(more);
    }
}

fn arguments_of(call: &Value) -> &str {
    call.get("function").map_or("", |function| word(function, "arguments"))
}

impl Gather for Stream {
    fn event(&mut self, _: &str, mut data: Value, hear: &mut Hear<'_>) -> End {
        for (key, kept) in [("model", &mut self.model), ("usage", &mut self.usage)] {
            if let Some(value) = data.get_mut(key).filter(|value| !value.is_null()) {
                *kept = value.take();
            }
        }
        let choice = data.pointer_mut("/choices/0");
        let Some(choice) = choice else { return End::Open };
        if let Some(delta) = choice.get_mut("delta") {
            self.delta(delta.take(), hear);
        }
        match choice.get_mut("finish_reason") {
            Some(Value::String(reason)) if !reason.is_empty() => {
                self.finish = json!(reason);
                End::Enough
            }
            _ => End::Open,
        }
    }

    fn whole(mut self: Box<Self>) -> Value {
        if !self.calls.is_empty() {
            set(&mut self.message, "tool_calls", Value::Array(self.calls));
        }
        let choice = json!({"message": self.message, "finish_reason": self.finish});
        json!({"model": self.model, "choices": [choice], "usage": self.usage})
    }
}
