//! Moment until which the owner is typing a word, as a window says in `.self/typing`.

use ground::files;
use jiff::{SignedDuration, Timestamp};
use std::path::Path;

/// Longest time ahead that is believed; a window says it anew while keys are pressed.
pub const MOST_AHEAD: SignedDuration = SignedDuration::from_secs(60);

/// Bytes that are read; a moment has 30.
const MOST_BYTES: u64 = 64;

/// Returns the time until which the owner counts as typing; none where nobody types, or the file says nothing sound.
pub fn until(path: &Path, now: Timestamp) -> Option<Timestamp> {
    let (bytes, _) = files::head(path, 0, MOST_BYTES).ok()?;
    let until: Timestamp = std::str::from_utf8(&bytes).ok()?.trim().parse().ok()?;
    (until > now && until <= now.checked_add(MOST_AHEAD).ok()?).then_some(until)
}
