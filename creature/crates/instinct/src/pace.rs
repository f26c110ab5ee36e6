//! Pace of instinct: how long it rests, how often it looks, and the bounds of its edits to both. Pure.

/// A value: its numbers are constants of
/// `creature/src/pace.rs`, which instinct edits itself, and tests set others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    pub idle_rest_s: u64,
    pub source_backoff_s: u64,
    pub source_pace_s: u64,
    pub draft_pace_s: u64,
    /// The hour of the owner's day at which what is new at the sources is told.
    pub morning_hour: i8,
    /// Least and most that instinct's own edits may set for its idle rest, and for the wait after a source failed.
    pub idle_rest_bounds_s: (u64, u64),
    pub source_backoff_bounds_s: (u64, u64),
}
