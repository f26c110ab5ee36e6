//! The scripted model: a small rule machine that reads what it is sent, as a model would, and answers with calls.

use serde_json::{Value, json};

/// What the model says to a prompt. It keeps nothing: all it knows stands in the prompt.
pub fn reply(_system: &str, _text: &str) -> Value {
    thought("nothing to do", json!([]), 300)
}

fn thought(intent: &str, calls: Value, sleep_s: u64) -> Value {
    json!({"monologue": "I look at what is first.", "intent": intent, "tool_calls": calls, "sleep_s": sleep_s})
}
