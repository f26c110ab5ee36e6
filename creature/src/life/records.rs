//! What a life writes down of itself: observations, its cursors, changes of the agenda, snapshots.

use crate::digest::Facts;
use crate::fault::Fault;
use crate::life::Life;
use crate::store::caller::Caller;
use crate::tools::catalogue::LIST;
use agenda::Change;
use ground::papers;
use serde_json::{Value, json};

impl Life {
    /// What a snapshot says of this life beside its records.
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

    /// Remembers an observation unless it is the last one of this subject; empty is nothing to observe.
    pub(crate) fn observe(&mut self, about: &'static str, text: &str) -> Result<(), Fault> {
        if self.observed.get(about).is_some_and(|last| last == text) {
            return Ok(());
        }
        self.observed.insert(about, text.to_owned());
        if text.is_empty() {
            return Ok(());
        }
        self.store.record("observation", json!({"about": about, "text": text}))
    }

    /// Writes the cursors; a failure is observed and survived, for memory holds what counts.
    pub fn save(&mut self) -> Result<(), Fault> {
        match self.cursors.save(&self.told.house.cursors()) {
            Ok(()) => self.observe("cursors", ""),
            Err(cause) => self.observe("cursors", &Fault::caused("keep the cursors", &cause, "").error),
        }
    }

    /// Writes a snapshot of this life so far; a failure is observed and survived.
    pub(crate) fn keep_snapshot(&mut self) -> Result<(), Fault> {
        let facts = self.facts();
        self.cursors.counts.summed_up();
        match self.store.keep_snapshot(&facts, None) {
            Ok(_) => Ok(()),
            Err(fault) => self.observe("snapshot", &fault.error),
        }
    }

    /// Makes a change of the agenda.
    pub fn change(&mut self, change: &Change) -> Result<Value, Fault> {
        self.store.change(&self.caller, change)
    }

    /// Makes a change nobody waits for; whether it was made. A refusal is only logged.
    pub(crate) fn made(&mut self, change: &Change) -> bool {
        self.made_by(&self.caller.clone(), change)
    }

    /// As `made`, in another's name.
    pub(crate) fn made_by(&mut self, caller: &Caller, change: &Change) -> bool {
        let made = self.store.change(caller, change);
        made.inspect_err(|fault| tracing::warn!("failed to {} ({})", fault.error, fault.hint)).is_ok()
    }
}
