//! `[autonomy]`: what the creature may spend of its own accord and when; within the share that `[budget]` leaves it.

use super::{Budget, Policy};
use crate::ground::caps::{Micros, dollars, micros};
use crate::ground::rate::Rate;
use crate::ground::waking::Waking;
use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Autonomy {
    /// Missing: what `[budget]` leaves it every day of a week.
    pub usd_per_day: Option<f64>,
    /// `08:00-23:00`; empty: all day.
    pub waking_hours: String,
}

/// `[agenda]`, the creature's: of it, whose clock the waking hours are by.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Agenda {
    pub time_zone: String,
}

impl Budget {
    /// Of a cap, what the creature may use of its own accord.
    pub fn share(&self, cap_usd: f64) -> Micros {
        micros(cap_usd * self.autonomous_percent / 100.0)
    }
}

impl Policy {
    pub fn rate(&self) -> Rate {
        let share = self.budget.share(self.budget.daily_usd);
        // A day's share on each of seven days may be more than the week has: it would be shut before Sunday.
        let usual = share.min(self.budget.share(self.budget.weekly_usd) / 7);
        let asked = self.autonomy.usd_per_day.map_or(usual, micros);
        let waking = Waking::new(&self.autonomy.waking_hours, &self.agenda.time_zone);
        Rate { per_day: asked.min(share), waking }
    }

    /// What is wrong with it: a day's money must be within the share of the owner's cap.
    pub(super) fn too_much_of_its_own(&self) -> Option<String> {
        let share = self.budget.share(self.budget.daily_usd);
        let is_above = micros(self.autonomy.usd_per_day.unwrap_or(0.0)) > share;
        is_above.then(|| {
            format!(
                "must be at most {}, which is what [budget] leaves it: {} % of {} USD; raise autonomous_percent or \
                 daily_usd there",
                dollars(share),
                self.budget.autonomous_percent,
                self.budget.daily_usd
            )
        })
    }
}
