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
    /// An ask left something that may be used later; `ask`: the look under way, else the last one.
    Left {
        what: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ask: Option<u64>,
    },
    /// Something of an ask was used at once: a step was ticked, a word was delivered.
    Came {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ask: Option<u64>,
    },
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

    /// Names of what asks left, but for those that are under way.
    pub fn unused(&self, under_way: [Option<u64>; 2]) -> impl Iterator<Item = &str> {
        let is_over = move |left: &&Left| !under_way.contains(&Some(left.ask));
        self.left.iter().filter(is_over).map(|left| left.what.as_str())
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

    /// The reason of an ask: the look under way is its own time's, also where another ask came after it.
    fn reason_of(&self, ask: u64) -> String {
        if ask == self.asks { self.last.clone() } else { waking::OWN.to_owned() }
    }

    /// Remembers a thing that an ask left.
    fn left(&mut self, what: &str, ask: u64) {
        let (what, reason) = (text::clip(what, LONGEST_NAME), self.reason_of(ask));
        self.left.retain(|left| left.what != what);
        self.left.push(Left { what, reason, ask });
        let over = self.left.len().saturating_sub(MOST_LEFT);
        self.left.drain(..over);
    }

    /// Counts an ask for this reason as used once, however many of its things are: the others are struck off with the first.
    fn used(&mut self, reason: &str, ask: u64) {
        self.left.retain(|left| left.ask != ask);
        self.came(reason);
    }
}

/// Whether something was used of the last ask, or of the look under way; none for any other ask.
fn is_used(agenda: &mut Agenda, ask: u64) -> Option<&mut bool> {
    match ask == agenda.reasons.asks {
        true => Some(&mut agenda.reasons.last_used).filter(|_| !agenda.reasons.last.is_empty()),
        false => agenda.own.under_way.as_mut().filter(|look| look.ask == ask).map(|look| &mut look.used),
    }
}

pub(crate) fn apply(agenda: &mut Agenda, change: &ReasonChange, when: When) -> Result<Value, Refusal> {
    match change {
        ReasonChange::Asked { reason } => {
            agenda.reasons.asked(reason, when.now);
            // A quick look begins before its ask is counted.
            let look = agenda.own.under_way.as_mut().filter(|_| reason == waking::OWN);
            look.into_iter().for_each(|look| look.ask = agenda.reasons.asks);
        }
        ReasonChange::Apart { reason, used } => agenda.reasons.apart(reason, *used, when.now),
        ReasonChange::Left { what, ask } => {
            let ask = ask.unwrap_or(agenda.reasons.asks);
            let counts = is_used(agenda, ask).is_some_and(|used| !*used);
            if counts {
                agenda.reasons.left(what, ask);
            }
            return Ok(json!({"counts": counts}));
        }
        ReasonChange::Came { ask } => {
            let ask = ask.unwrap_or(agenda.reasons.asks);
            if is_used(agenda, ask).is_some_and(|used| !std::mem::replace(used, true)) {
                let reason = agenda.reasons.reason_of(ask);
                agenda.reasons.used(&reason, ask);
            }
        }
        ReasonChange::Used { what } => {
            let found = agenda.reasons.left.iter().find(|left| left.what == *what).cloned();
            if let Some(Left { reason, ask, .. }) = &found {
                agenda.reasons.used(reason, *ask);
                is_used(agenda, *ask).into_iter().for_each(|used| *used = true);
            }
            return Ok(json!({"counts": found.is_some()}));
        }
    }
    Ok(json!({}))
}
