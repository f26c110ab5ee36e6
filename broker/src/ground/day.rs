//! A UTC day, as money is counted by, and the first day of its week; written as a date.

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A UTC day, in days since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub i64);

impl Day {
    pub fn of(now: jiff::Timestamp) -> Self {
        Self(now.as_second().div_euclid(86_400))
    }

    /// The Monday of its ISO week.
    pub fn monday(self) -> Self {
        Self(self.0 - (self.0 + 3).rem_euclid(7))
    }

    /// The first second of the day, since 1970.
    pub fn starts_s(self) -> i64 {
        self.0.saturating_mul(86_400)
    }

    fn read(text: &str) -> Option<Self> {
        let date: Date = text.parse().ok()?;
        Some(Self::of(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp()))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_second(self.starts_s()) {
            Ok(start) => write!(out, "{}", start.strftime("%Y-%m-%d")),
            Err(_) => write!(out, "day {}", self.0),
        }
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).ok_or_else(|| serde::de::Error::custom("not a date"))
    }
}
