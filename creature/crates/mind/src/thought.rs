//! A thought as a mind gives it, and how one is read from text. Pure.
//!
//! Invariant: reading is tolerant of shape and strict about meaning: what cannot be understood is
//! an error that names what and where, never a guess at what was wanted.

use crate::shape::{self, ARGS, TOOL};
use agenda::text::clip;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The tool by which a reply with calls in its wire's own form says how long to rest.
pub const REST: &str = "rest";

/// The tool that says that nothing more is to be done now.
pub const COMPLETE: &str = "complete_run";

/// Calls one thought may make; those beyond are named to the model, and not run.
pub const MOST_CALLS: usize = 16;

/// Calls not run that are named, and the characters each may take.
const MOST_NAMED: usize = 20;
const MOST_NAME: usize = 50;

/// Further keys that a call may have.
const BESIDE: [&str; 5] = ["type", "id", "call_id", "tool_call_id", "index"];

/// The longest rest that is read, a week in seconds; the loop holds it to the owner's bounds.
const LONGEST_REST_S: f64 = 604_800.0;

/// The rest of a thought that named none and called nothing, in seconds.
const UNSAID_REST_S: u64 = 60;

/// Decision of a mind that is asked once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thought {
    /// The inner voice, for the record and the feed.
    pub monologue: String,
    /// Next thing it means to do, in one line.
    pub intent: String,
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    /// Rest wanted after this thought, in seconds; 0 asks for another round at once.
    #[serde(default)]
    pub sleep_s: u64,
    /// `sleep_s` was named by the mind; else it is the loop's to choose.
    #[serde(skip)]
    pub said: bool,
    /// Calls beyond those allowed at once, as they were written.
    #[serde(skip)]
    pub over: Vec<Value>,
    /// `monologue` closes a wake of a talk: said to the owner, where the owner waits for an answer.
    #[serde(skip)]
    pub delivers: bool,
    /// The mind found nothing to do and nothing to say.
    #[serde(skip)]
    pub idle: bool,
}

impl Thought {
    /// Whether it calls nothing and asks for another round at once.
    pub fn only_words(&self) -> bool {
        self.tool_calls.is_empty() && self.sleep_s == 0
    }

    /// Whether all it calls is to end its wake.
    pub fn only_ends(&self) -> bool {
        let ends = |call: &ToolCall| call.tool == COMPLETE || (call.tool == REST && self.sleep_s > 0);
        self.over.is_empty() && self.tool_calls.iter().all(|call| call.refused.is_none() && ends(call))
    }

    /// Names the calls that are not run, as a sentence; none where all are.
    pub fn not_run(&self) -> Option<String> {
        let named = |call: &Value| {
            let name = match one_call(call) {
                Ok(call) if call.args.is_empty() => call.tool,
                Ok(call) => format!("{} {}", call.tool, Value::Object(call.args)),
                Err(why) => format!("one that {why}"),
            };
            clip(&name, MOST_NAME)
        };
        let (all, names) = (self.over.len(), self.over.iter().take(MOST_NAMED).map(named));
        let names = names.collect::<Vec<_>>().join("; ");
        let more = match all.saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!("; and {more} others"),
        };
        (all > 0).then(|| {
            format!("not run: {all} more than the {MOST_CALLS} allowed at once: {names}{more}. Call again those you need")
        })
    }
}

/// Call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Name of the tool, `family.verb`.
    pub tool: String,
    #[serde(default)]
    pub args: Map<String, Value>,
    /// Names the call's result in a conversation.
    #[serde(skip)]
    pub id: String,
    /// Reason that it cannot be run as it came.
    #[serde(skip)]
    pub refused: Option<String>,
}

/// The words of a reply without anything of a thought in JSON or of a call, as the thought that they are.
pub fn of_words(text: &str) -> Option<Thought> {
    let (monologue, sleep_s) = (shape::prose(text)?.to_owned(), UNSAID_REST_S);
    Some(Thought { monologue, sleep_s, delivers: true, ..Thought::default() })
}

/// Reads a mind's reply. The text beside the thought is `strict`, or names what was repaired.
pub fn read(text: &str) -> Result<(Thought, String), String> {
    let (value, how) = match serde_json::from_str::<Value>(text.trim()) {
        Ok(value @ Value::Object(_)) => {
            let thought = shape::of_value(&value)?;
            let how = if thought == value { "strict" } else { "another shape" };
            (thought, how.to_owned())
        }
        Ok(_) | Err(_) => shape::of_text(text)?,
    };
    Ok((of_shape(&value)?, how))
}

/// Reads a thought from an object of the shape that was asked for.
fn of_shape(value: &Value) -> Result<Thought, String> {
    let Value::Object(object) = value else {
        return Err(format!("the thought is {}, not an object", found(value)));
    };
    let monologue = words(object, &["monologue", "thought", "thinking"])?;
    let intent = words(object, &["intent"])?;
    let (tool_calls, over) = calls(object)?;
    // With one of these keys, even an empty thought is an answer: there is nothing to do.
    if !shape::KNOWN.iter().any(|key| *key != "sleep_s" && object.contains_key(*key)) {
        let keys: Vec<&str> = object.keys().map(String::as_str).take(8).collect();
        return Err(format!(
            "the thought has none of `monologue`, `intent`, `tool_calls`; its keys: [{}]",
            keys.join(", ")
        ));
    }
    // Unsaid, a thought that called tools wants to see what came of them; one that did not has
    // nothing to look at, and another round at once would only be spent money.
    let unsaid = if tool_calls.is_empty() { UNSAID_REST_S } else { 0 };
    let sleep_s = rest(object.get("sleep_s"), unsaid)?;
    let said = object.get("sleep_s").is_some_and(|said| !said.is_null());
    Ok(Thought { monologue, intent, tool_calls, sleep_s, said, over, delivers: false, idle: false })
}

/// The first of `names` that is there, as text; missing and null are empty.
fn words(object: &Map<String, Value>, names: &[&str]) -> Result<String, String> {
    for name in names {
        match object.get(*name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => return Ok(text.trim().to_owned()),
            // Some models list their sentences; joined they are what was meant.
            Some(Value::Array(lines)) if lines.iter().all(Value::is_string) => {
                let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
                return Ok(lines.join("\n"));
            }
            Some(other) => return Err(format!("`{name}` is {}, not text", found(other))),
        }
    }
    Ok(String::new())
}

/// The calls that fit, read; and those beyond, as they are.
fn calls(object: &Map<String, Value>) -> Result<(Vec<ToolCall>, Vec<Value>), String> {
    let list = match object.get("tool_calls") {
        None | Some(Value::Null) => return Ok(Default::default()),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(format!("`tool_calls` is {}, not a list", found(other))),
    };
    let (first, over) = list.split_at(list.len().min(MOST_CALLS));
    let read = first
        .iter()
        .enumerate()
        .map(|(at, call)| one_call(call).map_err(|why| format!("tool_calls[{at}]: {why}")));
    Ok((read.collect::<Result<_, _>>()?, over.to_vec()))
}

fn one_call(value: &Value) -> Result<ToolCall, String> {
    let Value::Object(call) = value else {
        return Err(format!("is {}, not an object", found(value)));
    };
    // `{"type":"function","function":{"name","arguments"}}` is what chat models were trained on.
    let inner = match call.get("function") {
        Some(Value::Object(inner)) => inner,
        _ => call,
    };
    let tool = TOOL
        .iter()
        .find_map(|key| inner.get(*key).and_then(Value::as_str))
        .map(str::trim)
        .filter(|tool| !tool.is_empty())
        .ok_or("names no tool (`tool` is missing or not text)")?;
    Ok(ToolCall { tool: tool.to_owned(), args: args(inner, tool)?, ..ToolCall::default() })
}

/// The arguments of a call, under whichever of their names they stand.
fn args(call: &Map<String, Value>, tool: &str) -> Result<Map<String, Value>, String> {
    let mut args: Option<(&str, Map<String, Value>)> = None;
    for (key, given) in ARGS.iter().filter_map(|key| Some((*key, call.get(*key)?))) {
        let read = match given {
            Value::Null => continue,
            Value::Object(given) => given.clone(),
            Value::String(text) => {
                args_text(text).map_err(|why| format!("`{key}` of {tool} is not an object in JSON: {why}"))?
            }
            other => return Err(format!("`{key}` of {tool} is {}, not an object", found(other))),
        };
        match &args {
            Some((first, known)) if !read.is_empty() && *known != read => {
                return Err(format!("`{first}` and `{key}` of {tool} differ"));
            }
            _ if read.is_empty() => {}
            _ => args = Some((key, read)),
        }
    }
    let args = args.map(|(_, args)| args).unwrap_or_default();
    let is_beside = |key: &&String| {
        ![&TOOL[..], &ARGS[..], &BESIDE[..]].iter().any(|known| known.contains(&key.as_str()))
    };
    match call.keys().find(is_beside).filter(|_| args.is_empty()) {
        Some(key) => Err(format!("`{key}` of {tool} stands beside `tool`; arguments belong into `args`")),
        None => Ok(args),
    }
}

fn args_text(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(args)) => Ok(args),
        Ok(other) => Err(format!("it is {}", found(&other))),
        Err(_) => Ok(model::repair::object(text)?.object),
    }
}

/// Seconds of rest wanted: numbers and numbers in text; negative is none, fractions round up.
fn rest(value: Option<&Value>, unsaid: u64) -> Result<u64, String> {
    let wanted = match value {
        None | Some(Value::Null) => return Ok(unsaid),
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => {
            let digits = text.trim().trim_end_matches(|c: char| c.is_alphabetic() || c == ' ');
            digits.parse::<f64>().ok()
        }
        Some(other) => return Err(format!("`sleep_s` is {}, not a number", found(other))),
    };
    let wanted = wanted.filter(|s| s.is_finite()).ok_or("`sleep_s` is not a number")?;
    // In range by the clamp, so the cast keeps the value.
    Ok(wanted.ceil().clamp(0.0, LONGEST_REST_S) as u64)
}

/// Names the kind of a value, in words.
pub fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
