//! The caps of a day as they were: from the broker's page, valid as far back as the settings stayed the same. Pure.

use super::index::rows::rows;

rows! {
    /// Caps of a day as they were read once, in millionths of a dollar: of all, and of the creature's own.
    #[derive(Copy, Default)]
    "INTO caps" Read {
        at_ms: u64,
        all: u64,
        own: u64,
    }
}

/// Caps as they were read, and when the owner's settings were changed, each in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caps {
    pub read: Vec<Read>,
    pub changed_ms: Vec<u64>,
}

/// Caps from a moment to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub from_ms: u64,
    pub to_ms: u64,
    pub all: u64,
    pub own: u64,
}

impl Caps {
    /// The caps of a span: each from the last change of the settings before it was read, or from when another was read.
    /// Of the time before, nothing is known.
    pub fn between(&self, from_ms: u64, to_ms: u64) -> Vec<Held> {
        let mut held: Vec<Held> = Vec::new();
        for (number, read) in self.read.iter().enumerate() {
            let change = self.changed_ms.iter().rev().find(|at_ms| **at_ms <= read.at_ms);
            let before = number.checked_sub(1).and_then(|before| self.read.get(before));
            // Where no change is on record they were always so, as far as the first that was read goes.
            let begun_ms = match (change, before) {
                (Some(change), Some(before)) => (*change).max(before.at_ms + 1),
                (Some(change), None) => *change,
                (None, Some(_)) => read.at_ms,
                (None, None) => 0,
            };
            if let Some(last) = held.last_mut() {
                last.to_ms = last.to_ms.min(begun_ms);
            }
            held.push(Held { from_ms: begun_ms, to_ms: u64::MAX, all: read.all, own: read.own });
        }
        held.iter_mut()
            .for_each(|it| (it.from_ms, it.to_ms) = (it.from_ms.max(from_ms), it.to_ms.min(to_ms)));
        held.retain(|it| it.from_ms < it.to_ms);
        held
    }
}
