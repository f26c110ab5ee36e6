//! Reasons: how often a model was asked of the creature's own accord, for what, and how often something of it was used. Pure.
//!
//! Invariant: a reason of which nothing is used is asked ever more rarely, and is never given up.

use crate::items::later;
use crate::text;
use crate::{Agenda, Refusal, When, waking};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Reasons that are counted apart; more are counted together.
const MOST: usize = 40;

/// Things left that are remembered; past this the oldest is forgotten.
const MOST_LEFT: usize = 96;

/// Characters of a name.
const LONGEST_NAME: usize = 120;

/// Asks in a row of which nothing is used before a reason is asked more rarely, and the pauses after that, in seconds.
const FREE: u32 = 4;
const FIRST_S: i64 = 600;
const LONGEST_S: i64 = 21_600;

/// The asks for one reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asked {
    pub asked: u64,
    /// Asks of which something was used.
    pub used: u64,
    /// Asks in a row of which nothing was used.
    pub idle: u32,
    pub last_at: Option<Timestamp>,
}

/// Something that an ask left behind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Left {
    /// Its name in calls: a paper, a path, `goal-7`.
    pub what: String,
    #[serde(deserialize_with = "of_today")]
    pub reason: String,
    /// The number of the ask.
    pub ask: u64,
}

/// All asks of the creature's own accord.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reasons {
    pub since: Option<Timestamp>,
    /// The number of the last ask, its reason, and whether something of it was used.
    pub asks: u64,
    #[serde(deserialize_with = "of_today")]
    pub last: String,
    pub last_used: bool,
    #[serde(deserialize_with = "counts")]
    pub by_reason: BTreeMap<String, Asked>,
    pub left: Vec<Left>,
}

/// The name of a reason today: older selves counted own time by kinds of looks, as `own-sources`.
fn named_today(reason: String) -> String {
    if reason.starts_with("own-") { waking::OWN.to_owned() } else { reason }
}

fn of_today<'a, D: Deserializer<'a>>(from: D) -> Result<String, D::Error> {
    String::deserialize(from).map(named_today)
}

fn counts<'a, D: Deserializer<'a>>(from: D) -> Result<BTreeMap<String, Asked>, D::Error> {
    let mut counts: BTreeMap<String, Asked> = BTreeMap::new();
    for (reason, one) in BTreeMap::<String, Asked>::deserialize(from)? {
        let of_all =
            counts.entry(named_today(reason)).or_insert(Asked { idle: u32::MAX, ..Asked::default() });
        of_all.asked = of_all.asked.saturating_add(one.asked);
        of_all.used = of_all.used.saturating_add(one.used);
        // Own time waits no longer than the most useful of its kinds did.
        of_all.idle = of_all.idle.min(one.idle);
        of_all.last_at = of_all.last_at.max(one.last_at);
    }
    Ok(counts)
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum ReasonChange {
    /// A model was asked.
    Asked { reason: String },
    /// A review that nobody asked for is over; `used`: somebody was told of it.
    Apart { reason: String, used: bool },
    /// The last ask left something that may be used later.
    Left { what: String },
    /// Something of the last ask was used at once: a step was ticked, a word was delivered.
    Came,
    /// A thing that an ask left was used.
    Used { what: String },
}

impl Reasons {
    /// Returns the time this reason may be asked for again; none where it may at any time.
    pub fn due_at(&self, reason: &str) -> Option<Timestamp> {
        let asked = self.by_reason.get(reason)?;
        let times = asked.idle.checked_sub(FREE)?;
        Some(later(asked.last_at?, (FIRST_S << times.min(16)).min(LONGEST_S)))
    }

    /// Names of what asks left; `is_over`: those of the last ask too, whose wake is over.
    pub fn unused(&self, is_over: bool) -> impl Iterator<Item = &str> {
        self.left.iter().filter(move |left| is_over || left.ask < self.asks).map(|left| left.what.as_str())
    }

    /// Each reason in a line, the most frequent first.
    pub fn lines(&self) -> Vec<String> {
        let mut all: Vec<(&String, &Asked)> = self.by_reason.iter().collect();
        all.sort_by_key(|(_, asked)| std::cmp::Reverse(asked.asked));
        all.iter().map(|(name, _)| self.line(name)).collect()
    }

    /// Says of a reason how often something of it was used; empty where it never was one.
    pub fn line(&self, reason: &str) -> String {
        let one = self.by_reason.get(reason);
        one.map_or(String::new(), |one| format!("{reason}: {} of {} were used", one.used, one.asked))
    }

    /// Sums up all asks in a sentence; empty where a model was never asked.
    pub fn summary(&self) -> String {
        let sum = |of: fn(&Asked) -> u64| self.by_reason.values().map(of).sum::<u64>();
        match (self.since, sum(|one| one.used), sum(|one| one.asked)) {
            (None, ..) => String::new(),
            (Some(since), used, asked) => {
                format!(
                    "since {since:.0} a model was asked {asked} times unasked for, and {used} left something that was used"
                )
            }
        }
    }

    /// Counts an ask for this reason; returns the name it is counted under.
    fn count(&mut self, reason: &str, now: Timestamp) -> String {
        self.since.get_or_insert(now);
        let name = match self.by_reason.contains_key(reason) || self.by_reason.len() < MOST {
            true => text::clip(reason, LONGEST_NAME),
            false => "others".to_owned(),
        };
        let one = self.by_reason.entry(name.clone()).or_default();
        (one.asked, one.idle) = (one.asked.saturating_add(1), one.idle.saturating_add(1));
        one.last_at = Some(now);
        name
    }

    fn asked(&mut self, reason: &str, now: Timestamp) {
        let name = self.count(reason, now);
        self.asks = self.asks.saturating_add(1);
        (self.last, self.last_used) = (name, false);
    }

    /// Counts an ask that ran apart; the last ask of the life itself stays as it is.
    fn apart(&mut self, reason: &str, used: bool, now: Timestamp) {
        let name = self.count(reason, now);
        if used {
            self.came(&name);
        }
    }

    /// Ends all pauses: after the owner's order, asks may be worth something that were not.
    pub(crate) fn begin_anew(&mut self) {
        self.by_reason.values_mut().for_each(|one| one.idle = 0);
    }

    /// Notes that something of an ask for this reason was used.
    fn came(&mut self, reason: &str) {
        if let Some(one) = self.by_reason.get_mut(reason) {
            (one.used, one.idle) = (one.asked.min(one.used.saturating_add(1)), 0);
        }
    }

    /// Remembers a thing the last ask left; false where something of that ask was used already.
    fn left(&mut self, what: &str) -> bool {
        if self.last_used || self.last.is_empty() {
            return false;
        }
        let (what, reason) = (text::clip(what, LONGEST_NAME), self.last.clone());
        self.left.retain(|left| left.what != what);
        self.left.push(Left { what, reason, ask: self.asks });
        let over = self.left.len().saturating_sub(MOST_LEFT);
        self.left.drain(..over);
        true
    }

    /// Counts an ask as used once, however many of its things are: the others are struck off with the first.
    fn used(&mut self, what: &str) -> bool {
        let Some(Left { reason, ask, .. }) = self.left.iter().find(|left| left.what == what).cloned() else {
            return false;
        };
        self.left.retain(|left| left.ask != ask);
        self.came(&reason);
        self.last_used |= ask == self.asks;
        true
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &ReasonChange, when: When) -> Result<Value, Refusal> {
    let reasons = &mut agenda.reasons;
    match change {
        ReasonChange::Asked { reason } => reasons.asked(reason, when.now),
        ReasonChange::Apart { reason, used } => reasons.apart(reason, *used, when.now),
        ReasonChange::Left { what } => return Ok(json!({"counts": reasons.left(what)})),
        ReasonChange::Came => {
            let (last, ask) = (reasons.last.clone(), reasons.asks);
            if !std::mem::replace(&mut reasons.last_used, true) {
                reasons.left.retain(|left| left.ask != ask);
                reasons.came(&last);
            }
        }
        ReasonChange::Used { what } => return Ok(json!({"counts": reasons.used(what)})),
    }
    Ok(json!({}))
}
