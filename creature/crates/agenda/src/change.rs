//! Changes of the agenda: their kinds, and how each is made.

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
use crate::rules::{Refusal, When};
use crate::stack::{Line, LookedChange};
use crate::tasks::TaskChange;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Change of the agenda, as a tool asks for it and as a record of the bookkeeping keeps it.
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

impl Change {
    /// The owner's yes to the goal or opportunity of this id.
    pub fn approve(id: &str) -> Self {
        let id = id.to_owned();
        match id.starts_with("goal") {
            true => Change::Goal(GoalChange::Approve { id }),
            false => Change::Opportunity(OpportunityChange::Approve { id }),
        }
    }
}

impl Line {
    /// Returns the change that notes that a thought is shown this line. Made before the thought acts, so that what the
    /// thought changes counts as changed since the look.
    pub fn looked(&self) -> Change {
        let (id, next) = (self.id.clone(), self.next.clone());
        Change::Looked(LookedChange::At { id, category: self.category, next })
    }
}

impl Agenda {
    /// Makes a change or leaves the agenda as it was. The outcome is a JSON object, mostly with the item's `id`.
    pub fn apply(&mut self, change: &Change, when: When) -> Result<Value, Refusal> {
        let done = self.applied(change, when)?;
        use Change::{Gap, Goal, Opportunity, Presence, Task};
        if matches!(change, Goal(_) | Opportunity(_) | Task(_) | Gap(_) | Presence(_)) {
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
                    + self.opportunities.items.purge(*before)
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
