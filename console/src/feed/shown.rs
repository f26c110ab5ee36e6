//! How much of a record is shown: its row alone, its row and details, or nothing. Pure.

use super::row;
use house::bounds::brief;
use house::records::memory::{Data, Record};
use house::records::view::field;
use house::settings::notices::VERBOSITIES;
use house::terminal::Row;
use serde_json::Value;
use std::str::FromStr;

/// Characters of a record's details.
const DETAIL_CHARS: usize = 4_000;
/// Paint code of dim text.
pub const DIM: &str = "2";

/// Degrees of detail shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Verbosity {
    /// Words, answers, asks, deaths, falls and self-edits; of each act a dim line.
    #[default]
    Minimal,
    /// A line each act and thought.
    Normal,
    /// With the details of each.
    Verbose,
}

impl Verbosity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Normal => "normal",
            Self::Verbose => "verbose",
        }
    }
}

impl FromStr for Verbosity {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = [Self::Minimal, Self::Normal, Self::Verbose].into_iter().find(|one| one.name() == name);
        let there = VERBOSITIES.join(", ");
        found.ok_or_else(|| format!("no verbosity is called {}; there are {there}", brief(name, 40)))
    }
}

/// The row of a record, and below it its details; `None` where so little is shown.
pub fn shown(record: &Value, verbosity: Verbosity) -> Option<(Row, Vec<String>)> {
    let row = row(record)?;
    match verbosity {
        Verbosity::Minimal if Record(record).action().is_some() => Some((Row { paint: DIM, ..row }, vec![])),
        Verbosity::Minimal => is_weighty(record).then_some((row, vec![])),
        Verbosity::Normal => Some((row, vec![])),
        Verbosity::Verbose => Some((row, details(record))),
    }
}

#[allow(clippy::wildcard_enum_match_arm)]
fn is_weighty(record: &Value) -> bool {
    match Record(record).data() {
        Data::Message(_) | Data::Death(_) | Data::SelfChange(_) => true,
        Data::Observation(seen) => seen.about() == "ask",
        _ => false,
    }
}

/// Returns the fields that the row of a record leaves out, a line each.
#[allow(clippy::wildcard_enum_match_arm)]
fn details(record: &Value) -> Vec<String> {
    let record = Record(record);
    let named = |name: &str| {
        let value: &Value = field::<Option<_>>(record.raw_data()?, name)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (!text.trim().is_empty()).then(|| format!("{name}: {}", brief(&text, DETAIL_CHARS)))
    };
    let names: &[&str] = match record.data() {
        // The row flattens both into one line and cuts it.
        Data::Thought(_) => &["monologue", "intent", "tool_calls", "text"],
        Data::Action(_) => &["args", "result"],
        Data::SelfChange(_) => &["files", "error"],
        _ => &[],
    };
    names.iter().filter_map(|name| named(name)).collect()
}
