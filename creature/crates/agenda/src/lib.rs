//! The agenda: what is worth doing, in what order and when. Pure: callers pass the time, no file is touched.
//!
//! Invariant: every change is a `Change`, applied in one place; the same changes give the same agenda.
//! Invariant: its size is bounded, whatever changes come; top-level keys that only a newer self knows are kept.

mod change;
pub mod directive;
mod due;
pub mod foreign;
pub mod gaps;
pub mod goals;
pub mod items;
pub mod opportunities;
pub mod outbox;
pub mod own;
pub mod presence;
pub mod pulse;
pub mod reasons;
pub mod reminder;
pub mod repeat;
pub mod requests;
pub mod rest;
mod rules;
pub mod sessions;
mod set_back;
pub mod span;
pub mod spoken;
pub mod stack;
pub mod standing;
pub mod tasks;
pub mod text;
pub mod waking;
pub mod yes;

pub use change::Change;
pub use rules::{Refusal, Rules, When};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Everything the creature means to do, replaced whole in `.self/mind/agenda.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agenda {
    /// The number of the last item made; the id of an item is its kind and number, as in `goal-7`.
    pub next: u64,
    /// The number of the last request of the owner's.
    pub asked: u64,
    /// Changes made so far; counted by the store that saves the agenda, not by `apply`.
    pub changes: u64,
    pub goals: goals::Goals,
    pub opportunities: opportunities::Opportunities,
    pub tasks: tasks::Tasks,
    pub gaps: gaps::Gaps,
    pub presence: presence::Presence,
    pub directives: directive::Directives,
    pub reminders: reminder::Reminders,
    pub pulse: pulse::Pulse,
    pub outbox: outbox::Outbox,
    pub requests: requests::Requests,
    /// Looks the creature took in its own time, and what came of them.
    #[serde(deserialize_with = "items::lenient")]
    pub own: own::Own,
    /// Asks of a model of the creature's own accord, by reason, and what came of them.
    #[serde(deserialize_with = "items::lenient")]
    pub reasons: reasons::Reasons,
    /// Time each line of the stack was last shown to a thought.
    pub looked: stack::Looked,
    /// Keys that only a newer self knows, written back as they are so that a rollback does not lose them.
    #[serde(flatten)]
    pub newer: Map<String, Value>,
}

impl Agenda {
    /// The agenda as JSON, written in this crate: an edit of another does not compile that again.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The earliest moment at which a directive, reminder or message comes due, which needs no mind; it may have passed.
    pub fn told_at(&self, now: Timestamp) -> Option<Timestamp> {
        let told = [self.directives.next_at(now), self.reminders.next_due(), self.outbox.next_at(now)];
        told.into_iter().flatten().min()
    }

    /// Returns `told_at`, or an earlier moment at which work or a concern comes due.
    pub fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let work = [self.due(now).first().map(|(at, _)| *at), self.pulse.next_due()];
        // Due work is not done in a pause: its time, already past, must not hide the end of the pause.
        let work = work.into_iter().filter(|_| self.directives.paused(now).is_none());
        work.chain([self.told_at(now)]).flatten().min()
    }
}
