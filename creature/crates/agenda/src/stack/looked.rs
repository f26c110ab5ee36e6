//! Looks: when each line of the stack was last shown to a thought, and how often in a row without result. Pure.

use super::{Around, Category, Found};
use crate::items;
use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Lines whose last look is remembered.
const MOST_LOOKS: usize = 4_096;

/// Time each line was last thought about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Looked {
    pub lines: BTreeMap<String, Look>,
    /// The last look at any line of a category, by the category's name.
    pub categories: BTreeMap<String, Timestamp>,
    /// Time of the first look of all.
    pub since: Option<Timestamp>,
    /// Looks in a row, at whatever line, after which no work was changed.
    pub idle: u32,
}

/// The last look at one line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Look {
    pub at: Timestamp,
    /// Looks in a row that found the line as it was.
    pub times: u32,
    /// The line's `next` at that look.
    pub next: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum LookedChange {
    /// A thought is shown this line.
    At { id: String, category: Category, next: String },
}

pub(crate) fn apply(agenda: &mut Agenda, change: &LookedChange, when: When) -> Result<Value, Refusal> {
    let LookedChange::At { id, category, next } = change;
    let entries = Found::all(agenda, when.rules, &Around::default(), when.now);
    let anew = entries.iter().any(|entry| entry.line.id == *id && entry.seen_at == Timestamp::MIN);
    let looked = &mut agenda.looked;
    looked.since.get_or_insert(when.now);
    looked.idle = looked.idle.saturating_add(1);
    looked.categories.insert(items::name(category), when.now);
    if looked.lines.len() >= MOST_LOOKS && !looked.lines.contains_key(id) {
        let oldest = looked.lines.iter().min_by_key(|(_, look)| look.at).map(|(id, _)| id.clone());
        oldest.map(|id| looked.lines.remove(&id));
    }
    let look = looked.lines.entry(id.clone()).or_default();
    look.times = if anew || look.next != *next { 1 } else { look.times.saturating_add(1) };
    look.at = when.now;
    look.next.clone_from(next);
    Ok(json!({"id": id, "times": look.times}))
}
