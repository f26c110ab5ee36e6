//! The heartbeat file as the guardian sees it: a change is a beat, the content a bounded hint.
//!
//! Invariant: a file from before this life never counts as its beat; nothing here waits for the creature.

use house::bounds::{NAME_CHARS, OWN_CHARS, brief};
use house::files::{self, Mark};
use house::records::{self, text};
use serde::Deserialize;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The creature's claims, parsed leniently.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Claim {
    pub life: u64,
    pub turns: u64,
    pub thoughts: u64,
    pub stage: String,
    /// When the stage is over at the latest.
    pub until: String,
    pub mind: String,
    /// Sentence on the owner's settings that the creature cannot follow; only it knows which tools there are.
    pub odd: String,
    /// The creature's claim of what its own wakes achieved.
    pub own: String,
    /// When a mind that is away is asked again; empty while it answers.
    pub next_try: String,
}

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
        let claim = read(&self.path).unwrap_or_else(|| self.claim.clone());
        if claim.life != 0 && claim.life != life {
            return None;
        }
        let turns = claim.turns.max(self.claim.turns);
        self.claim = Claim { turns, ..claim };
        Some(&self.claim)
    }
}

/// The claim in the file now.
pub fn read(path: &Path) -> Option<Claim> {
    let mut bytes = Vec::new();
    files::open(path).ok()??.take(8_192).read_to_end(&mut bytes).ok()?;
    let claim: Claim = serde_json::from_slice(&bytes).ok()?;
    let (stage, mind) = (brief(&claim.stage, NAME_CHARS), brief(&claim.mind, NAME_CHARS));
    let until = brief(&claim.until, NAME_CHARS);
    let (odd, own) = (brief(&claim.odd, NAME_CHARS), brief(&claim.own, OWN_CHARS));
    let next_try = brief(&claim.next_try, NAME_CHARS);
    Some(Claim { stage, until, mind, odd, own, next_try, ..claim })
}

/// Whether a line of memory is a readable thought of this life.
pub fn is_thought_of(line: &str, life: u64) -> bool {
    let Some(record) = records::parse(line.as_bytes()) else { return false };
    text(&record, "kind") == "thought"
        && record.get("life").and_then(Value::as_u64) == Some(life)
        && record.get("data").is_some_and(|data| data.get("garbled").is_none())
}
