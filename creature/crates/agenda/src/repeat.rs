//! Repeats: the same call with the same result, noticed before it becomes a loop. Pure.

use jiff::{SignedDuration, Timestamp};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Times in a row a call has the same result before a warning; the next time it is blocked.
const WARNED_AT: u32 = 3;

/// Time a call is remembered; after that it may be made again.
const LONG_AGO: SignedDuration = SignedDuration::from_hours(1);

/// Calls that are remembered; the oldest make room.
const MOST: usize = 64;

/// The latest calls, and how often in a row each had the same result.
#[derive(Clone, Debug, Default)]
pub struct Repeats {
    calls: Vec<Call>,
}

#[derive(Clone, Debug)]
struct Call {
    call: u64,
    result: u64,
    times: u32,
    at: Timestamp,
}

impl Repeats {
    /// Says why this call is not to be made again; none where it may be.
    pub fn blocked(&self, call: &str, now: Timestamp) -> Option<String> {
        let call = hash(call);
        let last = self.calls.iter().find(|known| known.call == call)?;
        (last.times >= WARNED_AT && now.duration_since(last.at) < LONG_AGO)
            .then(|| format!("the same call came to the same {} times", last.times))
    }

    /// Notes the result of a call; returns a warning from the third time in a row that it is the same. A call that
    /// changed the house makes every other call worth another try.
    pub fn note(&mut self, call: &str, result: &str, changed: bool, now: Timestamp) -> Option<String> {
        let (call, result) = (hash(call), hash(result));
        self.calls
            .retain(|known| now.duration_since(known.at) < LONG_AGO && (!changed || known.call == call));
        let before = self.calls.iter().position(|known| known.call == call).map(|at| self.calls.remove(at));
        let times = before.filter(|known| known.result == result).map_or(1, |known| known.times + 1);
        self.calls.push(Call { call, result, times, at: now });
        let over = self.calls.len().saturating_sub(MOST);
        self.calls.drain(..over);
        (times >= WARNED_AT).then(|| {
            format!("{times} times the same call came to the same; a fourth is not made, do something else")
        })
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
