//! The desk: the agenda as it is kept; each change is applied, remembered, written down and shown in the feed.
//!
//! Invariant: a change stands in memory before it counts; a lost or garbage file costs no life.

use crate::fault::Fault;
use crate::paths::House;
use crate::senses::papers;
use crate::tools::Toolbox;
use agenda::salvage::salvage;
use agenda::{Agenda, Change, Rules, When};
use serde_json::{Value, json};
use std::io;

/// Bytes of the file that are read; a thousand items of each kind fit.
const MOST_BYTES: u64 = 16 << 20;

/// The agenda and the rules it is kept by.
#[derive(Clone, Debug, Default)]
pub struct Desk {
    pub agenda: Agenda,
    pub rules: Rules,
}

impl Desk {
    /// Reads the agenda; what is wrong with the file comes back as a sentence, with an empty agenda.
    pub fn load(house: &House) -> (Self, Option<String>) {
        let path = house.agenda();
        let (agenda, odd) = match papers::head(&path, 0, MOST_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Agenda::default(), None),
            Err(error) => {
                // The next change replaces the file; a failure to keep this one costs no life.
                let _ = memory::set_aside(&path);
                (Agenda::default(), Some(format!("agenda.json cannot be read, set aside: {error}")))
            }
            Ok((bytes, _)) => match serde_json::from_slice(&bytes) {
                Ok(agenda) => (agenda, None),
                Err(error) => {
                    let _ = memory::set_aside(&path);
                    let kept: Agenda = salvage(&bytes).unwrap_or_default();
                    let _ = memory::replace(&path, &serde_json::to_vec(&kept).unwrap_or_default());
                    let said = "is garbage, set aside; what of it can be read is kept";
                    (kept, Some(format!("agenda.json {said}: {error}")))
                }
            },
        };
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
