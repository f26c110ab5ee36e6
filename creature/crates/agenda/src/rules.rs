//! The rules that changes are made under: the owner's settings, for whom and when; and why a change is refused. Pure.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// Categories of the stack's lines, in the order they rank by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Requests of the owner's; they go before all else, and have no place in the owner's order.
    Requests,
    Goals,
    Opportunities,
    Tasks,
    Gaps,
    Presence,
    Knowledge,
    /// Recurring tasks that the creature set itself.
    Scanning,
    /// The creature's own time, when nothing else asks.
    Own,
}

impl Category {
    pub const ALL: [Category; 8] = [
        Category::Goals,
        Category::Opportunities,
        Category::Tasks,
        Category::Gaps,
        Category::Presence,
        Category::Knowledge,
        Category::Scanning,
        Category::Own,
    ];
}

/// When, for whom and under which rules a change is made.
#[derive(Clone, Copy, Debug)]
pub struct When<'a> {
    pub now: Timestamp,
    /// The conversation thread the change belongs to; `main` where there is only one.
    pub thread: &'a str,
    /// The owner asked for the change; else the creature acts by itself.
    pub owner: bool,
    pub rules: &'a Rules,
}

/// Rules for the agenda in the owner's settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Categories by rank, the first goes first.
    pub order: Vec<Category>,
    /// An opportunity of more than this, in US dollars, needs the owner's yes.
    pub ask_above_usd: f64,
    /// A goal that costs more than this, in US dollars, needs the owner's yes.
    pub goal_cost_usd: f64,
    /// Messages to the owner per hour; further ones wait and are gathered into one.
    pub messages_per_hour: u32,
    /// The owner's time zone: the hours of reminders and the bounds of days are those of its clock.
    pub time_zone: TimeZone,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            order: Category::ALL.to_vec(),
            ask_above_usd: 500.0,
            goal_cost_usd: 50.0,
            messages_per_hour: 5,
            time_zone: TimeZone::UTC,
        }
    }
}

/// Refusal of a change: why it was not made, and what to do instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub error: String,
    pub hint: String,
}

impl Refusal {
    pub fn new(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: hint.into() }
    }
}
