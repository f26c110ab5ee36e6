//! The agenda: what is worth doing, in what order and when. Pure: time is told, nothing is read or written.
//!
//! Invariant: every change is a `Change`, applied in one place; the same changes give the same agenda.
//! Invariant: bounded, whatever it is told; what it does not know of a newer self it carries along.

mod change;
pub mod directive;
pub mod gaps;
pub mod goals;
pub mod items;
mod kept;
pub mod opportunities;
pub mod outbox;
pub mod own;
pub mod presence;
pub mod pulse;
pub mod reminder;
pub mod repeat;
pub mod requests;
pub mod rest;
pub mod sessions;
mod set_back;
pub mod span;
pub mod spoken;
pub mod stack;
pub mod standing;
pub mod tasks;
pub mod waking;
pub mod yes;

pub use change::{Change, Refusal, Rules, When};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Everything the creature means to do, replaced whole in `.self/mind/agenda.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agenda {
    /// The number of the next item; items are called by kind and number, as in `goal-7`.
    pub next: u64,
    /// Changes made in all, counted by whoever keeps it.
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
    /// Its own time: what it looked at unasked, and what came of it.
    #[serde(deserialize_with = "items::lenient")]
    pub own: own::Own,
    /// What was looked at without anything coming of it.
    pub looked: stack::Looked,
    /// What a newer self keeps here; carried, so that a rollback does not lose it.
    #[serde(flatten)]
    pub newer: Map<String, Value>,
}

impl Agenda {
    /// The next moment at which something here comes due by itself.
    pub fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let told = [self.directives.next_at(now), self.reminders.next_at(now), self.outbox.next_at(now)];
        let work = [self.tasks.next_at(now), self.pulse.next_at(now)];
        // Work that is due stays undone in a pause, and must not hide the pause's end.
        let work = work.into_iter().filter(|_| self.directives.paused(now).is_none());
        told.into_iter().chain(work).flatten().min()
    }
}
