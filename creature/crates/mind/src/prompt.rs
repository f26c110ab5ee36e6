//! The standing words put to a model, and the schema of an answer that is a JSON thought. Pure.
//!
//! Invariant: nothing of it changes with the hour or the house, so that a provider's cache holds it.

use model::Wire;
use serde_json::{Value, json};

/// Who it is and how it works, for its own conversations.
pub const MIND: &str = include_str!("../../../prompts/mind.md");

/// How tools are called where the wire has a place for them.
pub const NATIVE: &str = include_str!("../../../prompts/native.md");

const JSON: &str = include_str!("../../../prompts/json.md");

/// The system prompt: these words, with how to answer put into them.
pub fn system(words: &str, answer: &str, most_shown: usize) -> String {
    words.replace("{{answer}}", answer.trim_end()).replace("{{result}}", &most_shown.to_string())
}

/// How to answer where the wire has no place for tools: as a JSON thought, which calls these.
pub fn in_json(wire: Wire, tools: &str) -> String {
    JSON.replace("{{shape}}", &shape(wire)).replace("{{tools}}", tools.trim_end())
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
