//! The views, one a file: each is made of the facts that a command of the terminal tells as well.

pub mod asks;
pub mod change;
pub mod edits;
pub mod export;
pub mod ladder;
pub mod life;
pub mod lives;
pub mod memory;
pub mod now;
pub mod papers;
pub mod record;
pub mod report;
pub mod search;
pub mod spend;
pub mod talk;
pub mod thought;

use serde_json::Value;

/// The entries of a list among facts.
fn list<'a>(facts: &'a Value, name: &str) -> &'a [Value] {
    facts.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The texts of a list among facts.
fn texts<'a>(facts: &'a Value, name: &str) -> Vec<&'a str> {
    list(facts, name).iter().filter_map(Value::as_str).collect()
}

fn number(facts: &Value, name: &str) -> u64 {
    facts.get(name).and_then(Value::as_u64).unwrap_or(0)
}

/// The beginning of a commit's name.
fn short(commit: &str) -> String {
    commit.chars().take(7).collect()
}
