//! The agenda store: each change of the agenda is applied, booked and written down.
//!
//! Invariant: a change stands in the bookkeeping before it counts; a lost or garbage file costs no life.

use super::Store;
use super::caller::Caller;
use crate::fault::Fault;
use agenda::{Change, When};
use memory::Record;
use serde_json::{Value, json};

impl Store {
    /// Applies changes that are in the records and not in the file: a life may have ended between the two writes.
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

    /// Makes a change of the agenda and returns what it came to; a refusal is a fault and changes nothing.
    pub fn change(&mut self, caller: &Caller, change: &Change) -> Result<Value, Fault> {
        let now = self.clock.now();
        let mut next = self.agenda.copy();
        let when = When { now, thread: &caller.thread, owner: caller.owner, rules: &self.rules };
        let done = next.apply(change, when).map_err(|refused| Fault::new(refused.error, refused.hint))?;
        next.changes += 1;
        let kept = json!({
            "nth": next.changes, "change": change, "done": done, "owner": caller.owner, "thread": caller.thread,
        });
        self.book("agenda", kept)?;
        self.agenda = next;
        self.keep_agenda();
        Ok(done)
    }

    /// Makes a change nobody waits for; whether it was made. A refusal is only logged.
    pub(crate) fn made(&mut self, caller: &Caller, change: &Change) -> bool {
        let made = self.change(caller, change);
        made.inspect_err(|fault| tracing::warn!("failed to {} ({})", fault.error, fault.hint)).is_ok()
    }

    /// Writes the agenda file; a failure is only logged, for the bookkeeping has every change.
    pub(crate) fn keep_agenda(&self) {
        let text = self.agenda.to_json();
        if let Err(error) = memory::replace(&self.house.agenda(), &text) {
            tracing::warn!("failed to {error}");
        }
    }
}
