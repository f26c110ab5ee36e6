//! The only reader of the clock: a timeline that counts suspended time and goes on across restarts.
//!
//! Invariant: the timeline never runs backwards, whatever the wall clock does.

use nix::time::{ClockId, clock_gettime};

/// Milliseconds: on the guardian's own timeline, or since the epoch by the wall clock.
pub type Millis = u64;

/// The last millisecond whose year has four digits.
const LAST_MS: Millis = 253_402_300_799_999;
/// Longest absence of a guardian that its timeline counts: an hour.
const LONGEST_AWAY_MS: Millis = 60 * 60_000;

/// A point saved with the state, from which the next guardian's timeline goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Anchor {
    pub timeline_ms: Millis,
    pub wall_ms: Millis,
}

#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start_ms: Millis,
    boot_ms: Millis,
}

impl Clock {
    /// Goes on from `anchor`. Time away is taken from the wall clock, and bounded, since somebody may have set that
    /// clock.
    pub fn start(anchor: Anchor) -> Self {
        let away = wall_ms().saturating_sub(anchor.wall_ms).min(LONGEST_AWAY_MS);
        let away = if anchor.wall_ms == 0 { 0 } else { away };
        Self { start_ms: anchor.timeline_ms + away, boot_ms: since_boot_ms() }
    }

    pub fn now(&self) -> Millis {
        self.start_ms + since_boot_ms().saturating_sub(self.boot_ms)
    }

    pub fn anchor(&self) -> Anchor {
        Anchor { timeline_ms: self.now(), wall_ms: wall_ms() }
    }
}

/// Milliseconds since the epoch by the wall clock: for people and records, never for deadlines.
pub fn wall_ms() -> Millis {
    read(ClockId::CLOCK_REALTIME)
}

/// Now, RFC 3339 UTC with milliseconds.
pub fn stamp() -> String {
    stamp_of(wall_ms())
}

/// A time of the wall clock, as `stamp` has it.
pub fn stamp_of(wall_ms: Millis) -> String {
    let wall_ms = wall_ms.min(LAST_MS);
    let (seconds, ms) = (wall_ms / 1_000, wall_ms % 1_000);
    // SAFETY: the structure is numbers alone; both outlive the call.
    #[allow(unsafe_code)]
    let then = unsafe {
        let mut then = std::mem::zeroed::<libc::tm>();
        libc::gmtime_r(&(seconds as libc::time_t), &raw mut then);
        then
    };
    let (year, month) = (then.tm_year + 1_900, then.tm_mon + 1);
    let (day, hour, minute, second) = (then.tm_mday, then.tm_hour, then.tm_min, then.tm_sec);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Now, as part of a file or ref name: `20260102T030405.678Z`.
pub fn name() -> String {
    name_of(wall_ms())
}

/// A time of the wall clock, as `name` has it.
pub fn name_of(wall_ms: Millis) -> String {
    stamp_of(wall_ms).replace(['-', ':'], "")
}

/// Milliseconds this machine has run, without suspended time: for how long something took.
pub fn running_ms() -> Millis {
    read(ClockId::CLOCK_MONOTONIC)
}

/// Milliseconds since this machine started, suspended time included: nobody can set it.
pub fn since_boot_ms() -> Millis {
    read(ClockId::CLOCK_BOOTTIME)
}

fn read(id: ClockId) -> Millis {
    clock_gettime(id)
        .map_or(0, |time| (time.tv_sec() as Millis) * 1_000 + (time.tv_nsec() as Millis) / 1_000_000)
}
