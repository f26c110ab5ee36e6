//! The creature's pace: how long it rests and how often it looks, as constants it rewrites itself.
//!
//! Invariant: a constant instinct may rewrite stands alone on its line as `pub const NAME: u64 = N;`, for the
//! edit is made on the text of this file. A test pins that form.

use instinct::Pace;

/// Rest after a wake that found nothing to do, in seconds. Longer is quieter; shorter sees a due look sooner.
/// The owner's words and a saved purpose cut any rest short, so they never wait for this.
pub const IDLE_REST_S: u64 = 40;

/// First wait after a source failed, in seconds; it doubles with each failure in a row, up to a day.
pub const SOURCE_BACKOFF_S: u64 = 900;

/// Wait between two looks at a source that answers, in seconds. Shorter is a nuisance to its host.
pub const SOURCE_PACE_S: u64 = 1800;

/// Least time between two posts nobody asked for, in seconds.
pub const DRAFT_PACE_S: u64 = 21600;

/// The hour of the owner's day at which what is new at the sources is told.
pub const MORNING_HOUR: i8 = 8;

/// The least and the most that instinct may set `IDLE_REST_S` to: below, it spins; above, it seems dead.
pub const IDLE_REST_BOUNDS_S: (u64, u64) = (20, 240);

/// The least and the most that instinct may set `SOURCE_BACKOFF_S` to.
pub const SOURCE_BACKOFF_BOUNDS_S: (u64, u64) = (300, 7200);

/// The constants as one value: the pace this life was built with.
pub const BUILT: Pace = Pace {
    idle_rest_s: IDLE_REST_S,
    source_backoff_s: SOURCE_BACKOFF_S,
    source_pace_s: SOURCE_PACE_S,
    draft_pace_s: DRAFT_PACE_S,
    morning_hour: MORNING_HOUR,
    idle_rest_bounds_s: IDLE_REST_BOUNDS_S,
    source_backoff_bounds_s: SOURCE_BACKOFF_BOUNDS_S,
};
