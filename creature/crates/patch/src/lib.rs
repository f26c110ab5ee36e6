//! How the creature changes itself: from an edit to a tree that is built, tested and rehearsed, or left as it was.
//!
//! The way of an edit, a module a step:
//! 1. [`boundary`] judges its paths.
//! 2. [`plan`] works out in memory what the edit makes of the files; [`text`] finds the passages. A passage that
//!    is not found is told with what the file says there, and the other passages stand.
//! 3. [`draft`] takes the edit into a copy of the source, where edits gather; [`source`] tells what changed since.
//! 4. [`rebase`] brings into the draft what changed meanwhile in the tree that lives, `creature/` itself.
//! 5. [`proof`] writes the draft's [`change`]s into that tree, builds, tests and rehearses it; a failure puts
//!    everything back.
//!
//! [`packages`] names what a changed manifest would have cargo fetch; the caller judges whether that is allowed.
//!
//! Nothing here knows a life, a tool or a setting: what is needed of them comes in a [`EditContext`]. A later module
//! of the list depends on earlier ones, never the other way round. Parts of `proof` are public for tests only.
//! No test here is called `probation`: the guardian runs those of the creature's own package alone.

pub mod boundary;
pub mod change;
pub mod draft;
pub mod packages;
pub mod plan;
pub mod proof;
pub mod rebase;
pub mod repository;
pub mod source;
pub mod text;

use ground::fault::Fault;
use ground::paths::House;
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Context of self-edits: where they are made and proven, and what has to be known of the creature for it.
#[derive(Clone, Debug)]
pub struct EditContext {
    pub house: House,
    /// The cargo that builds and tests.
    pub cargo: OsString,
    pub limits: Limits,
    /// Number of the life that edits itself.
    pub life: u64,
    /// Reads a paper as a life does.
    pub read_paper: fn(&Path) -> String,
    /// Whether the data of a `thought` record reads as a thought.
    pub is_thought: fn(Value) -> bool,
}

/// Deadlines of the steps of a self-edit.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub build: Duration,
    pub test: Duration,
    pub rehearsal: Duration,
}

/// Stage to which a self-edit came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    Boundary,
    Apply,
    Build,
    Test,
    Rehearsal,
    /// Everything passed; rebirth is asked for.
    Asked,
}

impl Stage {
    /// Its name in `self_change` records.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Boundary => "boundary",
            Stage::Apply => "apply",
            Stage::Build => "build",
            Stage::Test => "test",
            Stage::Rehearsal => "rehearsal",
            Stage::Asked => "asked",
        }
    }

    /// A failure in this stage.
    pub fn failed(self, fault: Fault) -> Failed {
        Failed { stage: self, fault }
    }
}

/// Turns a fault into a failure of a stage.
trait At<T> {
    fn at(self, stage: Stage) -> Result<T, Failed>;
}

impl<T> At<T> for Result<T, Fault> {
    fn at(self, stage: Stage) -> Result<T, Failed> {
        self.map_err(|fault| stage.failed(fault))
    }
}

/// Failure of a self-edit: where and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    pub stage: Stage,
    pub fault: Fault,
}

/// A time to the minute, `2026-03-01 09:00`, of one in RFC 3339.
fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}
