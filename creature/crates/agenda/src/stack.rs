//! The priority stack: everything there is to do, ranked, each line with why it ranks and what is next.

use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a line of the stack is about, in the order they rank by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Goals,
    Opportunities,
    Tasks,
    Gaps,
    Presence,
    Knowledge,
    Scanning,
}

impl Category {
    pub const ALL: [Category; 7] = [
        Category::Goals,
        Category::Opportunities,
        Category::Tasks,
        Category::Gaps,
        Category::Presence,
        Category::Knowledge,
        Category::Scanning,
    ];
}

/// One line of the stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub category: Category,
    /// The item it is about, as in `goal-7`.
    pub id: String,
    pub title: String,
    /// Why it stands where it stands.
    pub why: String,
    /// What is to be done next.
    pub next: String,
    /// From when on it is worth a thought.
    pub ready_at: Timestamp,
}

/// What was looked at without anything coming of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Looked {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum LookedChange {
    Nothing,
}

pub(crate) fn apply(_agenda: &mut Agenda, _change: &LookedChange, _when: When) -> Result<Value, Refusal> {
    Ok(Value::Null)
}
