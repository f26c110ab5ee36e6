//! The heartbeat file as it is now: the creature's claims of itself, bounded and parsed leniently.

use crate::bounds::{NAME_CHARS, OWN_CHARS, brief};
use crate::files;
use serde::Deserialize;
use std::io::Read;
use std::path::Path;

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
