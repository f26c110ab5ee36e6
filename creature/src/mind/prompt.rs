//! The words put to a model: the standing system prompt, the situation, and the schema of the answer. Pure.
//!
//! Invariant: what changes least comes first and says nothing of the hour, so that a provider's cache holds it.

use super::context::Parts;
use super::moment::Moment;
use model::Wire;
use serde_json::{Value, json};

const MIND: &str = include_str!("../../prompts/mind.md");

/// The system prompt: who it is, the shape of the answer, the tools.
pub fn system(wire: Wire, tools: &str) -> String {
    MIND.replace("{{shape}}", &shape(wire)).replace("{{tools}}", tools.trim_end())
}

/// The shape of an answer, for whatever prompt asks for one.
pub fn shape(wire: Wire) -> String {
    let args = match wire {
        Wire::Anthropic => r#""args_json": "{\"name\": \"value\"}""#,
        Wire::Responses | Wire::Chat => r#""args": {"name": "value"}"#,
    };
    format!(
        r#"{{"monologue": "…", "intent": "…", "tool_calls": [{{"tool": "family.verb", {args}}}], "sleep_s": 60}}"#
    )
}

/// What stands for many thoughts: purpose, checklist, snapshot, scratch, goals.
pub fn standing(parts: &Parts) -> String {
    section("PURPOSE.md", &parts.purpose, "(missing: ask your owner, or write one)")
        + &section("Checklist (self/HEARTBEAT.md)", &parts.checklist, "")
        + &section("What you remember (last snapshot)", &parts.snapshot, "")
        + &section("Scratch (self/scratch.md)", &parts.scratch, "")
        + &section("Goals", &parts.goals, "")
}

/// What is so now: records, the agenda, events, the owner's words, the hour.
pub fn situation(moment: &Moment, parts: &Parts) -> String {
    section("Latest records, oldest first", &parts.records, "(none yet)")
        + &section("Where you stand with your owner and your work", &parts.state, "")
        + &section("What there is to do, by rank", &parts.stack, "")
        + &section("Events, newest first", &parts.news, "")
        + &section("Your owner's words, not yet answered", &parts.words, "")
        + &section("Now", &parts.runtime, "")
        + if moment.owner { "Your owner comes first. " } else { "" }
        + "Answer with the one JSON object."
}

/// A part under its title; nothing where there is neither a body nor a word for its absence.
fn section(title: &str, body: &str, missing: &str) -> String {
    let body = if body.trim().is_empty() { missing } else { body.trim_end() };
    match body {
        "" => String::new(),
        body => format!("# {title}\n\n{body}\n\n"),
    }
}

/// The schema of a thought. Where free-form objects are not allowed the arguments travel as text.
pub fn schema(wire: Wire) -> Value {
    let (name, args) = match wire {
        Wire::Anthropic => {
            ("args_json", json!({"type": "string", "description": "arguments as a JSON object, in text"}))
        }
        Wire::Responses | Wire::Chat => ("args", json!({"type": "object"})),
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
