//! Changes of the agenda: their kinds, the rules they are made under, and refusals.

use crate::Agenda;
use crate::directive::DirectiveChange;
use crate::gaps::GapChange;
use crate::goals::GoalChange;
use crate::opportunities::OpportunityChange;
use crate::outbox::OutboxChange;
use crate::own::OwnChange;
use crate::presence::PresenceChange;
use crate::pulse::PulseChange;
use crate::reasons::ReasonChange;
use crate::reminder::ReminderChange;
use crate::requests::RequestChange;
use crate::stack::{Category, LookedChange};
use crate::tasks::TaskChange;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One change, as a tool asks for it and as a record of the bookkeeping keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Goal(GoalChange),
    Opportunity(OpportunityChange),
    Task(TaskChange),
    Gap(GapChange),
    Presence(PresenceChange),
    Directive(DirectiveChange),
    Reminder(ReminderChange),
    Pulse(PulseChange),
    Outbox(OutboxChange),
    Request(RequestChange),
    Looked(LookedChange),
    Own(OwnChange),
    Reason(ReasonChange),
    /// Forgets what was finished before this time.
    Purge {
        before: Timestamp,
    },
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

/// What the owner's settings say of the agenda.
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

/// Why a change was not made, and what to do instead.
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

impl Agenda {
    /// Makes a change or leaves the agenda as it was. The outcome is a JSON object, mostly with the item's `id`.
    pub fn apply(&mut self, change: &Change, when: When) -> Result<Value, Refusal> {
        let done = self.applied(change, when)?;
        if let Change::Goal(_)
        | Change::Opportunity(_)
        | Change::Task(_)
        | Change::Gap(_)
        | Change::Presence(_) = change
        {
            self.looked.idle = 0;
        }
        Ok(done)
    }

    fn applied(&mut self, change: &Change, when: When) -> Result<Value, Refusal> {
        match change {
            Change::Goal(change) => crate::goals::apply(self, change, when),
            Change::Opportunity(change) => crate::opportunities::apply(self, change, when),
            Change::Task(change) => crate::tasks::apply(self, change, when),
            Change::Gap(change) => crate::gaps::apply(self, change, when),
            Change::Presence(change) => crate::presence::apply(self, change, when),
            Change::Directive(change) => crate::directive::apply(self, change, when),
            Change::Reminder(change) => crate::reminder::apply(self, change, when),
            Change::Pulse(change) => crate::pulse::apply(self, change, when),
            Change::Outbox(change) => crate::outbox::apply(self, change, when),
            Change::Request(change) => crate::requests::apply(self, change, when),
            Change::Looked(change) => crate::stack::apply(self, change, when),
            Change::Own(change) => crate::own::apply(self, change, when),
            Change::Reason(change) => crate::reasons::apply(self, change, when),
            Change::Purge { before } => {
                let purged = self.goals.purge(*before)
                    + self.opportunities.purge(*before)
                    + self.tasks.purge(*before)
                    + self.gaps.purge(*before)
                    + self.directives.purge(*before)
                    + self.reminders.purge(*before)
                    + self.pulse.purge(*before)
                    + self.requests.purge(*before);
                Ok(serde_json::json!({"purged": purged}))
            }
        }
    }

    /// The id of a new item of this kind, as in `goal-7`.
    pub(crate) fn name(&mut self, kind: &str) -> String {
        self.next = self.next.saturating_add(1);
        format!("{kind}-{}", self.next)
    }
}
