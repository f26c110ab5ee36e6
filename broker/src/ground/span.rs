//! The spans of time that money is capped by: a UTC day and an ISO week.

use super::day::Day;
use house::settings::broker::Budget;

/// A stretch of days with a cap of its own. A new one needs a key in `[budget]` and its place in `ALL` and in each `match`
/// here; what is refused, told and written down follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// A UTC day.
    Day,
    /// An ISO week.
    Week,
}

impl Span {
    /// All spans, the shortest first: the order they are told in.
    pub const ALL: [Self; 2] = [Self::Day, Self::Week];

    /// Returns the owner's cap for it, in US dollars.
    pub(super) fn cap_usd(self, budget: &Budget) -> f64 {
        match self {
            Self::Day => budget.daily_usd,
            Self::Week => budget.weekly_usd,
        }
    }

    /// Returns the first day of the span that holds `day`.
    pub fn begins(self, day: Day) -> Day {
        match self {
            Self::Day => day,
            Self::Week => day.monday(),
        }
    }

    /// Returns the first day after the span that holds `day`.
    pub fn ends(self, day: Day) -> Day {
        let begins = self.begins(day);
        let later = (1..i64::from(self.most_days())).map(|days| Day(begins.0 + days));
        let next = later.into_iter().find(|later| self.begins(*later) != begins);
        next.unwrap_or(Day(begins.0 + i64::from(self.most_days())))
    }

    /// Returns the most days a span has.
    pub(super) fn most_days(self) -> u32 {
        match self {
            Self::Day => 1,
            Self::Week => 7,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
        }
    }

    /// Returns the adjective of its cap.
    pub(super) fn adjective(self) -> &'static str {
        match self {
            Self::Day => "daily",
            Self::Week => "weekly",
        }
    }

    /// Names the current span.
    pub fn now(self) -> &'static str {
        match self {
            Self::Day => "today",
            Self::Week => "this week",
        }
    }

    /// Returns the first day of all spans that hold `day`.
    pub fn earliest(day: Day) -> Day {
        Self::ALL.map(|span| span.begins(day)).into_iter().min().unwrap_or(day)
    }

    /// Names all current spans, as in `today and this week`.
    pub fn all_now() -> String {
        Self::ALL.map(Self::now).join(" and ")
    }
}
