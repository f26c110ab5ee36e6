//! Own time: what the creature looks at when nothing else asks, how soon again, and what came of it. Pure.
//!
//! Invariant: looks of which nothing is used get less time and less money; no kind is ever given up.

mod kind;
mod likeness;

pub use kind::Kind;
pub(crate) use likeness::hash;
pub use likeness::sketch;

use crate::items::{self, later, span};
use crate::{Agenda, Refusal, When};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Seconds from one look to the next where the last one chose no rest.
const USUAL_S: i64 = 900;

/// Where looks have less than half of the hourly budget, `SPACED_S` / share seconds lie between two, `LONGEST_S`
/// at most; no wait is longer than seven times `LONGEST_S`.
const SPACED_S: f64 = 240.0;
const LONGEST_S: f64 = 86_400.0;

/// The longest rest a look may choose, in seconds.
pub const LONGEST_CHOSEN_S: u64 = 86_400;

/// The least share of the hourly budget that looks have, however little comes of them.
const LEAST_SHARE: f64 = 1.0 / 64.0;

/// Seconds after which a look that has not ended counts as lost with its life.
const LOST_S: i64 = 7_200;

/// Factor by which a look counts for less after each later one.
const FADES: f64 = 0.93;

/// Useful looks that every tally is credited with, before what came of any can be known.
const TRUSTED: f64 = 3.0;

/// Things left by looks that are remembered; past this the oldest is forgotten.
const MOST_LEFT: usize = 96;

/// Characters of the name of a thing left.
const LONGEST_NAME: usize = 120;

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

/// The looks so far and those of which something was used, older ones counting for less (`FADES`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    pub looks: f64,
    pub used: f64,
    pub last_at: Option<Timestamp>,
}

impl Tally {
    fn looked(&mut self, now: Timestamp) {
        (self.looks, self.used) = (self.looks * FADES + 1.0, self.used * FADES);
        self.last_at = Some(now);
    }

    fn worth(&self) -> f64 {
        ((self.used + TRUSTED) / (self.looks + TRUSTED)).min(1.0)
    }
}

/// Something a look left behind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeftThing {
    /// Its name in calls: a paper, a path, `goal-7`.
    pub what: String,
    pub kind: String,
    /// The number of the look that left it.
    pub look: u64,
    pub at: Timestamp,
    pub used_at: Option<Timestamp>,
    /// The sketch of its text, to notice one alike; empty where it has none.
    pub sketch: Vec<u32>,
}

/// The look that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnderWay {
    pub kind: Kind,
    pub at: Timestamp,
    /// The look left something.
    #[serde(default)]
    pub left: bool,
}

/// Use of own time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Own {
    /// Time the house got its first goal.
    pub settled_at: Option<Timestamp>,
    /// The number of the last look.
    pub looks: u64,
    pub kinds: BTreeMap<String, Tally>,
    pub all: Tally,
    /// Looks in a row that left nothing.
    pub idle: u32,
    #[serde(deserialize_with = "items::lenient")]
    pub under_way: Option<UnderWay>,
    /// The rest the last look chose, in seconds.
    pub chosen_s: Option<u64>,
    /// Cost of the last look: the wait before the next look pays for it.
    pub usd: f64,
    pub left: Vec<LeftThing>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum OwnChange {
    Began {
        look: Kind,
    },
    /// A look left something; `sketch` is of its text, empty where it has none.
    Left {
        what: String,
        sketch: Vec<u32>,
    },
    /// A thing that a look left was used.
    Used {
        what: String,
    },
    Ended {
        usd: f64,
        rest_s: Option<u64>,
    },
    /// The first goal was made.
    Settled,
    /// The thoughts of a wake without a look chose a rest.
    Rested {
        rest_s: u64,
    },
}

impl Own {
    /// The share of the hourly budget that looks have: by their worth, halved by each in a row that left nothing.
    pub fn share(&self) -> f64 {
        let halved = 0.5_f64.powi(self.idle.min(16).try_into().unwrap_or(16));
        (self.all.worth().powf(1.5) * halved).max(LEAST_SHARE)
    }

    /// Returns the time the next look comes due.
    pub fn due_at(&self, allowance: &Allowance, now: Timestamp) -> Timestamp {
        let gates = [allowance.room_at, allowance.wakes_at].into_iter().flatten().max();
        let after = |last: Timestamp| {
            let share = self.share();
            // With unread news a chosen rest counts for `USUAL_S` at most.
            let most_s = if allowance.news > 0 { USUAL_S as f64 } else { f64::MAX };
            let chosen_s = self.chosen_s.map_or(USUAL_S as f64, |chosen_s| chosen_s as f64).min(most_s);
            let spaced_s = if share < 0.5 { (SPACED_S / share).min(LONGEST_S) } else { 0.0 };
            let new = self.settled_at.is_some_and(|at| now < later(at, 3_600));
            let rate = allowance.usd_per_hour.max(if new { allowance.first_hour_usd } else { 0.0 });
            let paid_s = match rate > 0.0 {
                true => self.usd / (rate * share) * 3_600.0,
                false => 0.0,
            };
            let wait_s = spaced_s.max(paid_s).max(chosen_s).min(7.0 * LONGEST_S);
            later(last, wait_s as i64)
        };
        let lost = self.under_way.as_ref().map(|look| later(look.at, LOST_S));
        let due = self.all.last_at.map_or(now, after).max(lost.unwrap_or(Timestamp::MIN));
        gates.map_or(due, |gate| due.max(gate))
    }

    /// The kind to look at next: of those allowed, the greatest in time since its last look times worth.
    pub fn next(&self, allowance: &Allowance, now: Timestamp) -> Kind {
        let overdue = |kind: &Kind| {
            let tally = self.kinds.get(kind.name()).copied().unwrap_or_default();
            let last = tally.last_at.unwrap_or(later(now, -7 * 86_400));
            (now.as_second().saturating_sub(last.as_second()).max(1)) as f64 * tally.worth()
        };
        let kinds = allowance.kinds.iter().copied();
        // Reversed, for `max_by` takes the last of equals: so it is the first in the list.
        kinds
            .rev()
            .max_by(|one, other| overdue(one).total_cmp(&overdue(other)))
            .unwrap_or(Kind::Opportunities)
    }

    /// The line of own time at the end of the stack: id, title, why, what next.
    pub(crate) fn line(
        &self,
        allowance: &Allowance,
        now: Timestamp,
    ) -> (String, &'static str, String, &'static str) {
        let kind = self.next(allowance, now);
        let tally = self.kinds.get(kind.name()).copied().unwrap_or_default();
        let last = tally.last_at.map_or("not looked at yet".to_owned(), |last| {
            format!("last {} ago", span(now.as_second().saturating_sub(last.as_second())))
        });
        let next = "the most valuable thing you find; nothing worth it is an answer, rest then";
        (format!("own-{}", kind.name()), kind.title(), format!("time of your own; {last}"), next)
    }

    /// Names of the things left and not used yet, without those of the look under way.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        let open = self.left.iter().filter(|left| left.used_at.is_none() && left.look < self.looks_ended());
        open.map(|left| left.what.as_str())
    }

    /// The number of the look under way, else of the next: only things of looks before it can be used.
    fn looks_ended(&self) -> u64 {
        self.looks + u64::from(self.under_way.is_none())
    }

    /// Sums up own time in one sentence; empty before the first look.
    pub fn summary(&self, now: Timestamp) -> String {
        if self.looks == 0 {
            return String::new();
        }
        let since = later(now, -7 * 86_400);
        let of_late = self.left.iter().filter(|left| left.at >= since);
        let (left, used) =
            of_late.fold((0, 0), |(left, used), one| (left + 1, used + u32::from(one.used_at.is_some())));
        let by_kind = |pick: fn(f64, f64) -> bool| {
            let mut best: Option<(&String, f64)> = None;
            for (name, tally) in &self.kinds {
                if best.is_none_or(|(_, worth)| pick(tally.worth(), worth)) {
                    best = Some((name, tally.worth()));
                }
            }
            best.map(|(name, _)| name.clone())
        };
        let (most, least) = (by_kind(|one, best| one > best), by_kind(|one, best| one < best));
        let kinds = match (most, least) {
            (Some(most), Some(least)) if most != least => {
                format!("; most came of {most}, least of {least}")
            }
            _ => String::new(),
        };
        let idle =
            if self.idle > 0 { format!("; the last {} left nothing", self.idle) } else { String::new() };
        let looks = if self.looks == 1 { "look" } else { "looks" };
        format!("{} {looks}; of {left} things left this week {used} were used{kinds}{idle}", self.looks)
    }

    /// Each kind in a line, the most useful first, for the weekly summary.
    pub fn lines(&self) -> Vec<String> {
        let mut kinds: Vec<(&String, &Tally)> = self.kinds.iter().collect();
        kinds.sort_by(|one, other| other.1.worth().total_cmp(&one.1.worth()));
        let line = |(name, tally): (&String, &Tally)| {
            format!(
                "{name}: {:.1} of the last {:.1} looks left something that was used",
                tally.used, tally.looks
            )
        };
        kinds.into_iter().map(line).collect()
    }

    fn left(&mut self, what: &str, sketch: &[u32], now: Timestamp) -> bool {
        let alike = self.left.iter().any(|left| likeness::is_like(sketch, &left.sketch));
        let look = self.looks;
        let Some(under_way) = &mut self.under_way else { return false };
        let known = self.left.iter().any(|left| left.look == look && left.what == what);
        if alike || known {
            return false;
        }
        // A look that leaves nothing is not counted here; one that leaves what nobody uses counts against looks.
        if !std::mem::replace(&mut under_way.left, true) {
            self.all.looked(now);
        }
        let sketch = likeness::bounded(sketch);
        let kind = under_way.kind.name().to_owned();
        // A thing of the same name takes the place of one not used yet.
        self.left.retain(|left| left.what != what || left.used_at.is_some());
        self.left.push(LeftThing {
            what: items::clip(what, LONGEST_NAME),
            kind,
            look,
            at: now,
            used_at: None,
            sketch,
        });
        let over = self.left.len().saturating_sub(MOST_LEFT);
        self.left.drain(..over);
        true
    }

    fn used(&mut self, what: &str, now: Timestamp) -> bool {
        let ended = self.looks_ended();
        let open = |left: &&mut LeftThing| left.what == what && left.used_at.is_none() && left.look < ended;
        let Some(left) = self.left.iter_mut().rev().find(open) else { return false };
        left.used_at = Some(now);
        let (look, kind) = (left.look, left.kind.clone());
        // A look counts as used once, however many of its things are.
        let used = self.left.iter().filter(|left| left.look == look && left.used_at.is_some()).count();
        if used == 1 {
            for tally in self.kinds.get_mut(&kind).into_iter().chain([&mut self.all]) {
                tally.used = (tally.used + 1.0).min(tally.looks);
            }
        }
        true
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &OwnChange, when: When) -> Result<Value, Refusal> {
    let (own, now) = (&mut agenda.own, when.now);
    match change {
        OwnChange::Began { look } => {
            own.looks = own.looks.saturating_add(1);
            own.under_way = Some(UnderWay { kind: *look, at: now, left: false });
            own.chosen_s = None;
            own.kinds.entry(look.name().to_owned()).or_default().looked(now);
            own.all.last_at = Some(now);
            Ok(json!({"look": own.looks}))
        }
        OwnChange::Left { what, sketch } => Ok(json!({"counts": own.left(what, sketch, now)})),
        OwnChange::Used { what } => Ok(json!({"counts": own.used(what, now)})),
        OwnChange::Ended { usd, rest_s } => {
            let Some(look) = own.under_way.take() else { return Ok(json!({"ended": false})) };
            own.idle = if look.left { 0 } else { own.idle.saturating_add(1) };
            own.usd = if usd.is_finite() { usd.max(0.0) } else { 0.0 };
            own.chosen_s = rest_s.map(|rest_s| rest_s.min(LONGEST_CHOSEN_S));
            // The wait for the next look counts from the end of this one.
            own.all.last_at = Some(now);
            Ok(json!({"ended": true, "left": look.left}))
        }
        OwnChange::Settled => {
            own.settled_at = Some(now);
            Ok(json!({}))
        }
        OwnChange::Rested { rest_s } => {
            own.chosen_s = Some((*rest_s).min(LONGEST_CHOSEN_S));
            own.all.last_at = Some(now);
            Ok(json!({}))
        }
    }
}
