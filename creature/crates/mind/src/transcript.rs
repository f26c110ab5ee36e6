//! A conversation as lines anybody can read, whichever wire and model it was held with. Pure.

use super::conversation::RESULTS_HEAD;
use super::thought;
use crate::ToolList;
use ground::text::shorten;
use model::Turn;
use serde_json::{Map, Value};

/// Characters kept of what was said to the model, said by it, of one call's arguments and of one result.
const MOST_TOLD: usize = 3_000;
const MOST_SAID: usize = 4_000;
const MOST_ARGS: usize = 1_500;
const MOST_CAME: usize = 3_000;

/// Event of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// Words of ours to the model.
    Told(String),
    /// Words of the model, without its thinking.
    Said(String),
    Called {
        tool: String,
        args: Map<String, Value>,
    },
    /// A result; `call`: index of its call among the lines, `usize::MAX` where there is none.
    Came {
        call: usize,
        text: String,
        failed: bool,
    },
}

/// All lines of a conversation, oldest first.
pub fn lines(turns: &[Turn], tools: &ToolList) -> Vec<Line> {
    let (mut lines, mut calls) = (Vec::new(), Vec::new());
    for turn in turns {
        match turn {
            Turn::Said { text } if text.starts_with(RESULTS_HEAD) => {
                came_in_words(text, &mut calls, &mut lines)
            }
            Turn::Said { text } => lines.push(Line::Told(text.clone())),
            Turn::Thought { raw } => {
                calls.clear();
                for (id, line) in said(raw, tools) {
                    if matches!(line, Line::Called { .. }) {
                        calls.push((id, lines.len()));
                    }
                    lines.push(line);
                }
            }
            Turn::Results { results } => {
                for answer in results {
                    let call =
                        calls.iter().find(|(id, _)| *id == answer.id).map_or(usize::MAX, |(_, at)| *at);
                    lines.push(Line::Came { call, text: answer.text.clone(), failed: answer.failed });
                }
            }
        }
    }
    lines
}

/// Reads the results of a JSON thought's calls: under the names of their tools, in the order of the calls.
fn came_in_words(text: &str, calls: &mut Vec<(String, usize)>, lines: &mut Vec<Line>) {
    let mut calls = std::mem::take(calls).into_iter();
    let mut next = calls.next();
    let mut body = String::new();
    let mut open: Option<usize> = None;
    let mut close = |open: &mut Option<usize>, body: &mut String| {
        if let Some(call) = open.take() {
            let text = std::mem::take(body).trim().to_owned();
            lines.push(Line::Came { call, failed: text.starts_with("failed:"), text });
        }
    };
    for line in text.lines().skip(1) {
        // A heading begins a result if it names the tool whose turn it is; any other is part of a result.
        let begins = next.as_ref().filter(|(tool, _)| line.strip_prefix("## ") == Some(tool.as_str()));
        match begins.map(|(_, at)| *at) {
            Some(at) => {
                close(&mut open, &mut body);
                (open, next) = (Some(at), calls.next());
            }
            None => body = body + line + "\n",
        }
    }
    close(&mut open, &mut body);
}

/// The words and calls of a thought, each call with its id; of a JSON thought too.
fn said(raw: &Value, tools: &ToolList) -> Vec<(String, Line)> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let called = |id, tool, args| called(id, tool, args, tools);
    let mut all = Vec::new();
    let items: Vec<&Value> = match raw {
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    };
    for item in items {
        match text(item, "type").as_deref() {
            Some("tool_use") => all.push(called(text(item, "id"), text(item, "name"), item.get("input"))),
            Some("function_call") => {
                all.push(called(text(item, "call_id"), text(item, "name"), item.get("arguments")));
            }
            Some("thinking" | "redacted_thinking" | "reasoning") => {}
            _ => {
                let parts = match item.get("content") {
                    Some(Value::Array(parts)) => parts.iter().filter_map(|part| text(part, "text")).collect(),
                    Some(Value::String(said)) => vec![said.clone()],
                    _ => Vec::new(),
                };
                let words = text(item, "text").into_iter().chain(parts);
                words.filter(|words| !words.trim().is_empty()).for_each(|words| all.extend(spoken(words)));
                for call in item.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                    let function = call.get("function").unwrap_or(call);
                    all.push(called(text(call, "id"), text(function, "name"), function.get("arguments")));
                }
            }
        }
    }
    all
}

fn called(
    id: Option<String>,
    tool: Option<String>,
    args: Option<&Value>,
    tools: &ToolList,
) -> (String, Line) {
    let args = match args {
        Some(Value::Object(args)) => args.clone(),
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        _ => Map::new(),
    };
    let tool = tool.unwrap_or_default();
    let tool = tools.by_wire_name(&tool).map_or(tool.as_str(), |known| known.name).to_owned();
    let mut call = thought::ToolCall { tool, args, ..thought::ToolCall::default() };
    tools.unfold(&mut call);
    (id.unwrap_or_default(), Line::Called { tool: call.tool, args: call.args })
}

/// Words as they are, or those and the calls of the JSON thought in them; a call's id is then its tool's name.
fn spoken(words: String) -> Vec<(String, Line)> {
    let json = words.trim_start().starts_with('{').then(|| thought::read(&words).ok()).flatten();
    let Some((thought, _)) = json else { return vec![(String::new(), Line::Said(words))] };
    let said = [thought.monologue, thought.intent].join(" ").trim().to_owned();
    let mut all: Vec<(String, Line)> = Some(said)
        .filter(|said| !said.is_empty())
        .map(|said| (String::new(), Line::Said(said)))
        .into_iter()
        .collect();
    all.extend(
        thought
            .tool_calls
            .into_iter()
            .map(|call| (call.tool.clone(), Line::Called { tool: call.tool, args: call.args })),
    );
    all
}

/// The last lines, as many as fit into a text of `most` characters.
pub fn latest(mut lines: Vec<Line>, most: usize) -> Vec<Line> {
    let mut chars = 0;
    let fits = |line: &&Line| {
        chars += text(std::slice::from_ref(line)).chars().count() + 1;
        chars <= most
    };
    let kept = lines.iter().rev().take_while(fits).count();
    lines.drain(..lines.len() - kept);
    lines
}

/// The conversation as one text for another model to read.
pub fn text(lines: &[Line]) -> String {
    let part = |line: &Line| {
        let most = match line {
            Line::Told(_) => MOST_TOLD,
            Line::Said(_) => MOST_SAID,
            Line::Called { .. } => MOST_ARGS,
            Line::Came { .. } => MOST_CAME,
        };
        part(line, most)
    };
    lines.iter().map(part).collect::<Vec<_>>().join("\n")
}

/// Returns a line as text, whole.
pub fn whole(line: &Line) -> String {
    part(line, usize::MAX)
}

fn part(line: &Line, most: usize) -> String {
    let (what, text) = match line {
        Line::Told(text) => ("told", shorten(text.trim(), most)),
        Line::Said(text) => ("said", shorten(text.trim(), most)),
        Line::Called { tool, args } => {
            ("called", format!("{tool} {}", shorten(&Value::Object(args.clone()).to_string(), most)))
        }
        Line::Came { text, failed, .. } => {
            (if *failed { "failed" } else { "came back" }, shorten(text.trim(), most))
        }
    };
    format!("== {what} ==\n{text}\n")
}
