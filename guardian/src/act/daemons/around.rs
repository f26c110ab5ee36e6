//! Input of a step of the owner's daemons, and its news for the rest of the guardian.

use crate::act::report::Report;
use crate::decide::vocabulary::Phase;
use crate::limits::Limits;
use house::House;
use house::clock::Millis;
use house::settings::notices::Notices;

/// Surroundings of the daemons at a step: nothing of it is theirs.
pub struct Around<'a> {
    pub house: &'a House,
    pub limits: &'a Limits,
    pub notices: &'a Notices,
    pub report: &'a mut Report,
    pub now: Millis,
    pub phase: &'a Phase,
    /// Whether a creature lives, and whether a build of it runs.
    pub lives: bool,
    pub builds: bool,
    /// The packages fetched before the first build of all, for the ledger's first line.
    pub fetched: &'a Option<String>,
}

/// News for the rest of the guardian.
#[derive(Debug, PartialEq, Eq)]
pub enum Came {
    /// Something that is published has changed.
    Changed,
    /// The owner's changed settings were checked and are without a mistake, or this is the mistake.
    Judged(Result<(), String>),
    /// The creature's crates are fetched, so many were missing, or could not be.
    Fetched { missing: usize, well: bool },
}
