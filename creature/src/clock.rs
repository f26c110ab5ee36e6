//! The clock of a life: the system's, or in a test one that lives a week in a minute.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::fmt;
use std::sync::Arc;

/// Tells the time; cheap to clone.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// A clock that shows what `now` returns.
    pub fn told(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    pub fn now(&self) -> Timestamp {
        (self.0)()
    }

    /// Returns the time as records have it: RFC 3339 UTC with milliseconds.
    pub fn text(&self) -> String {
        format!("{:.3}", self.now())
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::told(Timestamp::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "Clock({})", self.text())
    }
}

/// A time as the owner's clock shows it, with its zone, and its day where that is another.
pub fn hour(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let [at, now] = [at, now].map(|at| at.to_zoned(zone.clone()));
    let form = if at.date() == now.date() { "%H:%M %Z" } else { "%Y-%m-%d %H:%M %Z" };
    at.strftime(form).to_string()
}
