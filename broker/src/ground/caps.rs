//! Budget arithmetic: what the caps still allow, counted by spans of UTC days in millionths of a dollar; pure.
//!
//! Invariant: when a call is let through, settled + reserved + new is within every cap of the owner's, and exceeds
//! the creature's share by at most the part defined here. No change of the clock makes spend disappear.

use house::settings::broker::Budget;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

pub use super::day::Day;
pub use super::span::Span;

/// Millionths of a US dollar.
pub type Micros = u64;

/// Most days counted separately; older ones are added together, never dropped.
const MOST_DAYS: usize = 64;

/// A call dearer than expected may exceed the creature's share by one part in this many of it.
const PARTS_OF_SHARE: Micros = 4;

/// On whose behalf a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// The owner's: made shortly after the owner asked for something.
    Owner,
    /// The creature's own idea.
    Autonomous,
}

/// Limit on spending in a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub span: Span,
    /// For all calls together.
    pub whole: Micros,
    /// Part of that for autonomous calls.
    pub share: Micros,
}

/// Limits on spending, for every span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps(pub [Limit; Span::ALL.len()]);

impl Caps {
    pub fn of(budget: &Budget) -> Self {
        Self(Span::ALL.map(|span| {
            let cap_usd = span.cap_usd(budget);
            let share = micros(cap_usd * budget.autonomous_percent / 100.0);
            Limit { span, whole: micros(cap_usd), share }
        }))
    }

    /// Returns how much all calls together may use in a span.
    pub fn whole(&self, span: Span) -> Micros {
        self.0.iter().find(|limit| limit.span == span).map_or(0, |limit| limit.whole)
    }

    /// Returns how much autonomous calls may use in a span.
    pub fn share(&self, span: Span) -> Micros {
        self.0.iter().find(|limit| limit.span == span).map_or(0, |limit| limit.share)
    }

    /// Returns how much autonomous calls may use on every day of every span. Seven daily shares may exceed the weekly
    /// share: then nothing would be left before Sunday.
    pub fn even_share(&self) -> Micros {
        let a_day = self.0.iter().map(|limit| limit.share / Micros::from(limit.span.most_days()));
        a_day.min().unwrap_or(0)
    }

    /// Returns the largest limit; spending that much uses up all of them.
    pub fn largest(&self) -> Micros {
        self.0.iter().map(|limit| limit.whole).max().unwrap_or(0)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    pub total: Micros,
    /// Of this, the part spent by autonomous calls.
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

/// The cost of a call, estimated before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The highest possible cost, which is reserved.
    pub most: Micros,
    /// The likely cost, by earlier calls; never above `most`.
    pub likely: Micros,
}

impl Cost {
    /// The cost of a call about which only a bound is known.
    pub fn at_most(most: Micros) -> Self {
        Self { most, likely: most }
    }
}

/// A reservation that is not settled yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    pub day: Day,
    pub class: Class,
    /// The amount reserved.
    pub amount: Micros,
    #[serde(default)]
    pub likely: Micros,
}

/// A cap that a call may not fit under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    pub span: Span,
    /// Whether this is the creature's share of a cap.
    pub is_share: bool,
}

impl fmt::Display for Cap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.span.adjective(), if self.is_share { " autonomous" } else { "" })
    }
}

/// Reason why a call does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    pub cap: Cap,
    /// The amount of the cap.
    pub most: Micros,
    pub spent: Micros,
    /// Reserved for calls under way.
    pub reserved: Micros,
    /// Whether it would fit once those calls were settled at no cost.
    pub waits: bool,
    /// Whether it would not fit even if nothing were spent.
    pub is_too_large: bool,
}

impl NoRoom {
    /// Says for people how much of the cap is spent.
    pub fn told(self) -> String {
        let (now, most, spent) = (self.cap.span.now(), dollars(self.most), dollars(self.spent));
        let own = if self.cap.is_share { " for ideas of its own" } else { "" };
        if self.spent >= self.most {
            return format!("{now}'s ${most:.2}{own} are spent (${spent:.2})");
        }
        format!("of {now}'s ${most:.2}{own} ${spent:.2} are spent")
    }
}

/// Money spent and reserved; until it is settled, a reservation counts like spend.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Money {
    days: BTreeMap<Day, Spend>,
    open: BTreeMap<String, Open>,
}

impl Money {
    /// The day a call counts on: today, or a later day that was counted on before.
    pub fn counts_on(&self, today: Day) -> Day {
        self.days.keys().next_back().map_or(today, |newest| today.max(*newest))
    }

    /// Spent and reserved on a day and later ones, so that a clock set back does not open a new day's cap.
    pub fn on(&self, day: Day) -> Spend {
        self.days.range(day..).fold(Spend::default(), |sum, (_, spend)| sum.plus(*spend))
    }

    /// Whether a call fits under every cap; the error names the caps of the longest span first, since they last longest.
    pub fn may(&self, caps: &Caps, today: Day, class: Class, cost: Cost) -> Result<(), NoRoom> {
        // A call without a cost fits under any cap.
        if cost.most == 0 {
            return Ok(());
        }
        for Limit { span, whole, share } in caps.0.into_iter().rev() {
            self.fits(Cap { span, is_share: false }, whole, today, cost)?;
            if class == Class::Autonomous {
                self.fits(Cap { span, is_share: true }, share, today, cost)?;
            }
        }
        Ok(())
    }

    /// The dearest call that fits under every cap.
    pub fn room(&self, caps: &Caps, today: Day, class: Class) -> Cost {
        let rooms = caps.0.iter().map(|limit| self.room_under(limit, today, class));
        rooms.fold(Cost::at_most(Micros::MAX), |least, room| Cost {
            most: least.most.min(room.most),
            likely: least.likely.min(room.likely),
        })
    }

    fn room_under(&self, limit: &Limit, today: Day, class: Class) -> Cost {
        let from = limit.span.begins(today);
        let (counted, open) = (self.on(from), self.reserved_on(from).autonomous);
        let owners = limit.whole.saturating_sub(counted.total);
        if class == Class::Owner {
            return Cost::at_most(owners);
        }
        let likely = counted.autonomous.saturating_sub(open).saturating_add(self.likely_on(from).autonomous);
        let bent =
            limit.share.saturating_add(limit.share / PARTS_OF_SHARE).saturating_sub(counted.autonomous);
        Cost { most: owners.min(bent), likely: limit.share.saturating_sub(likely) }
    }

    fn fits(&self, cap: Cap, most: Micros, today: Day, cost: Cost) -> Result<(), NoRoom> {
        let from = cap.span.begins(today);
        let of = |spend: Spend| if cap.is_share { spend.autonomous } else { spend.total };
        let (counted, open) = (of(self.on(from)), of(self.reserved_on(from)));
        let spent = counted.saturating_sub(open);
        let likely_open = of(self.likely_on(from));
        // The creature's share is the owner's money too: the likely cost has to fit into it. The highest possible
        // cost may exceed it a little, or the last part of the share could never be spent.
        let fits = |spent: Micros, open: Micros, likely_open: Micros| match cap.is_share {
            true => {
                is_within(most, [spent, likely_open, cost.likely])
                    && is_within(most.saturating_add(most / PARTS_OF_SHARE), [spent, open, cost.most])
            }
            false => is_within(most, [spent, open, cost.most]),
        };
        if fits(spent, open, likely_open) {
            return Ok(());
        }
        let (waits, is_too_large) = (fits(spent, 0, 0), !fits(0, 0, 0));
        Err(NoRoom { cap, most, spent, reserved: open, waits, is_too_large })
    }

    /// Reserves a call's highest cost. A call already reserved is not counted again.
    pub fn reserve(&mut self, call: &str, day: Day, class: Class, cost: Cost) {
        if self.open.contains_key(call) {
            return;
        }
        self.open.insert(call.to_owned(), Open { day, class, amount: cost.most, likely: cost.likely });
        self.days.entry(day).or_default().add(class, cost.most);
        while self.days.len() > MOST_DAYS
            && let Some((_, oldest)) = self.days.pop_first()
            && let Some(mut next) = self.days.first_entry()
        {
            let sum = next.get().plus(oldest);
            *next.get_mut() = sum;
        }
    }

    /// Replaces a call's reservation by its actual cost, on the day it was reserved; works once.
    pub fn settle(&mut self, call: &str, actual: Micros) -> Option<Open> {
        let open = self.open.remove(call)?;
        // The day may since have been added to a later one.
        if let Some((_, spend)) = self.days.range_mut(open.day..).next() {
            spend.take(open.class, open.amount);
            spend.add(open.class, actual);
        }
        Some(open)
    }

    /// Counts an amount without a reservation, as the creature's own spending.
    pub fn count(&mut self, day: Day, amount: Micros) {
        self.days.entry(day).or_default().add(Class::Autonomous, amount);
    }

    /// Calls of an earlier process are never settled: their reservations stay spent.
    pub fn forget_open(&mut self) {
        self.open.clear();
    }

    /// Spent from a day on, without reservations.
    pub fn spent_on(&self, day: Day) -> Spend {
        let (mut counted, open) = (self.on(day), self.reserved_on(day));
        counted.total = counted.total.saturating_sub(open.total);
        counted.autonomous = counted.autonomous.saturating_sub(open.autonomous);
        counted
    }

    /// Reserved from a day on.
    pub fn reserved_on(&self, day: Day) -> Spend {
        self.open_on(day, |open| open.amount)
    }

    /// The likely cost of what is reserved from a day on.
    fn likely_on(&self, day: Day) -> Spend {
        self.open_on(day, |open| open.likely)
    }

    fn open_on(&self, day: Day, amount: impl Fn(&Open) -> Micros) -> Spend {
        let mut sum = Spend::default();
        self.open.values().filter(|open| open.day >= day).for_each(|open| sum.add(open.class, amount(open)));
        sum
    }

    /// The likely cost of all the creature's own calls under way.
    pub fn own_under_way(&self) -> Micros {
        self.open_on(Day(i64::MIN), |open| open.likely).autonomous
    }

    pub fn open(&self) -> usize {
        self.open.len()
    }
}

fn is_within(most: Micros, parts: [Micros; 3]) -> bool {
    parts.into_iter().try_fold(0, Micros::checked_add).is_some_and(|sum| sum <= most)
}

/// Converts to dollars: 1_234_567 to 1.234567.
pub fn dollars(amount: Micros) -> f64 {
    amount as f64 / 1e6
}

/// Converts from dollars, rounding down: rounding never exceeds a cap.
pub fn micros(dollars: f64) -> Micros {
    (dollars * 1e6).max(0.0) as Micros
}
