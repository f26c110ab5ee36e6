//! The state of dreams, kept between lives: when the next one comes, and how far the one under way has come.
//!
//! Invariant: a dream counts from when it begins. One cut off is ended by the next life; no part is begun thrice.

use crate::fault::Fault;
use crate::paths::House;
use jiff::civil::Time;
use jiff::{Timestamp, ToSpan, tz::TimeZone};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Times a part is begun at most: a part that ends the life must not be begun for ever.
const MOST_TRIES: u32 = 2;

/// State of dreams kept between lives, replaced whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DreamState {
    /// When the last dream began, or when it was first looked whether one is due; nights count from there.
    pub since: Option<Timestamp>,
    /// A dream was asked for by a tool.
    pub wanted: bool,
    pub under_way: Option<UnderWay>,
    /// Mark of what a model was last asked about: it is not asked the same twice.
    pub asked: String,
    /// Characters that each overlong paper had when that was last said, by its name.
    pub told: BTreeMap<String, usize>,
    /// Fields that a newer self keeps here, kept as they are.
    #[serde(flatten)]
    pub newer: Map<String, Value>,
}

/// A dream that is not ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnderWay {
    pub name: String,
    pub at: Timestamp,
    pub begun: BTreeMap<String, u32>,
    pub came: Vec<PartResult>,
}

/// Result of one part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartResult {
    pub part: String,
    pub ok: bool,
    pub said: String,
}

impl DreamState {
    /// Reads `dream.json`; a lost or garbage file costs a dream at worst.
    pub fn load(house: &House) -> Self {
        let (state, odd) = memory::state::kept(&house.dream());
        odd.iter().for_each(|said| tracing::warn!("{said}"));
        state
    }

    pub fn save(&self, house: &House) -> Result<(), Fault> {
        memory::state::write(&house.dream(), self)
            .map_err(|cause| Fault::caused("keep dream.json", &cause, "is the disk full?"))
    }

    /// Returns the time of the next dream; `at` is a time of day in UTC, as in `01:00`.
    pub fn next(&self, at: &str, now: Timestamp) -> Timestamp {
        if self.wanted || self.under_way.is_some() {
            return now;
        }
        // A clock that was put back must not delay the next dream.
        let since = self.since.unwrap_or(now).min(now);
        let at = at.parse::<Time>().unwrap_or(Time::constant(1, 0, 0, 0));
        let that_day = since.to_zoned(TimeZone::UTC).date().to_datetime(at);
        match TimeZone::UTC.to_timestamp(that_day) {
            Ok(tonight) if tonight > since => tonight,
            Ok(tonight) => tonight.checked_add(24.hours()).unwrap_or(tonight),
            Err(_) => now,
        }
    }
}

impl UnderWay {
    /// Counts a beginning of this part. False where it is done, or given up after too many tries.
    pub fn begin(&mut self, part: &str) -> bool {
        if self.came.iter().any(|came| came.part == part) {
            return false;
        }
        let begun = self.begun.entry(part.to_owned()).or_default();
        if *begun >= MOST_TRIES {
            let said = format!("given up: begun {begun} times and never ended");
            self.came.push(PartResult { part: part.to_owned(), ok: false, said });
            return false;
        }
        *begun += 1;
        true
    }
}
