//! The creature's own money as a rate: a token bucket, filled during waking hours and emptied by settled costs; pure.
//!
//! Invariant: in any span of time, calls are let through for at most what that span fills in plus one bucket, except
//! for what calls under way cost beyond their likely cost. No change of the clock fills the bucket.

use crate::ground::caps::Micros;
use crate::ground::waking::{Stretch, Waking};
use serde::{Deserialize, Serialize};

/// The bucket holds a day's money divided by this.
const BUCKETS_PER_DAY: Micros = 5;

/// The bucket's level at a time; a negative level is a debt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    pub at_ms: i64,
    pub level: i64,
}

/// Rate at which the creature may spend of its own accord, and its waking hours.
#[derive(Clone, Debug)]
pub struct Rate {
    pub per_day: Micros,
    pub waking: Waking,
}

/// Reason why a call has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    pub level: i64,
    /// Time there will be room for it; `None`: never, as the owner allows nothing.
    pub room_at_ms: Option<i64>,
    /// Whether it would fit without the calls under way.
    pub waits: bool,
}

impl Rate {
    pub fn size(&self) -> Micros {
        self.per_day / BUCKETS_PER_DAY
    }

    /// A full bucket, for a house without a record.
    pub fn full(&self, now_ms: i64) -> Bucket {
        Bucket { at_ms: now_ms, level: signed(self.size()) }
    }

    /// The bucket at a time. If the clock was set back, what that time had filled in is taken out again, at most one
    /// bucket: the clock may have been wrong for long.
    pub fn at(&self, bucket: Bucket, now_ms: i64) -> Bucket {
        let size = signed(self.size());
        let filled = match now_ms < bucket.at_ms {
            true => -self.fill(now_ms, bucket.at_ms).min(size),
            false => self.fill(bucket.at_ms, now_ms),
        };
        Bucket { at_ms: now_ms, level: bucket.level.saturating_add(filled).min(size) }
    }

    /// The bucket after a settled call.
    pub fn spent(&self, bucket: Bucket, now_ms: i64, cost: Micros) -> Bucket {
        let bucket = self.at(bucket, now_ms);
        Bucket { level: bucket.level.saturating_sub(signed(cost)), ..bucket }
    }

    /// Whether a call may be made beside those under way, by their likely costs. A call dearer than a bucket needs a
    /// full one, and no other calls under way.
    pub fn may(&self, bucket: Bucket, now_ms: i64, likely: Micros, under_way: Micros) -> Result<(), Short> {
        let level = self.at(bucket, now_ms).level;
        let need = signed(likely.min(self.size()));
        let waits = self.per_day > 0 && level >= need;
        if waits && level >= need.saturating_add(signed(under_way)) {
            return Ok(());
        }
        Err(Short { level, room_at_ms: self.room_at(bucket, likely), waits })
    }

    /// Returns the time from which a call of this likely cost fits, if nothing else is spent. It does not change while
    /// nothing is spent, so the page that shows it need not be rewritten.
    pub fn room_at(&self, bucket: Bucket, likely: Micros) -> Option<i64> {
        let mut missing = signed(likely.min(self.size())).saturating_sub(bucket.level);
        if self.per_day == 0 {
            return None;
        }
        if missing <= 0 || likely == 0 {
            return Some(bucket.at_ms);
        }
        for stretch in self.waking.from(bucket.at_ms) {
            let begins_ms = stretch.begins_ms.max(bucket.at_ms);
            let filled = self.part(stretch, begins_ms, stretch.ends_ms);
            if filled >= missing {
                let needs = missing.unsigned_abs();
                let wait = wide(needs) * wide(stretch.length_ms());
                let wait_ms = i64::try_from(wait.div_ceil(wide(self.per_day))).unwrap_or(i64::MAX);
                return Some(begins_ms.saturating_add(wait_ms));
            }
            missing -= filled;
        }
        None
    }

    /// The money an hour brings now.
    pub fn per_hour(&self, now_ms: i64) -> Micros {
        let stretch = self.waking.from(now_ms).next().filter(|stretch| stretch.holds(now_ms));
        let hour = |stretch: Stretch| wide(self.per_day) * 3_600_000 / wide(stretch.length_ms());
        stretch.map_or(0, |stretch| Micros::try_from(hour(stretch)).unwrap_or(Micros::MAX))
    }

    /// Returns the time waking hours begin next; `None` during them, or if they last all day.
    pub fn wakes_at(&self, now_ms: i64) -> Option<i64> {
        let next = self.waking.from(now_ms).next()?;
        (!next.holds(now_ms)).then_some(next.begins_ms)
    }

    /// Returns the time waking hours begin or end next.
    pub fn turns_at(&self, now_ms: i64) -> Option<i64> {
        let next = self.waking.from(now_ms).next()?;
        Some(if next.holds(now_ms) { next.ends_ms } else { next.begins_ms })
    }

    fn fill(&self, from_ms: i64, to_ms: i64) -> i64 {
        let stretches = self.waking.from(from_ms).take_while(|stretch| stretch.begins_ms < to_ms);
        let parts = stretches
            .map(|stretch| self.part(stretch, stretch.begins_ms.max(from_ms), stretch.ends_ms.min(to_ms)));
        parts.fold(0, i64::saturating_add)
    }

    /// The money filled in during part of a stretch; a whole stretch brings a day's money.
    fn part(&self, stretch: Stretch, from_ms: i64, to_ms: i64) -> i64 {
        let length_ms = wide(stretch.length_ms()).max(1);
        let part_ms = wide(to_ms.saturating_sub(from_ms).max(0).unsigned_abs());
        i64::try_from(wide(self.per_day) * part_ms / length_ms).unwrap_or(i64::MAX)
    }
}

fn signed(amount: Micros) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

fn wide(amount: u64) -> u128 {
    u128::from(amount)
}
