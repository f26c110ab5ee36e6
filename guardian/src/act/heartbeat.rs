//! The heartbeat file as the guardian sees it: a change is a beat, the content a bounded hint.
//!
//! Invariant: a file from before this life never counts as its beat; nothing here waits for the creature.

use house::files::{self, Mark};
use house::heartbeat::{self, Claim};
use house::records::{self, text};
use serde_json::Value;
use std::path::PathBuf;

pub struct Heartbeat {
    path: PathBuf,
    seen: Option<Mark>,
    pub claim: Claim,
}

impl Heartbeat {
    pub fn new(path: PathBuf) -> Self {
        Self { seen: files::mark(&path), path, claim: Claim::default() }
    }

    /// Forgets the former life: only a change to the file as it is now counts as a beat.
    pub fn reset(&mut self) {
        self.seen = files::mark(&self.path);
        self.claim = Claim::default();
    }

    /// The claim, if the file changed since the last look and does not name another life.
    pub fn look(&mut self, life: u64) -> Option<&Claim> {
        let mark = files::mark(&self.path)?;
        if self.seen == Some(mark) {
            return None;
        }
        self.seen = Some(mark);
        // An unreadable file still is a beat, and claims nothing new; a claim of another life comes from an orphaned
        // process.
        let claim = heartbeat::read(&self.path).unwrap_or_else(|| self.claim.clone());
        if claim.life != 0 && claim.life != life {
            return None;
        }
        let turns = claim.turns.max(self.claim.turns);
        self.claim = Claim { turns, ..claim };
        Some(&self.claim)
    }
}

/// Whether a line of memory is a readable thought of this life.
pub fn is_thought_of(line: &str, life: u64) -> bool {
    let Some(record) = records::parse(line.as_bytes()) else { return false };
    text(&record, "kind") == "thought"
        && record.get("life").and_then(Value::as_u64) == Some(life)
        && record.get("data").is_some_and(|data| data.get("garbled").is_none())
}
