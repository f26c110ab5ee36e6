//! The desk: the agenda as it is kept; each change is applied, booked, written down and shown in the feed.
//!
//! Invariant: a change stands in the bookkeeping before it counts; a lost or garbage file costs no life.

use crate::fault::Fault;
use crate::paths::House;
use crate::senses::papers;
use crate::tools::Toolbox;
use agenda::{Agenda, Change, Rules, When};
use memory::Record;
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

    /// Makes the changes that stand in records and not in the file: a life may have ended between the two.
    pub fn catch_up(&mut self, records: &[Record]) {
        for record in records.iter().filter(|record| record.kind == "agenda") {
            let part = |key: &str| record.data.get(key).unwrap_or(&Value::Null);
            let next = part("nth").as_u64() == Some(self.agenda.changes + 1);
            let change = serde_json::from_value::<Change>(part("change").clone());
            let (true, Ok(change), Ok(now)) = (next, change, record.at.parse()) else { continue };
            let (thread, owner) =
                (part("thread").as_str().unwrap_or("main"), *part("owner") == Value::Bool(true));
            if self.agenda.apply(&change, When { now, thread, owner, rules: &self.rules }).is_ok() {
                self.agenda.changes += 1;
            }
        }
    }
}

impl Toolbox {
    /// Makes a change of the agenda; refused, nothing is changed.
    pub fn change(&mut self, change: &Change) -> Result<Value, Fault> {
        let now = self.clock.now();
        let mut next = self.desk.agenda.copy();
        let when = When { now, thread: &self.thread, owner: self.owner, rules: &self.desk.rules };
        let done = next.apply(change, when).map_err(|refused| Fault::new(refused.error, refused.hint))?;
        next.changes += 1;
        let kept = json!({
            "nth": next.changes, "change": change, "done": done, "owner": self.owner, "thread": self.thread,
        });
        self.book("agenda", kept)?;
        self.desk.agenda = next;
        self.keep_agenda();
        Ok(done)
    }

    /// Writes the agenda down; failing to is told and survived, for the bookkeeping has every change.
    pub(crate) fn keep_agenda(&self) {
        let text = self.desk.agenda.to_json();
        if let Err(error) = memory::replace(&self.house.agenda(), &text) {
            tracing::warn!("failed to {error}");
        }
    }
}
