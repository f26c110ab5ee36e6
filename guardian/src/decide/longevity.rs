//! Compares how soon a tree's lives end in deaths with how long its predecessors lived, by a statistical test. Pure.
//!
//! Trees die at random, at a rate that depends on the machine. A tree with a fault of its own dies at a higher rate:
//! then there is a place in the row of trees from which on they die sooner, and the deaths and hours on its two sides
//! are more than `ODDS` times as likely with two rates as with any single one. The ratio (the two rates averaged over
//! a grid, the single rate the best possible) may be checked after every death: if all trees die at one rate, it ever
//! exceeds its bound with a probability of at most 1 in `ODDS`.

use crate::limits::{Limits, RUNGS};
use house::clock::Millis;
use serde::{Deserialize, Serialize};

/// How much more likely two rates must be than one rate.
const ODDS: f64 = 1_000.0;
/// Highest rate considered, in deaths a spell; each further one is a quarter of the one before.
const FASTEST: f64 = 10.0;
const RATES: i32 = 10;
/// A crash loop of a tree that lives long, or on a machine that kills, takes so many times the deaths within so many
/// times the window.
const MANY: u32 = 3;
/// Deaths of other trees per loop window from which on the machine is taken to be the cause.
const HARSH: f64 = 0.01;
/// Life without a death assumed before the first record, in spells.
const ASSUMED_SPELLS: f64 = 24.0;

/// Lifetime and deaths of one tree since it was trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Lived {
    pub tree: String,
    pub lived_ms: Millis,
    /// Deaths by the fault of its own code.
    pub deaths: u32,
    /// Deaths come in clusters: for one spell after a death that counts, neither further deaths nor life count.
    pub weighed_ms: Millis,
    pub counted: u32,
    pub counted_at: Millis,
}

/// Trusted trees that still stand, in the order they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lives(pub Vec<Lived>);

impl Lived {
    fn spell_until(&self, limits: &Limits) -> Millis {
        if self.counted == 0 { 0 } else { self.counted_at.saturating_add(limits.spell_ms) }
    }

    fn and(self, other: &Self) -> Self {
        Self {
            tree: self.tree,
            lived_ms: self.lived_ms.saturating_add(other.lived_ms),
            deaths: self.deaths.saturating_add(other.deaths),
            weighed_ms: self.weighed_ms.saturating_add(other.weighed_ms),
            counted: self.counted.saturating_add(other.counted),
            counted_at: self.counted_at.max(other.counted_at),
        }
    }
}

/// Deaths, and life in spells, of several trees together.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    deaths: f64,
    spells: f64,
}

impl Sum {
    fn of(lives: &[Lived], limits: &Limits) -> Self {
        lives.iter().fold(Self::default(), |sum, lived| Self {
            deaths: sum.deaths + f64::from(lived.counted),
            spells: sum.spells + lived.weighed_ms as f64 / limits.spell_ms.max(1) as f64,
        })
    }

    fn dies_sooner_than(self, other: Self) -> bool {
        self.deaths * other.spells > other.deaths * self.spells
    }

    fn likelihood_ln(self, rate: f64) -> f64 {
        self.deaths * rate.ln() - rate * self.spells
    }
}

impl Lives {
    /// Keeps only the trees that stand, the one that runs, and the one whose fall is in doubt.
    pub fn keep(&mut self, standing: &[String], runs: &str, fell: &str) {
        self.0.retain(|lived| standing.contains(&lived.tree) || lived.tree == runs || lived.tree == fell);
        // As on the ladder the oldest go first, but not the bottom one.
        while self.0.len() > RUNGS + 2 {
            self.0.remove(1);
        }
    }

    pub fn take(&mut self, tree: &str) -> Lived {
        let at = self.0.iter().position(|lived| lived.tree == tree);
        at.map(|at| self.0.remove(at)).unwrap_or_default()
    }

    /// Adds the time a tree lived.
    pub fn live(&mut self, tree: &str, from: Millis, to: Millis, limits: &Limits) {
        let Some(lived) = self.entry(tree) else { return };
        lived.lived_ms = lived.lived_ms.saturating_add(to.saturating_sub(from));
        let weighed = to.saturating_sub(from.max(lived.spell_until(limits)));
        lived.weighed_ms = lived.weighed_ms.saturating_add(weighed);
    }

    /// Adds a death of a tree; returns whether it counts: not within a spell of the last counted one.
    pub fn die(&mut self, tree: &str, now: Millis, limits: &Limits) -> bool {
        let Some(lived) = self.entry(tree) else { return false };
        lived.deaths = lived.deaths.saturating_add(1);
        let counts = now >= lived.spell_until(limits);
        if counts {
            lived.counted = lived.counted.saturating_add(1);
            lived.counted_at = now;
        }
        counts
    }

    fn entry(&mut self, tree: &str) -> Option<&mut Lived> {
        let at = self.0.iter().position(|lived| lived.tree == tree).unwrap_or_else(|| {
            self.0.push(Lived { tree: tree.to_owned(), ..Lived::default() });
            self.0.len() - 1
        });
        self.0.get_mut(at)
    }

    pub fn of(&self, tree: &str) -> Lived {
        self.0.iter().find(|lived| lived.tree == tree).cloned().unwrap_or_default()
    }

    /// Returns the deaths of a tree, and the time, that make a crash loop: few for a tree that has not lived long yet,
    /// unless the other trees' deaths show that the machine kills.
    pub fn asked(&self, tree: &str, limits: &Limits) -> (u32, Millis) {
        let window = limits.loop_window_ms;
        let others: Vec<Lived> = self.0.iter().filter(|lived| lived.tree != tree).cloned().collect();
        let others = Sum::of(&others, limits);
        let windows = (others.spells + ASSUMED_SPELLS) * limits.spell_ms.max(1) as f64 / window.max(1) as f64;
        let lived = self.of(tree);
        let lives_long = lived.lived_ms / Millis::from(lived.deaths.max(1)) >= window;
        let times = if lives_long || others.deaths / windows > HARSH { MANY } else { 1 };
        (limits.loop_deaths.saturating_mul(times), window.saturating_mul(times.into()))
    }

    /// The trees before the place from which on they die sooner, newest first; none where all die at one rate.
    pub fn lived_before(&self, tree: &str, limits: &Limits) -> Vec<String> {
        let row = self.with_last(tree);
        let before = row.onset(limits).and_then(|at| row.0.get(..at)).unwrap_or_default();
        before.iter().rev().map(|lived| lived.tree.clone()).collect()
    }

    /// Joins a falling tree with all trees since the dying began: from here on they count as one.
    pub fn join_dying(&mut self, tree: &str, limits: &Limits) {
        let mut row = self.with_last(tree);
        if let Some(at) = row.onset(limits) {
            let dying = row.0.split_off(at);
            row.0.extend(dying.into_iter().rev().reduce(|last, other| last.and(&other)));
        }
        *self = row;
    }

    /// Adds the record of `other` to that of `tree`, which becomes the newest.
    pub fn join(&mut self, tree: &str, other: &str) {
        let [lived, other] = [tree, other].map(|tree| self.take(tree));
        self.0.push(Lived { tree: tree.to_owned(), ..lived.and(&other) });
    }

    /// Whether all of these together now die as soon as `fell` did, so that its deaths were not its own fault.
    pub fn die_as_soon_as(&self, fell: &Lived, limits: &Limits) -> bool {
        let odds_ln = odds_ln(Sum::of(std::slice::from_ref(fell), limits), Sum::of(&self.0, limits));
        fell.counted > 0 && odds_ln < 0.0
    }

    fn with_last(&self, tree: &str) -> Self {
        let (last, mut row): (Vec<_>, Vec<_>) = self.0.iter().cloned().partition(|lived| lived.tree == tree);
        row.extend(last);
        Self(row)
    }

    /// The place from which on trees die sooner than all before, and sooner than the last of those, if that is beyond
    /// chance.
    fn onset(&self, limits: &Limits) -> Option<usize> {
        let parted = (1..self.0.len()).filter_map(|at| {
            let (older, newer) = self.0.split_at_checked(at)?;
            let (last, newer) = (Sum::of(older.get(at - 1..)?, limits), Sum::of(newer, limits));
            let enough = newer.deaths >= f64::from(limits.loop_deaths) && newer.dies_sooner_than(last);
            enough.then(|| (at, odds_ln(newer, Sum::of(older, limits))))
        });
        let (at, odds_ln) = parted.max_by(|one, other| one.1.total_cmp(&other.1))?;
        (odds_ln >= ODDS.ln()).then_some(at)
    }
}

/// The logarithm of how much more likely the observations are if the newer trees die sooner than if all die at one
/// rate.
fn odds_ln(newer: Sum, older: Sum) -> f64 {
    if !newer.dies_sooner_than(older) {
        return f64::NEG_INFINITY;
    }
    let all = Sum { deaths: newer.deaths + older.deaths, spells: newer.spells + older.spells };
    let alike = all.likelihood_ln(all.deaths / all.spells);
    let rates = || (0..RATES).map(|nth| FASTEST * 0.25_f64.powi(nth));
    let pairs =
        rates().flat_map(|fast| rates().filter(move |slow| *slow < fast).map(move |slow| (fast, slow)));
    let ratios: Vec<f64> =
        pairs.map(|(fast, slow)| newer.likelihood_ln(fast) + older.likelihood_ln(slow) - alike).collect();
    let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = ratios.iter().map(|ratio| (ratio - most).exp()).sum::<f64>() / ratios.len() as f64;
    most + mean.ln()
}
