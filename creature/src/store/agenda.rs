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
    /// A change that only another self can make counts as made: later ones are numbered after it.
    pub fn catch_up(&mut self, records: &[Record]) {
        for record in records.iter().filter(|record| record.kind == "agenda") {
            let nth = self.agenda.changes + 1;
            if record.data.get("nth").and_then(Value::as_u64) != Some(nth) {
                continue;
            }
            if let Err(why) = self.apply(record) {
                tracing::warn!("change {nth} of the agenda is passed over: {why}");
            }
            self.agenda.changes = nth;
        }
    }

    fn apply(&mut self, record: &Record) -> Result<(), String> {
        let part = |key: &str| record.data.get(key).unwrap_or(&Value::Null);
        let change: Change = serde_json::from_value(part("change").clone()).map_err(|why| why.to_string())?;
        let now = record.at.parse().map_err(|why: jiff::Error| why.to_string())?;
        let (thread, owner) =
            (part("thread").as_str().unwrap_or("main"), *part("owner") == Value::Bool(true));
        let when = When { now, thread, owner, rules: &self.rules };
        self.agenda.apply(&change, when).map(drop).map_err(|refused| refused.error)
    }

    /// Makes a change of the agenda and returns what it came to; a refusal is a fault and changes nothing.
    pub fn change(&mut self, caller: &Caller, change: &Change) -> Result<Value, Fault> {
        let now = self.clock.now();
        let mut next = self.agenda.clone();
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
