//! The desk: the agenda as it is kept; each change is applied, remembered, written down and shown in the feed.
//!
//! Invariant: a change stands in memory before it counts; a lost or garbage file costs no life.

use crate::fault::Fault;
use crate::paths::House;
use crate::senses::papers;
use crate::tools::Toolbox;
use agenda::{Agenda, Change, Rules, When};
use serde_json::{Value, json};

/// The agenda and the rules it is kept by.
#[derive(Clone, Debug, Default)]
pub struct Desk {
    pub agenda: Agenda,
    pub rules: Rules,
}

impl Desk {
    /// Reads the agenda; what is wrong with the file comes back as a sentence, with an empty agenda.
    pub fn load(house: &House) -> (Self, Option<String>) {
        let (agenda, odd) = papers::kept(&house.agenda());
        (Self { agenda, rules: Rules::default() }, odd)
    }
}

impl Toolbox {
    /// Makes a change of the agenda; refused, nothing is changed.
    pub fn change(&mut self, change: &Change) -> Result<Value, Fault> {
        let now = self.clock.now();
        let mut next = self.desk.agenda.clone();
        let when = When { now, thread: &self.thread, owner: self.owner, rules: &self.desk.rules };
        let done = next.apply(change, when).map_err(|refused| Fault::new(refused.error, refused.hint))?;
        let kept = json!({"change": change, "done": done, "owner": self.owner, "thread": self.thread});
        self.record("agenda", kept)?;
        self.desk.agenda = next;
        self.keep_agenda();
        Ok(done)
    }

    /// Writes the agenda down; failing to is told and survived, for memory holds every change.
    pub(crate) fn keep_agenda(&self) {
        let text = serde_json::to_vec(&self.desk.agenda).unwrap_or_default();
        if let Err(error) = memory::replace(&self.house.agenda(), &text) {
            tracing::warn!("failed to {error}");
        }
    }
}
