//! Records of a life about itself: observations, its cursors, changes of the agenda, snapshots.

use crate::digest::Facts;
use crate::fault::Fault;
use crate::life::Life;
use crate::tools::catalogue::LIST;
use agenda::Change;
use ground::papers;
use serde_json::Value;

impl Life {
    /// Returns the facts of this life that a snapshot tells beside its records.
    pub(crate) fn facts(&self) -> Facts {
        Facts {
            life: self.told.life,
            commit: self.told.commit.clone(),
            thoughts: self.cursors.counts.thoughts,
            mind: self.minds.now.name(),
            tools: &LIST,
            purpose: papers::read(&self.told.house.purpose()).text,
            ..Facts::default()
        }
    }

    /// Writes the cursors; a failure is observed and survived, for memory holds what counts.
    pub fn save(&mut self) -> Result<(), Fault> {
        match self.cursors.save(&self.told.house.cursors()) {
            Ok(()) => self.store.observe("cursors", ""),
            Err(cause) => self.store.observe("cursors", &Fault::caused("keep the cursors", &cause, "").error),
        }
    }

    /// Writes a snapshot of this life so far; a failure is observed and survived.
    pub(crate) fn keep_snapshot(&mut self) -> Result<(), Fault> {
        let facts = self.facts();
        self.cursors.counts.summed_up();
        match self.store.keep_snapshot(&facts, None) {
            Ok(_) => Ok(()),
            Err(fault) => self.store.observe("snapshot", &fault.error),
        }
    }

    /// Makes a change of the agenda.
    pub fn change(&mut self, change: &Change) -> Result<Value, Fault> {
        self.store.change(&self.caller, change)
    }
}
