//! Words that were said while nobody listened: how long ago, by the platform's clock, and what that makes of them. Pure.

use house::moments;
use std::time::Duration;

/// From this age on, what sets something going is asked again.
pub const LATE_MS: u64 = 3_600_000;

/// The age of a happening. `quiet_ms`: for how long at most nobody has listened, by this machine's own clock; so a wall clock
/// that is off makes nothing late that was heard at once. `None`: since the start of this program nobody has.
pub fn age_ms(at_ms: u64, now_ms: u64, quiet_ms: Option<u64>) -> u64 {
    let by_the_wall = now_ms.saturating_sub(at_ms);
    quiet_ms.map_or(by_the_wall, |quiet_ms| by_the_wall.min(quiet_ms))
}

pub fn is_late(age_ms: u64) -> bool {
    age_ms >= LATE_MS
}

/// A late word as the mind reads it: it is told when it was said, and to ask before it acts on it.
pub fn told(text: &str, at: &str, age_ms: u64) -> String {
    let span = moments::span(Duration::from_millis(age_ms));
    format!(
        "(said at {at}, {span} ago, while I was not reached: ask whether it still holds before you act on it) {text}"
    )
}
