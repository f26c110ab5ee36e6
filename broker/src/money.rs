//! Budget arithmetic: what a cap still allows, counted by UTC day and ISO week, in millionths of a dollar; pure.
//!
//! Invariant: settled + reserved + new never exceeds a cap; no turn of the clock makes spend disappear.

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// Millionths of a US dollar.
pub type Micros = u64;

/// Days with spend that are told apart; older ones are counted together, never dropped.
const MOST_DAYS: usize = 64;

/// A UTC day, in days since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub i64);

impl Day {
    pub fn of(now: jiff::Timestamp) -> Self {
        Self(now.as_second().div_euclid(86_400))
    }

    /// The Monday its ISO week begins with.
    pub fn monday(self) -> Self {
        Self(self.0 - (self.0 + 3).rem_euclid(7))
    }

    /// Its first second, since 1970.
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

/// On whose behalf a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// The owner has just asked for something.
    Owner,
    /// The creature's own idea.
    Autonomous,
}

/// What may be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    pub daily: Micros,
    pub weekly: Micros,
    /// Of these, what autonomous calls may use.
    pub autonomous_daily: Micros,
    pub autonomous_weekly: Micros,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    pub total: Micros,
    /// Of the total.
    pub autonomous: Micros,
}

impl Spend {
    fn add(&mut self, class: Class, amount: Micros) {
        self.total = self.total.saturating_add(amount);
        if class == Class::Autonomous {
            self.autonomous = self.autonomous.saturating_add(amount);
        }
    }

    fn take(&mut self, class: Class, amount: Micros) {
        self.total = self.total.saturating_sub(amount);
        if class == Class::Autonomous {
            self.autonomous = self.autonomous.saturating_sub(amount);
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            total: self.total.saturating_add(other.total),
            autonomous: self.autonomous.saturating_add(other.autonomous),
        }
    }
}

/// A reservation that is not settled yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    pub day: Day,
    pub class: Class,
    pub amount: Micros,
}

/// A cap that stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap {
    Daily,
    Weekly,
    AutonomousDaily,
    AutonomousWeekly,
}

impl Cap {
    /// The day on which it has room again.
    pub fn resets(self, today: Day) -> Day {
        match self {
            Self::Daily | Self::AutonomousDaily => Day(today.0 + 1),
            Self::Weekly | Self::AutonomousWeekly => Day(today.monday().0 + 7),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::AutonomousDaily => "daily autonomous",
            Self::AutonomousWeekly => "weekly autonomous",
        }
    }
}

/// A call that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    pub cap: Cap,
    pub left: Micros,
    /// The whole cap.
    pub most: Micros,
}

/// What was spent and what is reserved; a reservation counts as spent until it is settled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Money {
    days: BTreeMap<Day, Spend>,
    open: BTreeMap<String, Open>,
}

impl Money {
    /// The day a call counts on: the clock's, or a later one that was seen before.
    pub fn counts_on(&self, today: Day) -> Day {
        self.days.keys().next_back().map_or(today, |newest| today.max(*newest))
    }

    /// Spend of a day. What was counted on later days counts too, so that a clock set back finds no fresh cap.
    pub fn on(&self, day: Day) -> Spend {
        self.days.range(day..).fold(Spend::default(), |sum, (_, spend)| sum.plus(*spend))
    }

    /// Spend of the ISO week of a day, later ones included.
    pub fn week_of(&self, day: Day) -> Spend {
        self.on(day.monday())
    }

    /// Whether a call fits under every cap; else the one that stays in the way longest.
    pub fn may(&self, caps: &Caps, today: Day, class: Class, amount: Micros) -> Result<(), NoRoom> {
        let (day, week) = (self.on(today), self.week_of(today));
        let all = [
            (Cap::Weekly, week.total, caps.weekly),
            (Cap::AutonomousWeekly, week.autonomous, caps.autonomous_weekly),
            (Cap::Daily, day.total, caps.daily),
            (Cap::AutonomousDaily, day.autonomous, caps.autonomous_daily),
        ];
        for (cap, spent, most) in all {
            let counts = match cap {
                Cap::Weekly | Cap::Daily => true,
                Cap::AutonomousWeekly | Cap::AutonomousDaily => class == Class::Autonomous,
            };
            let fits = spent.checked_add(amount).is_some_and(|sum| sum <= most);
            // What costs nothing is never in the way of a cap.
            if counts && !fits && amount > 0 {
                return Err(NoRoom { cap, left: most.saturating_sub(spent), most });
            }
        }
        Ok(())
    }

    /// Counts a call's worst case from now on. A call that is known already counts once.
    pub fn reserve(&mut self, call: &str, day: Day, class: Class, amount: Micros) {
        if self.open.contains_key(call) {
            return;
        }
        self.open.insert(call.to_owned(), Open { day, class, amount });
        self.days.entry(day).or_default().add(class, amount);
        while self.days.len() > MOST_DAYS
            && let Some((_, oldest)) = self.days.pop_first()
            && let Some(mut next) = self.days.first_entry()
        {
            let sum = next.get().plus(oldest);
            *next.get_mut() = sum;
        }
    }

    /// Puts what a call did cost in place of its reservation, on the day it was reserved; once.
    pub fn settle(&mut self, call: &str, actual: Micros) -> Option<Open> {
        let open = self.open.remove(call)?;
        // Its day, or the one that day is counted with by now.
        if let Some((_, spend)) = self.days.range_mut(open.day..).next() {
            spend.take(open.class, open.amount);
            spend.add(open.class, actual);
        }
        Some(open)
    }

    /// Counts what no reservation stands for, for both shares.
    pub fn count(&mut self, day: Day, amount: Micros) {
        self.days.entry(day).or_default().add(Class::Autonomous, amount);
    }

    /// Whose calls died with an earlier process: what they reserved stays spent.
    pub fn forget_open(&mut self) {
        self.open.clear();
    }

    /// Sum of what is reserved from a day on; part of what is spent.
    pub fn reserved_on(&self, day: Day) -> Spend {
        let mut sum = Spend::default();
        self.open.values().filter(|open| open.day >= day).for_each(|open| sum.add(open.class, open.amount));
        sum
    }

    pub fn open(&self) -> usize {
        self.open.len()
    }
}

/// `1.234567` of `1_234_567`.
pub fn dollars(amount: Micros) -> f64 {
    amount as f64 / 1e6
}

/// Settings are in dollars. Rounded down: a cap is never exceeded by rounding.
pub fn micros(dollars: f64) -> Micros {
    (dollars * 1e6).max(0.0) as Micros
}
