//! The standing words put to a model, and the schema of an answer that is a JSON thought. Pure.
//!
//! Invariant: nothing of it changes with the hour or the house, so that a provider's cache holds it.

use model::Wire;
use serde_json::{Value, json};

const MIND: &str = include_str!("../../prompts/mind.md");

const NATIVE: &str = include_str!("../../prompts/native.md");
const JSON: &str = include_str!("../../prompts/json.md");

/// The system prompt: who it is and how it answers; the tools in words where its wire has no place for them.
pub fn system(words: Option<(Wire, &str)>, most_shown: usize) -> String {
    let answer = match words {
        None => NATIVE.to_owned(),
        Some((wire, tools)) => JSON.replace("{{shape}}", &shape(wire)).replace("{{tools}}", tools.trim_end()),
    };
    MIND.replace("{{answer}}", answer.trim_end()).replace("{{result}}", &most_shown.to_string())
}

/// The shape of an answer, for whatever prompt asks for one.
pub fn shape(wire: Wire) -> String {
    let args = match wire {
        Wire::Anthropic => r#""args_json": "{\"name\": \"value\"}""#,
        Wire::Chat | Wire::Responses => r#""args": {"name": "value"}"#,
    };
    format!(
        r#"{{"monologue": "…", "intent": "…", "tool_calls": [{{"tool": "family.verb", {args}}}], "sleep_s": 60}}"#
    )
}

/// The schema of a thought. Where free-form objects are not allowed the arguments travel as text.
pub fn schema(wire: Wire) -> Value {
    let (name, args) = match wire {
        Wire::Anthropic => {
            ("args_json", json!({"type": "string", "description": "arguments as a JSON object, in text"}))
        }
        Wire::Chat | Wire::Responses => ("args", json!({"type": "object"})),
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
