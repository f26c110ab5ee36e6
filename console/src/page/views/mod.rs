//! The views, a file each: made of the same facts as a command of the terminal.

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

use house::records::view::field;
use serde_json::Value;

/// The entries of a list among facts.
fn list<'a>(facts: &'a Value, name: &str) -> &'a [Value] {
    field(facts, name)
}

/// The texts of a list among facts.
fn texts<'a>(facts: &'a Value, name: &str) -> Vec<&'a str> {
    field(facts, name)
}

fn number(facts: &Value, name: &str) -> u64 {
    field(facts, name)
}
