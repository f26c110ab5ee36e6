//! Around: what all parts of the executor share, such as the house, the settings, the time, the state and the report.

use crate::act::report::Report;
use crate::act::state::State;
use crate::decide::policy::Policy;
use crate::decide::vocabulary::{Pending, Phase, Want};
use crate::limits::Limits;
use crate::settings::Settings;
use crate::steward;
use house::House;
use house::clock::{Clock, Millis};
use house::terminal::typed;

/// Surroundings of a part, which is given them for each of its steps.
pub struct Around {
    pub house: House,
    pub limits: Limits,
    /// Settings in force; of a change while the guardian runs all is taken over but the walls, `asked`.
    pub settings: Settings,
    pub clock: Clock,
    pub state: State,
    /// A copy of the policy after its last step, for reading; only the loop steps the policy.
    pub decided: Policy,
    pub report: Report,
    /// Whether a creature lives, and whether a build of it runs, as of this round.
    pub lives: bool,
    pub builds: bool,
    /// Whether something that is published has changed: the loop publishes it at the end of its step.
    pub is_news: bool,
    /// Whether state or `guardian.json` could not be written.
    pub owes: bool,
}

impl Around {
    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    /// Follows the policy after each of its steps.
    pub fn follow(&mut self, policy: &Policy) {
        self.decided.clone_from(policy);
        steward::leaves(policy.record.want == Want::Leave);
        if self.state.order_under_way == "pause" && policy.phase == Phase::Paused {
            self.state.order_came_to(true, format!("paused; nothing lives until `{}`", typed("resume")));
        }
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
