//! Drops repeated words: a thought whose words are the answer that follows it is not shown beside that answer. Pure.

use house::records::memory::Record;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// Longest wait of a thought for the answer it may be: the answer is remembered right behind it.
const WAIT: SignedDuration = SignedDuration::from_secs(2);

/// The thought that waits for its answer, and since when.
#[derive(Default)]
pub struct Once(Option<(Value, Timestamp)>);

impl Once {
    /// The records to show of those that came; where none came, the thought that waited in vain.
    pub fn of(&mut self, came: Vec<Value>, now: Timestamp) -> Vec<Value> {
        let mut shown = Vec::with_capacity(came.len());
        for record in came {
            let waits = self.0.take().map(|(thought, _)| thought);
            shown.extend(waits.filter(|thought| !is_said_by(thought, &record)));
            match is_closing(&record) {
                true => self.0 = Some((record, now)),
                false => shown.push(record),
            }
        }
        if self.0.as_ref().is_some_and(|(_, since)| now.duration_since(*since) >= WAIT) {
            shown.extend(self.rest());
        }
        shown
    }

    /// The thought that waits, where nothing more is to come.
    pub fn rest(&mut self) -> Option<Value> {
        self.0.take().map(|(thought, _)| thought)
    }
}

/// Whether a record is a thought for the owner's word that ends in words.
fn is_closing(record: &Value) -> bool {
    Record(record).thought().is_some_and(|thought| thought.owner() == Some(true) && !thought.is_garbled())
}

/// Whether a record is the creature's word that says what the thought said; of a long thought its beginning was kept.
fn is_said_by(thought: &Value, record: &Value) -> bool {
    let said = Record(record).message().filter(|said| said.is_creatures());
    let (Some(thought), Some(said)) = (Record(thought).thought(), said) else { return false };
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (thought, said) = (flat(thought.monologue()), flat(said.text()));
    !thought.is_empty() && said.starts_with(thought.trim_end_matches('…'))
}
