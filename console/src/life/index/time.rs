//! A record's time, where it can be true.

use house::moments;

/// Times before 2000 and later than a day from now are taken for a clock that was wrong, and not drawn.
const EARLIEST_MS: u64 = 946_684_800_000;
const AHEAD_MS: u64 = 86_400_000;

/// Milliseconds since the epoch of a record's time that can be true.
pub fn of(at: &str, now_ms: u64) -> Option<u64> {
    let at_ms = moments::ms(at)?;
    (EARLIEST_MS..=now_ms.saturating_add(AHEAD_MS)).contains(&at_ms).then_some(at_ms)
}
