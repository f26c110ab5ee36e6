//! JSON thoughts of shapes that models fall into, brought into the one that was asked for. Pure.
//!
//! Invariant: what looks like a call is among the calls in the end, or the whole thought is refused with words.

use super::thought::found;
use model::repair::{self, Found};
use serde_json::{Map, Value, json};

/// Keys of a thought as it was asked for, and the names models have for its words.
pub(super) const KNOWN: [&str; 6] = ["monologue", "thought", "thinking", "intent", "tool_calls", "sleep_s"];

/// Other keys under which calls stand, one or a list.
const CALLS: [&str; 8] =
    ["tool_calls", "tool_call", "calls", "actions", "action", "function_call", "function_calls", "toolCalls"];

/// Keys under which a call's arguments stand.
pub(super) const ARGS: [&str; 9] = [
    "args",
    "args_json",
    "arguments",
    "parameters",
    "params",
    "input",
    "action_input",
    "tool_input",
    "kwargs",
];

/// Keys under which a call names its tool.
pub(super) const TOOL: [&str; 5] = ["tool", "name", "tool_name", "action", "function"];

/// Parts of a key's name that speak of calls.
const LIKE_CALLS: [&str; 5] = ["tool", "action", "call", "function", "command"];

/// Tags before calls in JSON: Hermes' and Qwen's, Mistral's, Llama's.
const TAGS: [&str; 4] = ["<tool_call>", "[TOOL_CALLS]", "<|python_tag|>", "<|tool_call|>"];

/// Tags before calls that are not in JSON, or whose tool stands in the tag.
const OTHER_TAGS: [&str; 5] = ["<function=", "<function_calls>", "<invoke", "<tool_use>", "<\u{ff5c}tool"];

/// Thoughts within one another that are unwrapped.
const DEEPEST: usize = 4;

/// The words of a reply in which nothing is, or begins to be, a thought in JSON or a call.
pub(super) fn prose(text: &str) -> Option<&str> {
    let text = repair::after_thinking(text).trim();
    let is_named = |key: &str| text.contains(&format!("\"{key}\""));
    let is_marked_up = text.starts_with(['{', '[', '<']) || text.starts_with("```json");
    let names_calls = KNOWN.iter().chain(&CALLS).chain(&TOOL[..3]).any(|key| is_named(key));
    (!text.is_empty() && !is_marked_up && !names_calls && tag(text).is_none()).then_some(text)
}

/// The thought in a reply that is not one JSON object, as it was asked for; and what was done to get it.
pub(super) fn of_text(text: &str) -> Result<(Value, String), String> {
    if let Ok(value @ Value::Array(_)) = serde_json::from_str(text.trim()) {
        return Ok((of_value(&value)?, "calls alone".to_owned()));
    }
    let text = repair::after_thinking(text);
    let all = repair::objects(text).map_err(|why| match tag(text) {
        Some(tag) => format!("what follows {tag} cannot be read: {why}"),
        None => why,
    })?;
    if all.iter().any(|found| found.is_cut && is_without_arguments(&found.object)) {
        return Err("the reply ends before the arguments of its call".to_owned());
    }
    let outside = outside(text, &all);
    if let Some(other) = OTHER_TAGS.iter().find(|tag| outside.iter().any(|part| part.contains(**tag))) {
        return Err(format!("calls in the form of {other}…> cannot be read"));
    }
    if outside.iter().any(|part| tag(part).is_some()) {
        return tagged(&outside, all);
    }
    let objects = || all.iter().map(|found| Value::Object(found.object.clone()));
    if all.len() > 1 && all.iter().all(|found| is_call(&found.object)) {
        return Ok((json!({"tool_calls": objects().collect::<Vec<_>>()}), "calls alone".to_owned()));
    }
    let Found { object, how, .. } = repair::object(text)?;
    let largest = Value::Object(object);
    let thought = of_value(&largest)?;
    // Another thought with calls of its own would be dropped.
    let calls = |thought: &Value| thought.get("tool_calls").filter(|calls| **calls != json!([])).cloned();
    let others = objects().filter(|object| *object != largest);
    if others.filter_map(|object| of_value(&object).ok()).any(|other| calls(&other).is_some()) {
        return Err("the reply has two thoughts with calls; send one".to_owned());
    }
    Ok((thought, how.join(", ")))
}

/// The first tag before calls.
fn tag(text: &str) -> Option<&'static str> {
    let tags = TAGS.into_iter().chain(OTHER_TAGS).filter_map(|tag| Some((text.find(tag)?, tag)));
    tags.min().map(|(_, tag)| tag)
}

/// The text before, between and after objects.
fn outside<'t>(text: &'t str, all: &[Found]) -> Vec<&'t str> {
    let starts = all.iter().map(|found| found.start).chain([text.len()]);
    let ends = std::iter::once(0).chain(all.iter().map(|found| found.end));
    ends.zip(starts).map(|(end, start)| text.get(end..start).unwrap_or_default()).collect()
}

/// Calls in tags: every object after the first tag is a call; one before it is the thought.
fn tagged(outside: &[&str], all: Vec<Found>) -> Result<(Value, String), String> {
    let of_tags = |text: &str| TAGS.iter().map(|tag| text.matches(tag).count()).sum::<usize>();
    let mut thought = Map::new();
    let (mut calls, mut said, mut begun) = (Vec::new(), "", false);
    for (text, found) in outside.iter().zip(all.into_iter().map(Some).chain([None])) {
        let tags = of_tags(text);
        if tags > 1 || (tags > 0 && found.is_none()) {
            return Err(format!("a call in {} is cut short or no JSON", tag(text).unwrap_or_default()));
        }
        if tags > 0 && !begun {
            said = tag(text).and_then(|tag| text.split(tag).next()).unwrap_or_default();
            begun = true;
        }
        match found.map(|found| found.object) {
            Some(call) if begun => calls.push(Value::Object(call)),
            Some(object) => thought = object,
            None => {}
        }
    }
    if thought.is_empty() {
        thought.insert("monologue".to_owned(), json!(said.trim()));
    } else if !KNOWN.iter().any(|key| thought.contains_key(*key)) || thought.contains_key("tool_calls") {
        return Err("calls stand in tags and before them; send one thought".to_owned());
    }
    thought.insert("tool_calls".to_owned(), Value::Array(calls));
    Ok((of_value(&Value::Object(thought))?, "calls in tags".to_owned()))
}

/// The thought that an object or a list of calls means, as it was asked for.
pub(super) fn of_value(value: &Value) -> Result<Value, String> {
    unwrapped(value, 0)
}

fn unwrapped(value: &Value, depth: usize) -> Result<Value, String> {
    let object = match value {
        Value::Array(calls)
            if !calls.is_empty() && calls.iter().filter_map(Value::as_object).all(is_call) =>
        {
            return Ok(json!({"tool_calls": calls}));
        }
        Value::Object(object) => object,
        other => return Err(format!("the thought is {}, not an object", found(other))),
    };
    if is_call(object) && !KNOWN.iter().any(|key| object.contains_key(*key)) {
        return Ok(json!({"tool_calls": [value]}));
    }
    if let (1, Some((key, inner))) = (object.len(), object.iter().next())
        && depth < DEEPEST
        && !CALLS.contains(&key.as_str())
        && key != "intent"
    {
        match inner {
            Value::Object(_) => return unwrapped(inner, depth + 1),
            Value::String(text) if text.trim_start().starts_with('{') => {
                if let Ok(inner @ Value::Object(_)) = serde_json::from_str(text) {
                    return unwrapped(&inner, depth + 1);
                }
            }
            _ => {}
        }
    }
    gathered(object).map(Value::Object)
}

/// Whether an object is one call: it names a tool, and has arguments or nothing else.
fn is_call(object: &Map<String, Value>) -> bool {
    let named = |key: &str| object.get(key).is_some_and(|name| name.is_string() || name.is_object());
    TOOL.iter().any(|key| named(key))
        && (ARGS.iter().any(|key| object.contains_key(*key))
            || object.get("function").is_some_and(Value::is_object)
            || (object.len() == 1 && object.contains_key("tool")))
}

/// Whether an object names a tool by itself, and no arguments. In a thought a `name` is none of a tool's, and beside
/// calls no tool is named.
fn is_without_arguments(object: &Map<String, Value>) -> bool {
    let others = || CALLS.iter().filter(|key| **key != "action");
    let is_thought = KNOWN.iter().chain(others()).any(|key| object.contains_key(*key));
    let names: &[&str] = if is_thought { &["tool", "tool_name", "action"] } else { &TOOL };
    names.iter().any(|key| object.get(*key).is_some_and(Value::is_string))
        && !ARGS.iter().any(|key| object.contains_key(*key))
        && !others().any(|key| object.get(*key).is_some_and(is_full))
}

/// The thought with all its calls under `tool_calls`.
fn gathered(object: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let mut thought = object.clone();
    let mut sources: Vec<(&str, Vec<Value>)> = Vec::new();
    for key in CALLS {
        match object.get(key) {
            Some(Value::Array(list)) if !list.is_empty() => sources.push((key, list.clone())),
            Some(one @ Value::Object(fields)) if !fields.is_empty() => sources.push((key, vec![one.clone()])),
            Some(Value::String(name)) if key == "action" => {
                sources.extend(action(object, name, sources.is_empty())?.map(|call| (key, vec![call])));
            }
            // Of any other form: told as such where it is read.
            Some(other)
                if key == "tool_calls" && !other.is_null() && !other.is_array() && !other.is_object() =>
            {
                return Ok(thought);
            }
            _ => {}
        }
    }
    if let Some(name @ Value::String(_)) = object.get("tool").or(object.get("tool_name")) {
        let mut call = Map::from_iter([("tool".to_owned(), name.clone())]);
        call.extend(arguments(object));
        sources.push(("tool", vec![Value::Object(call)]));
    }
    for (key, value) in object {
        let is_read = CALLS.contains(&key.as_str()) || ARGS.contains(&key.as_str());
        if !is_read && !KNOWN.contains(&key.as_str()) && is_like_calls(key, value) {
            return Err(format!("`{key}` looks like calls, which belong into `tool_calls`"));
        }
    }
    if let [(first, _), (second, _), ..] = sources.as_slice() {
        return Err(format!("calls stand in both `{first}` and `{second}`; put all into `tool_calls`"));
    }
    if let Some((_, calls)) = sources.pop() {
        thought.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Ok(thought)
}

/// The call of an `action` that is a text: a tool's name, with its input beside it; none where it is none.
fn action(object: &Map<String, Value>, name: &str, alone: bool) -> Result<Option<Value>, String> {
    let args: Map<String, Value> = arguments(object).collect();
    let (name, is_name) = (name.trim(), !name.trim().contains(char::is_whitespace));
    match name {
        "" | "none" | "null" => Ok(None),
        _ if is_name || !args.is_empty() => {
            let mut call = Map::from_iter([("tool".to_owned(), json!(name))]);
            call.extend(args);
            Ok(Some(Value::Object(call)))
        }
        // Words about the calls that stand elsewhere.
        _ if !alone => Ok(None),
        _ => Err("`action` is no name of a tool; put calls into `tool_calls`".to_owned()),
    }
}

fn arguments(object: &Map<String, Value>) -> impl Iterator<Item = (String, Value)> + '_ {
    ARGS.iter().filter_map(|key| Some(((*key).to_owned(), object.get(*key)?.clone())))
}

/// Whether what stands under an unknown key may be calls: by its name, or by what it holds.
fn is_like_calls(key: &str, value: &Value) -> bool {
    let key = key.to_lowercase();
    let holds = |object: &Map<String, Value>| {
        !object.is_empty()
            && (LIKE_CALLS.iter().any(|like| key.contains(like))
                || CALLS.iter().any(|key| object.get(*key).is_some_and(is_full)))
    };
    match value {
        Value::Object(object) => holds(object),
        Value::Array(list) => list.iter().filter_map(Value::as_object).any(holds),
        _ => false,
    }
}

fn is_full(calls: &Value) -> bool {
    match calls {
        Value::Array(list) => !list.is_empty(),
        other => other.is_object(),
    }
}
