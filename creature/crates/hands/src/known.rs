//! Knowledge of the web in this life: feeds as they were read last, and addresses that asked to be left alone.
//!
//! Invariant: bounded; a forgotten feed or address costs a whole answer more, nothing else.

use crate::body::Age;
use crate::feed::Feed;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Feeds and addresses remembered.
const MOST: usize = 64;

/// Longest time for which a feed's own word is taken that it does not change; after that it is looked at again.
const LONGEST_FRESH: Duration = Duration::from_secs(6 * 3_600);

/// A feed as it was read last.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    pub feed: Feed,
    pub age: Age,
    until: Instant,
}

impl Remembered {
    pub fn is_fresh(&self) -> bool {
        Instant::now() < self.until
    }
}

#[derive(Debug, Default)]
pub(crate) struct Known {
    feeds: Mutex<BTreeMap<String, Remembered>>,
    waits: Mutex<BTreeMap<String, Instant>>,
}

impl Known {
    pub fn feed(&self, url: &str) -> Option<Remembered> {
        lock(&self.feeds).get(url).cloned()
    }

    /// Remembers a feed, in place of the one that stays fresh least long where there are too many.
    pub fn remember(&self, url: &str, feed: Feed, age: Age) {
        let until = Instant::now() + Duration::from_secs(age.fresh_s).min(LONGEST_FRESH);
        let mut feeds = lock(&self.feeds);
        feeds.insert(url.to_owned(), Remembered { feed, age, until });
        let oldest = feeds.iter().filter(|(known, _)| *known != url).min_by_key(|(_, feed)| feed.until);
        if let (true, Some(oldest)) = (feeds.len() > MOST, oldest.map(|(url, _)| url.clone())) {
            feeds.remove(&oldest);
        }
    }

    /// Keeps away from an address that asked for it.
    pub fn hold(&self, url: &str, seconds: u64) {
        let now = Instant::now();
        let mut waits = lock(&self.waits);
        waits.retain(|_, until| *until > now);
        if waits.len() < MOST {
            waits.insert(url.to_owned(), now + Duration::from_secs(seconds));
        }
    }

    /// Seconds for which an address is still to be left alone.
    pub fn held_s(&self, url: &str) -> Option<u64> {
        let until = *lock(&self.waits).get(url)?;
        let left = until.checked_duration_since(Instant::now())?;
        Some(left.as_secs().max(1))
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Seconds that a `cache-control` header lets an answer be used.
/// Source: RFC 9111, 5.2.2.
pub(crate) fn fresh_s(cache_control: &str) -> u64 {
    let lower = cache_control.to_ascii_lowercase();
    let mut parts = lower.split(',').map(str::trim);
    if parts.clone().any(|part| matches!(part, "no-cache" | "no-store")) {
        return 0;
    }
    let seconds = parts.find_map(|part| part.strip_prefix("max-age=")?.trim_matches('"').parse().ok());
    seconds.unwrap_or(0)
}
