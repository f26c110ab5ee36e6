//! The chat completions wire: what a request and a reply are, at OpenAI and at those who imitate it. Pure.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::arguments::{self, Ids};
use crate::content::{self, THINKING};
use crate::form::{Form, Part};
use crate::pieces::Calls;
use crate::rounds::{Round, rounds};
use crate::stream::{Draft, End, Gather, Hear, Speech, count, set, word};
use crate::{Answer, Call, Endpoint, Heard, Medium, Talk, Tool, Usage};

/// Stands before words of ours in a message that holds a result.
const BESIDE: &str = "(That was the result. What follows was said beside it:)";

pub(crate) struct Chat;

impl Speech for Chat {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn body(&self, endpoint: &Endpoint, talk: &Talk<'_>, form: Form) -> Value {
        let mut body = Map::new();
        let mut put = |key: &str, value| body.insert(key.to_owned(), value);
        put("model", json!(endpoint.model));
        put("messages", messages(talk, form));
        let limit = if form.has(Part::OldLimit) { "max_tokens" } else { "max_completion_tokens" };
        put(limit, json!(endpoint.max_tokens));
        if !talk.tools.is_empty() {
            put("tools", talk.tools.iter().map(tool).collect());
            if form.has(Part::Parallel) {
                put("parallel_tool_calls", json!(form.has(Part::SeveralCalls)));
            }
        }
        if let Some((_, format)) = response_format(talk, form) {
            put("response_format", format);
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

    fn asks_for_json(&self, talk: &Talk<'_>, form: Form) -> Option<Part> {
        response_format(talk, form).map(|(part, _)| part)
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
        renewed(&mut raw);
        raw.retain(|key, value| match key.as_str() {
            "content" => true,
            "tool_calls" => value.as_array().is_some_and(|calls| !calls.is_empty()),
            _ => !value.is_null(),
        });
        raw.insert("role".to_owned(), json!("assistant"));
        let given = raw.get_mut("tool_calls").and_then(Value::as_array_mut);
        let calls: Vec<Call> = given.into_iter().flatten().map(|given| call(given, ids)).collect();
        let refusal = raw.shift_remove("refusal").map(|refusal| content::said(Some(&refusal)));
        let refusal = refusal.filter(|said| !said.is_empty());
        let said = content::said(raw.get("content"));
        let thought = content::thought(raw.get("content"));
        // A refusal's words go back as content: a message needs some.
        let said = Some(said).filter(|said| !said.trim().is_empty()).or(refusal.clone());
        let text = said.unwrap_or_default();
        if (text.is_empty() && thought.is_empty()) || refusal.is_some() {
            raw.insert("content".to_owned(), if text.is_empty() { Value::Null } else { json!(text) });
        }
        let apart = THINKING.iter().map(|key| content::said(raw.get(*key))).find(|text| !text.is_empty());
        let apart = apart.or(Some(thought).filter(|thought| !thought.is_empty()));
        let (thinking, text) = match apart {
            Some(thinking) => (thinking, text.as_str()),
            None => {
                let (thinking, text) = content::aloud(&text);
                (thinking.to_owned(), text)
            }
        };
        let stop = match (&refusal, word(choice, "finish_reason")) {
            (Some(_), _) | (_, "content_filter") => "refusal",
            (_, "length") => "max_tokens",
            (_, "stop" | "tool_calls" | "function_call" | "") if !calls.is_empty() => "tool_use",
            (_, "stop" | "tool_calls" | "function_call") => "end_turn",
            // Z.ai's word.
            (_, "model_context_window_exceeded") => "window",
            (_, other) => other,
        };
        Some(Draft {
            text: text.to_owned(),
            thinking,
            calls,
            usage: usage(whole.get("usage").filter(|usage| usage.is_object()).or(choice.get("usage"))),
            stop: stop.to_owned(),
            raw: Value::Object(raw),
        })
    }
}

/// The form that a reply is held to, and the part of a request that says so: a schema, else an object of any form. That is
/// all that DeepSeek takes (api-docs.deepseek.com, JSON Output), and just what LM Studio refuses
/// (lmstudio-ai/lmstudio-bug-tracker, issue 189).
fn response_format(talk: &Talk<'_>, form: Form) -> Option<(Part, Value)> {
    let schema = json!({"name": "thought", "schema": talk.reply_schema()?});
    match form.has(Part::Schema) {
        true => Some((Part::Schema, json!({"type": "json_schema", "json_schema": schema}))),
        false => form.has(Part::Object).then(|| (Part::Object, json!({"type": "json_object"}))),
    }
}

/// Makes a call fit to be sent back, and reads it.
fn call(given: &mut Value, ids: &mut Ids) -> Call {
    let mut function = arguments::function(given);
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

/// Puts a call where it stands now: the old `function_call`, or one call where a list is due.
fn renewed(message: &mut Map<String, Value>) {
    let old = message.shift_remove("function_call").filter(Value::is_object);
    match message.get_mut("tool_calls") {
        Some(Value::Array(calls)) if !calls.is_empty() => {}
        Some(one @ Value::Object(_)) => *one = json!([one.take()]),
        _ => drop(old.map(|old| message.insert("tool_calls".to_owned(), json!([{"function": old}])))),
    }
}

/// The counts of a reply under whichever of their names they stand: OpenAI's, those of its Responses, Moonshot's and
/// DeepSeek's of what was cached. Some makers leave thinking out of the completion; the total has it.
fn usage(usage: Option<&Value>) -> Usage {
    let first = |paths: &[&str]| paths.iter().map(|path| count(usage, path)).find(|count| *count > 0);
    let cached = ["/prompt_tokens_details/cached_tokens", "/cached_tokens", "/prompt_cache_hit_tokens"];
    let read = first(&cached).unwrap_or(0);
    let write = count(usage, "/prompt_tokens_details/cache_write_tokens");
    let prompt = first(&["/prompt_tokens", "/input_tokens"]).unwrap_or(0);
    let said = first(&["/completion_tokens", "/output_tokens"]).unwrap_or(0);
    let beyond = count(usage, "/total_tokens").saturating_sub(prompt);
    Usage {
        input_tokens: prompt.saturating_sub(read).saturating_sub(write),
        output_tokens: said.max(if prompt > 0 { beyond } else { 0 }),
        cache_read_tokens: read,
        cache_write_tokens: write,
        ..Usage::default()
    }
}

/// Writes a tool, never strict: some of those who imitate OpenAI refuse the word.
fn tool(tool: &Tool) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
    json!({"type": "function", "function": function})
}

/// Puts one system message first, then user and model in turn: many local templates refuse two of a role in a row.
fn messages(talk: &Talk<'_>, form: Form) -> Value {
    let mut messages = Vec::new();
    if !talk.system.trim().is_empty() {
        messages.push(json!({"role": "system", "content": talk.system}));
    }
    for Round { thought, results, said } in rounds(talk.turns, |raw| fit(raw, talk.without_thinking)) {
        let calls = thought.as_ref().and_then(|thought| thought.get("tool_calls")?.as_array().cloned());
        let calls = calls.unwrap_or_default();
        let mut answers = results.iter().map(|answer| result(answer, &calls)).collect::<Vec<_>>().into_iter();
        match thought {
            Some(thought) if calls.len() > 1 && !form.has(Part::SeveralCalls) => {
                for one in apart(&thought, &calls) {
                    messages.push(one);
                    messages.extend(answers.next());
                }
            }
            thought => messages.extend(thought),
        }
        messages.extend(answers);
        let words = said.join("\n\n");
        match messages.last_mut().filter(|last| word(last, "role") == "tool") {
            _ if words.is_empty() => {}
            Some(last) if !form.has(Part::WordsAfterResults) => {
                let together = format!("{}\n\n{BESIDE}\n{words}", word(last, "content"));
                set(last, "content", json!(together));
            }
            _ => messages.push(json!({"role": "user", "content": words})),
        }
    }
    if let Some(last) = messages.last_mut().filter(|_| !talk.media.is_empty()) {
        let words = json!({"type": "text", "text": word(last, "content")});
        let parts = talk.media.iter().map(Medium::chat_part).chain([words]).collect();
        set(last, "content", parts);
    }
    if !form.has(Part::GivenIds) {
        renumbered(&mut messages);
    }
    Value::Array(messages)
}

/// Gives calls ids of nine letters and digits, in their order, so that a longer conversation begins the same.
fn renumbered(messages: &mut [Value]) {
    let mut known: HashMap<String, String> = HashMap::new();
    for message in messages {
        for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            let number = known.len() + 1;
            let id = known
                .entry(word(call, "id").to_owned())
                .or_insert_with(|| format!("call{number:05}"))
                .clone();
            set(call, "id", json!(id));
        }
        let id = known.get(word(message, "tool_call_id")).cloned();
        id.into_iter().for_each(|id| set(message, "tool_call_id", json!(id)));
    }
}

fn result(answer: &Answer, calls: &[Value]) -> Value {
    // Gemini's address wants the name again.
    let call = calls.iter().find(|call| word(call, "id") == answer.id);
    let name = call.and_then(|call| call.pointer("/function/name"));
    json!({"role": "tool", "tool_call_id": answer.id, "name": name, "content": answer.text})
}

/// Splits a thought into several, each with one of its calls; the words stand in the first.
fn apart(thought: &Value, calls: &[Value]) -> Vec<Value> {
    let one = |(at, call): (usize, &Value)| {
        let alone = json!({"role": "assistant", "content": null});
        let mut one = if at == 0 { thought.clone() } else { alone };
        set(&mut one, "tool_calls", json!([call]));
        one
    };
    calls.iter().enumerate().map(one).collect()
}

/// Returns the part of a thought that is sent back, and the ids of its calls; none where nothing is left.
fn fit(raw: &Value, without_thinking: bool) -> Option<(Value, Vec<String>)> {
    let mut message = raw.as_object()?.clone();
    message.retain(|key, _| !(without_thinking && THINKING.contains(&key.as_str())));
    if let (Some(Value::Array(parts)), true) = (message.get_mut("content"), without_thinking) {
        parts.retain(|part| !content::is_thinking(part));
    }
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
    calls: Calls,
    /// Calls in the old form, `function_call`; some servers send both.
    old_calls: Calls,
    finish: Value,
    model: Value,
    usage: Value,
}

impl Stream {
    fn delta(&mut self, delta: Value, hear: &mut Hear<'_>) {
        let Value::Object(mut delta) = delta else { return };
        if let Some(old) = delta.shift_remove("function_call").filter(Value::is_object) {
            let mut deaf = |_: Heard<'_>| {};
            self.old_calls.take(vec![json!({"function": old})], &mut deaf);
        }
        let says = |key: &&&str| delta.get(**key).is_some_and(|more| !content::said(Some(more)).is_empty());
        let thinking = THINKING.iter().find(says);
        for (key, more) in delta {
            match (key.as_str(), more) {
                ("role", _) => {}
                ("tool_calls", Value::Array(calls)) => self.calls.take(calls, hear),
                ("tool_calls", one @ Value::Object(_)) => self.calls.take(vec![one], hear),
                (name, more) => {
                    let (said, thought) = (content::said(Some(&more)), content::thought(Some(&more)));
                    match name {
                        "content" if !said.is_empty() => hear(Heard::Text(&said)),
                        "content" if !thought.is_empty() => hear(Heard::Thinking(&thought)),
                        _ if thinking == Some(&name) => hear(Heard::Thinking(&said)),
                        _ => {}
                    }
                    if let Value::Object(message) = &mut self.message {
                        content::join(message.entry(key).or_insert(Value::Null), more);
                    }
                }
            }
        }
    }
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
        // Moonshot's place for it.
        if let Some(usage) = choice.get_mut("usage").filter(|usage| !usage.is_null()) {
            self.usage = usage.take();
        }
        // Some gateways wrap a whole reply into one event.
        for part in ["delta", "message"] {
            if let Some(delta) = choice.get_mut(part) {
                self.delta(delta.take(), hear);
            }
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
        let calls = if self.calls.is_empty() { self.old_calls } else { self.calls };
        if !calls.is_empty() {
            set(&mut self.message, "tool_calls", Value::Array(calls.whole()));
        }
        let choice = json!({"message": self.message, "finish_reason": self.finish});
        json!({"model": self.model, "choices": [choice], "usage": self.usage})
    }
}
