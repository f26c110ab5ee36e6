//! Time in which nothing ran before a start, by files that are written as long as something runs.

use house::clock::{self, Millis};
use house::{House, moments};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// A shorter time is a restart, and is not told.
const SHORTEST_MS: Millis = 5 * 60 * 1_000;

/// Returns a sentence on the time in which nothing ran; `None` where it was short.
pub fn told(house: &House, now_ms: Millis) -> Option<String> {
    let last_ms = [house.heartbeat(), house.published()].iter().filter_map(|path| written_ms(path)).max()?;
    if now_ms.checked_sub(last_ms)? < SHORTEST_MS {
        return None;
    }
    let [from, to] = [last_ms, now_ms].map(|at| moments::near(&clock::stamp_of(at)));
    Some(format!("nothing ran here from {from} to {to}"))
}

fn written_ms(path: &Path) -> Option<Millis> {
    // An empty file was made for somebody to write, who has not yet.
    let modified = std::fs::symlink_metadata(path).ok().filter(|meta| meta.len() > 0)?.modified().ok()?;
    Millis::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}
