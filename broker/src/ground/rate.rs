//! The creature's own money as a rate: a bucket that waking time fills and settled cost empties, and what it lets through; pure.
//!
//! Invariant: over any span of time calls are let through for no more than what the span filled in and one bucket, except by
//! what each that was under way cost above what was likely; no turn of the clock fills it.

use crate::ground::caps::Micros;
use crate::ground::waking::{Stretch, Waking};
use serde::{Deserialize, Serialize};

/// The bucket holds this part of a day's money.
const PARTS: Micros = 5;

/// How it stood at a moment; what was spent above what was there is a debt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    pub at_ms: i64,
    pub level: i64,
}

/// What the owner lets the creature spend of its own accord, and when.
#[derive(Clone, Debug)]
pub struct Rate {
    pub per_day: Micros,
    pub waking: Waking,
}

/// Why a call has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    pub level: i64,
    /// When there is room for it; none: never, as the owner gives nothing.
    pub room_at_ms: Option<i64>,
    /// It would fit if calls under way cost nothing.
    pub waits: bool,
}

impl Rate {
    pub fn size(&self) -> Micros {
        self.per_day / PARTS
    }

    /// That of a house nothing is known of.
    pub fn full(&self, now_ms: i64) -> Bucket {
        Bucket { at_ms: now_ms, level: signed(self.size()) }
    }

    /// The bucket now. A clock that went back takes what it had filled in, and no more than a bucket: it may have been
    /// wrong all the while.
    pub fn at(&self, bucket: Bucket, now_ms: i64) -> Bucket {
        let size = signed(self.size());
        let filled = match now_ms < bucket.at_ms {
            true => -self.fill(now_ms, bucket.at_ms).min(size),
            false => self.fill(bucket.at_ms, now_ms),
        };
        Bucket { at_ms: now_ms, level: bucket.level.saturating_add(filled).min(size) }
    }

    /// After a call that was settled.
    pub fn spent(&self, bucket: Bucket, now_ms: i64, cost: Micros) -> Bucket {
        let bucket = self.at(bucket, now_ms);
        Bucket { level: bucket.level.saturating_sub(signed(cost)), ..bucket }
    }

    /// Whether a call may leave beside those under way, by what they likely cost. One that is dearer than the bucket passes
    /// a full one, alone.
    pub fn may(&self, bucket: Bucket, now_ms: i64, likely: Micros, under_way: Micros) -> Result<(), Short> {
        let level = self.at(bucket, now_ms).level;
        let need = signed(likely.min(self.size()));
        let waits = self.per_day > 0 && level >= need;
        if waits && level >= need.saturating_add(signed(under_way)) {
            return Ok(());
        }
        Err(Short { level, room_at_ms: self.room_at(bucket, likely), waits })
    }

    /// From when on there is room for a call that likely costs so much, if nothing else is spent: the same for as long as
    /// nothing is, so that who shows it need not show it anew.
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

    /// What an hour brings now.
    pub fn per_hour(&self, now_ms: i64) -> Micros {
        let stretch = self.waking.from(now_ms).next().filter(|stretch| stretch.holds(now_ms));
        let hour = |stretch: Stretch| wide(self.per_day) * 3_600_000 / wide(stretch.length_ms());
        stretch.map_or(0, |stretch| Micros::try_from(hour(stretch)).unwrap_or(Micros::MAX))
    }

    /// When it wakes, while it does not; none while it may think, or all day.
    pub fn wakes_at(&self, now_ms: i64) -> Option<i64> {
        let next = self.waking.from(now_ms).next()?;
        (!next.holds(now_ms)).then_some(next.begins_ms)
    }

    /// When its waking hours begin or end next.
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

    /// What a part of a stretch fills in; each stretch a day's money.
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
