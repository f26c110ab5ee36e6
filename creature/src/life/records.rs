//! Records of a life about itself: observations, its cursors, changes of the agenda, snapshots.

use crate::digest::Facts;
use crate::fault::Fault;
use crate::life::{Life, jobs};
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

    /// Writes the cursors.
    pub fn save(&mut self) -> Result<(), Fault> {
        self.store.keep_cursors(&self.cursors)
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

    /// Writes a snapshot where enough thoughts were had since the last; never in safe mode.
    pub(crate) fn keep_snapshot_if_due(&mut self) -> Result<(), Fault> {
        let due = self.settings.own.number("thoughts_between_snapshots");
        let since = self.cursors.counts.thoughts.saturating_sub(self.cursors.counts.snapshot_at);
        if self.told.safe || since < due { Ok(()) } else { self.keep_snapshot() }
    }

    /// Makes a change of the agenda.
    pub fn change(&mut self, change: &Change) -> Result<Value, Fault> {
        self.store.change(&self.caller, change)
    }

    /// Ends the look under way with the rest that the thought chose, if any.
    pub(crate) fn end_look(&mut self, rest_s: Option<u64>) {
        let allowed = rest_s.is_some() && self.has_own_time();
        let told = self.own.ended(&mut self.store, rest_s, allowed);
        self.heart.own(&told);
    }

    /// Takes over what calls in the background came to.
    pub(crate) fn settle_jobs(&mut self) {
        let events = &mut self.cursors.events;
        jobs::settle(&self.toolbox.jobs, &mut self.acts, &mut self.store, &mut self.unfinished, events);
    }
}
