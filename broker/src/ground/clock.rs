//! The only reader of the clock; tests set the time.

use jiff::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

/// Wall-clock time, or the time a test has set.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    told_ms: Option<Arc<AtomicI64>>,
}

impl Clock {
    /// A clock that stands at a time, in milliseconds since 1970 UTC, until it is set.
    pub fn told(ms: i64) -> (Self, Arc<AtomicI64>) {
        let told = Arc::new(AtomicI64::new(ms));
        (Self { told_ms: Some(told.clone()) }, told)
    }

    #[allow(clippy::disallowed_methods)]
    pub fn now(&self) -> Timestamp {
        let told = self.told_ms.as_ref().map(|told| told.load(Ordering::SeqCst));
        told.and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or_else(Timestamp::now)
    }

    /// For measuring durations: setting the clock does not affect it.
    #[allow(clippy::disallowed_methods)]
    pub fn instant(&self) -> Instant {
        Instant::now()
    }

    /// RFC 3339 with milliseconds, UTC.
    pub fn stamp(&self) -> String {
        self.now().strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
    }
}

/// A time rounded up to the second, RFC 3339, UTC.
pub fn told(ms: i64) -> String {
    let second = ms.div_euclid(1_000) + i64::from(ms.rem_euclid(1_000) > 0);
    Timestamp::from_second(second).unwrap_or(Timestamp::MAX).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
