//! The words put to a model: the standing system prompt, the situation, and the schema of the answer. Pure.
//!
//! Invariant: what changes least comes first and says nothing of the hour, so that a provider's cache holds it.

use super::context::Parts;
use super::moment::Moment;
use model::Wire;
use serde_json::{Value, json};
use std::fmt::Write;

const MIND: &str = include_str!("../../prompts/mind.md");

/// The system prompt: who it is, the shape of the answer, the tools.
pub fn system(wire: Wire, tools: &str) -> String {
    MIND.replace("{{shape}}", &shape(wire)).replace("{{tools}}", tools.trim_end())
}

/// The shape of an answer, for whatever prompt asks for one.
pub fn shape(wire: Wire) -> String {
    let args = match wire {
        Wire::Anthropic => r#""args_json": "{\"name\": \"value\"}""#,
        Wire::OpenAi => r#""args": {"name": "value"}"#,
    };
    format!(
        r#"{{"monologue": "…", "intent": "…", "tool_calls": [{{"tool": "family.verb", {args}}}], "sleep_s": 60}}"#
    )
}

/// What stands for many thoughts: purpose, checklist, snapshot, scratch, goals.
pub fn standing(parts: &Parts) -> String {
    let mut text = String::new();
    section(&mut text, "PURPOSE.md", &parts.purpose, "(missing: ask your owner, or write one)");
    section(&mut text, "Checklist (self/HEARTBEAT.md)", &parts.checklist, "");
    section(&mut text, "What you remember (last snapshot)", &parts.snapshot, "");
    section(&mut text, "Scratch (self/scratch.md)", &parts.scratch, "");
    section(&mut text, "Goals", &parts.goals, "");
    text
}

/// What is so now: records, the agenda, events, the owner's words, the hour.
pub fn situation(moment: &Moment, parts: &Parts) -> String {
    let mut text = String::new();
    section(&mut text, "Latest records, oldest first", &parts.records, "(none yet)");
    section(&mut text, "Where you stand with your owner and your work", &parts.state, "");
    section(&mut text, "What there is to do, by rank", &parts.stack, "");
    section(&mut text, "Events, newest first", &parts.news, "");
    section(&mut text, "Your owner's words, not yet answered", &parts.words, "");
    section(&mut text, "Now", &parts.runtime, "");
    if moment.owner {
        text += "Your owner comes first. ";
    }
    text += "Answer with the one JSON object.";
    text
}

fn section(text: &mut String, title: &str, body: &str, missing: &str) {
    let body = if body.trim().is_empty() { missing } else { body.trim_end() };
    if !body.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(text, "# {title}\n\n{body}\n\n");
    }
}

/// The schema of a thought. Where free-form objects are not allowed the arguments travel as text.
pub fn schema(wire: Wire) -> Value {
    let (name, args) = match wire {
        Wire::Anthropic => {
            ("args_json", json!({"type": "string", "description": "arguments as a JSON object, in text"}))
        }
        Wire::OpenAi => ("args", json!({"type": "object"})),
    };
    json!({
        "type": "object",
        "properties": {
            "monologue": {"type": "string"},
            "intent": {"type": "string"},
            "tool_calls": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"tool": {"type": "string"}, name: args},
                    "required": ["tool", name],
                    "additionalProperties": false,
                },
            },
            "sleep_s": {"type": "integer"},
        },
        "required": ["monologue", "intent", "tool_calls", "sleep_s"],
        "additionalProperties": false,
    })
}
