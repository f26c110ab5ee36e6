//! Own time: what the creature looks at when nothing else asks, and how soon again. Pure.
//!
//! Invariant: looks that leave nothing get less money; what comes of looks is counted with all other asks, in `reasons`.

mod kind;

pub use kind::Kind;

use crate::items::{self, later, span};
use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Seconds from one look to the next where the last one chose no rest.
const USUAL_S: i64 = 900;

/// The longest rest a look may choose, and the longest wait for the money of a dear one, in seconds.
pub const LONGEST_CHOSEN_S: u64 = 86_400;
const LONGEST_PAID_S: f64 = 7.0 * 86_400.0;

/// Times the share of the hourly budget is halved at most, however many looks left nothing.
const MOST_HALVED: u32 = 6;

/// Seconds after which a look that has not ended counts as lost with its life.
const LOST_S: i64 = 7_200;

/// Allowance of own time, by the owner and the budget, as it is now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allowance {
    pub usd_per_hour: f64,
    /// US dollars for the hour after `Own::settled_at`, where that is more.
    pub first_hour_usd: f64,
    /// Time the budget has room for a call, and time the hours begin in which the owner allows a call; none: now.
    pub room_at: Option<Timestamp>,
    pub wakes_at: Option<Timestamp>,
    /// Unread news at the creature's sources.
    pub news: usize,
    /// Kinds that have something to look at.
    pub kinds: Vec<Kind>,
}

/// Time of the last look: at its begin of a kind, at its end of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Last {
    pub last_at: Option<Timestamp>,
}

/// The look that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnderWay {
    pub kind: Kind,
    pub at: Timestamp,
    /// The look left something.
    #[serde(default)]
    pub left: bool,
    /// The number of its ask in `reasons`, and whether something of that was used.
    #[serde(default)]
    pub ask: u64,
    #[serde(default)]
    pub used: bool,
}

/// Use of own time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Own {
    /// Time the house got its first goal.
    pub settled_at: Option<Timestamp>,
    pub kinds: BTreeMap<String, Last>,
    pub all: Last,
    /// Looks in a row that left nothing.
    pub idle: u32,
    #[serde(deserialize_with = "items::lenient")]
    pub under_way: Option<UnderWay>,
    /// The rest the last look chose, in seconds.
    pub chosen_s: Option<u64>,
    /// Cost of the last look: the wait before the next look pays for it.
    pub usd: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum OwnChange {
    Began {
        look: Kind,
    },
    /// A look left something.
    Left,
    Ended {
        usd: f64,
        rest_s: Option<u64>,
    },
    /// A thing that a look left was used: written by older selves, and counted by `reasons` today.
    Used,
    /// The first goal was made.
    Settled,
    /// The thoughts of a wake without a look chose a rest.
    Rested {
        rest_s: u64,
    },
}

impl Own {
    /// The share of the hourly budget that looks have: halved by each in a row that left nothing.
    pub fn share(&self) -> f64 {
        1.0 / f64::from(1_u32 << self.idle.min(MOST_HALVED))
    }

    /// Returns the time the next look comes due: after the rest the last one chose, and once the budget has paid for it.
    pub fn due_at(&self, allowance: &Allowance, now: Timestamp) -> Timestamp {
        let gates = [allowance.room_at, allowance.wakes_at].into_iter().flatten().max();
        let after = |last: Timestamp| {
            // With unread news a chosen rest counts for `USUAL_S` at most.
            let most_s = if allowance.news > 0 { USUAL_S as f64 } else { f64::MAX };
            let chosen_s = self.chosen_s.map_or(USUAL_S as f64, |chosen_s| chosen_s as f64).min(most_s);
            let new = self.settled_at.is_some_and(|at| now < later(at, 3_600));
            let rate = allowance.usd_per_hour.max(if new { allowance.first_hour_usd } else { 0.0 });
            let paid_s = if rate > 0.0 { self.usd / (rate * self.share()) * 3_600.0 } else { 0.0 };
            later(last, paid_s.min(LONGEST_PAID_S).max(chosen_s) as i64)
        };
        let lost = self.under_way.as_ref().map(|look| later(look.at, LOST_S));
        let due = self.all.last_at.map_or(now, after).max(lost.unwrap_or(Timestamp::MIN));
        gates.map_or(due, |gate| due.max(gate))
    }

    /// The kind to look at next: of those allowed, the one whose last look is longest ago.
    pub fn next(&self, allowance: &Allowance) -> Kind {
        let kinds = allowance.kinds.iter().copied();
        kinds.min_by_key(|kind| self.last_at(*kind)).unwrap_or(Kind::Opportunities)
    }

    fn last_at(&self, kind: Kind) -> Option<Timestamp> {
        self.kinds.get(&kind.name()).and_then(|last| last.last_at)
    }

    /// The line of own time at the end of the stack: id, title, why, what next.
    pub(crate) fn line(
        &self,
        allowance: &Allowance,
        now: Timestamp,
    ) -> (String, &'static str, String, &'static str) {
        let kind = self.next(allowance);
        let last = self.last_at(kind).map_or("not looked at yet".to_owned(), |last| {
            format!("last {} ago", span(now.as_second().saturating_sub(last.as_second())))
        });
        let next = "the most valuable thing you find; nothing worth it is an answer, rest then";
        (kind.line(), kind.title(), format!("time of your own; {last}"), next)
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &OwnChange, when: When) -> Result<Value, Refusal> {
    let (own, now) = (&mut agenda.own, when.now);
    match change {
        OwnChange::Began { look } => {
            let ask = agenda.reasons.asks;
            own.under_way = Some(UnderWay { kind: *look, at: now, left: false, ask, used: false });
            own.chosen_s = None;
            own.kinds.entry(look.name()).or_default().last_at = Some(now);
            own.all.last_at = Some(now);
        }
        OwnChange::Left => own.under_way.iter_mut().for_each(|look| look.left = true),
        OwnChange::Ended { usd, rest_s } => {
            let Some(look) = own.under_way.take() else { return Ok(json!({"ended": false})) };
            own.idle = if look.left { 0 } else { own.idle.saturating_add(1) };
            own.usd = if usd.is_finite() { usd.max(0.0) } else { 0.0 };
            own.chosen_s = rest_s.map(|rest_s| rest_s.min(LONGEST_CHOSEN_S));
            // The wait for the next look counts from the end of this one.
            own.all.last_at = Some(now);
            return Ok(json!({"ended": true, "left": look.left}));
        }
        OwnChange::Used => {}
        OwnChange::Settled => own.settled_at = Some(now),
        OwnChange::Rested { rest_s } => {
            own.chosen_s = Some((*rest_s).min(LONGEST_CHOSEN_S));
            own.all.last_at = Some(now);
        }
    }
    Ok(json!({}))
}
