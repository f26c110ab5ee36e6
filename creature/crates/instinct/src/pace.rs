//! The pace instinct keeps, as a value; the numbers are constants of `creature/src/pace.rs`, which it edits itself.

/// How long it rests, how often it looks, and what it may make of both; so that what depends on it can be shown with others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    pub idle_rest_s: u64,
    pub source_backoff_s: u64,
    pub source_pace_s: u64,
    pub draft_pace_s: u64,
    /// The hour of the owner's day at which what is new at the sources is told.
    pub morning_hour: i8,
    /// What it may make of its idle rest, and of the wait after a source failed.
    pub idle_rest_bounds_s: (u64, u64),
    pub source_backoff_bounds_s: (u64, u64),
}
