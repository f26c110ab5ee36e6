//! How the creature changes itself: boundary, patch, disk, build, tests, rehearsal; put back whole when any of them fails.

pub mod boundary;
pub mod change;
pub mod draft;
pub mod packages;
pub mod plan;
pub mod proof;
pub mod rebase;
pub mod source;
pub mod text;

use ground::fault::Fault;
use ground::paths::House;
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Where self-edits are made and proven, and what has to be known of the creature for it.
#[derive(Clone, Debug)]
pub struct Workshop {
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

/// How far a self-edit came.
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

/// Where and why a self-edit failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    pub stage: Stage,
    pub fault: Fault,
}

/// A time as people say it, to the minute.
fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}
