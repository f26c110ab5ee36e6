//! The executor: the parts that carry out the policy's actions, and the guardian's state; a file for each kind of action.
//!
//! Invariant: the executor decides nothing: events go to the policy by `hear`, actions come from it.

use crate::act::builder::Builder;
use crate::act::daemons::keep::Daemons;
use crate::act::ladder::Ladder;
use crate::act::living::Living;
use crate::act::report::Report;
use crate::act::state::State;
use crate::decide::policy::Policy;
use crate::decide::vocabulary::{Event, Pending};
use crate::limits::Limits;
use crate::settings::Settings;
use house::House;
use house::clock::{Clock, Millis};
use house::files::Mark;
use std::collections::VecDeque;

/// The parts that carry out the policy's actions, each with fields of its own, and the fields that all share.
pub struct Executor {
    pub(crate) house: House,
    pub(crate) limits: Limits,
    /// Settings at start; only `limits`, `notices` and the settings' text are replaced while the guardian runs.
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    pub(crate) state: State,
    /// A copy of the policy after its last step, for reading; only the loop steps the policy.
    pub(crate) decided: Policy,
    /// Events for the policy to hear.
    pub(crate) heard: VecDeque<Event>,
    /// Git, the rungs and their binaries.
    pub(crate) ladder: Ladder,
    /// Cargo over the creature: its build, and the tests beside a first life.
    pub(crate) builder: Builder,
    /// The creature's process.
    pub(crate) living: Living,
    /// The owner's processes.
    pub(crate) daemons: Daemons,
    /// Report to the owner.
    pub(crate) report: Report,
    /// How the last life or build ended, for its record.
    pub(crate) end: End,
    pub(crate) order_seen: Option<Mark>,
    /// Whether state or `guardian.json` could not be written.
    pub(crate) owes: bool,
}

/// The end of a life or build, with its evidence.
#[derive(Clone, Debug, Default)]
pub struct End {
    pub cause: String,
    pub lived_ms: Millis,
    pub log_tail: String,
}

impl Executor {
    /// Queues an event for the policy.
    pub fn hear(&mut self, event: Event) {
        self.heard.push_back(event);
    }

    /// Saves the state. If that fails the guardian goes on, and the next save includes this change.
    pub fn save(&mut self) {
        self.state.record = self.decided.record.clone();
        // One write ends the rollback for policy and executor: with two, a kill between them would lose another rung.
        if !matches!(self.state.record.pending, Some(Pending::Fall(_))) {
            self.state.falling = None;
        }
        self.state.anchor = self.clock.anchor();
        if let Err(error) = self.state.save(&self.house) {
            self.owe(&error);
        }
    }

    /// Notes, and logs once, that something could not be written; `upkeep` tries again.
    pub fn owe(&mut self, error: &anyhow::Error) {
        if !std::mem::replace(&mut self.owes, true) {
            tracing::error!("{error:#}; until there is space again a killed guardian would forget this step");
        }
    }
}
