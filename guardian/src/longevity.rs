//! Weighs how soon a tree's lives end in deaths against how long its predecessors demonstrably lived. Pure.
//!
//! On a sound machine, and on a bad one, trees die at random at some rate of the machine's own. A tree with a fault of
//! its own dies at another: then there is a place in the row of trees from which on they die sooner, and the deaths and
//! hours on its two sides are more than `ODDS` times as likely with two rates as with any single one. That ratio, the
//! two rates averaged over a grid and the single one the best there is, may be looked at after every death: with one
//! rate it ever exceeds its bound with a probability of 1 in `ODDS` at most.

use crate::limits::{Limits, Millis, RUNGS};
use serde::{Deserialize, Serialize};

/// How much more likely two rates must be than one.
const ODDS: f64 = 1_000.0;
/// The fastest rate weighed, in deaths a spell; each of the others is a quarter of the one before.
const FASTEST: f64 = 10.0;
const RATES: i32 = 10;
/// So many times the deaths in as many times the window are asked of a tree that has lived, or on a machine that kills.
const OLD: u32 = 3;
/// Deaths of others in one window of a crash loop from which on it is the machine that kills.
const HARSH: f64 = 0.01;
/// What is taken to have been lived without a death before the first record, in spells.
const UNSEEN: f64 = 24.0;

/// What one tree has lived since it was trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Lived {
    pub tree: String,
    pub lived_ms: Millis,
    /// Of its own code.
    pub deaths: u32,
    /// Deaths come in spells: within one of a death that counts neither deaths nor life count.
    pub weighed_ms: Millis,
    pub counted: u32,
    pub counted_at: Millis,
}

/// The standing trees that were trusted, in the order they came to run. The one that runs is the last, and stands here
/// twice while it runs again: what it lives now is then another stretch than what it lived before.
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

    fn sum(lives: &[Lived], limits: &Limits) -> Sum {
        lives.iter().fold(Sum::default(), |sum, lived| Sum {
            deaths: sum.deaths + f64::from(lived.counted),
            spells: sum.spells + lived.weighed_ms as f64 / limits.spell_ms.max(1) as f64,
        })
    }
}

/// Deaths, and life in spells, of some trees together.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    deaths: f64,
    spells: f64,
}

impl Sum {
    fn dies_sooner_than(self, other: Self) -> bool {
        self.deaths * other.spells > other.deaths * self.spells
    }

    fn likelihood_ln(self, rate: f64) -> f64 {
        self.deaths * rate.ln() - rate * self.spells
    }
}

impl Lives {
    /// What fell is forgotten: only what stands is known, and what runs.
    pub fn keep(&mut self, standing: &[String], runs: &str) {
        self.0.retain(|lived| standing.contains(&lived.tree) || lived.tree == runs);
        // Past the bottom one the oldest go, as they do on the ladder.
        while self.0.len() > RUNGS + 3 {
            self.0.remove(1);
        }
    }

    /// `tree` lived from one time to another.
    pub fn live(&mut self, tree: &str, from: Millis, to: Millis, limits: &Limits) {
        let Some(lived) = self.running(tree) else { return };
        lived.lived_ms = lived.lived_ms.saturating_add(to.saturating_sub(from));
        let weighed = to.saturating_sub(from.max(lived.spell_until(limits)));
        lived.weighed_ms = lived.weighed_ms.saturating_add(weighed);
    }

    /// `tree` died of its code. Whether that counts: not so soon after one that did.
    pub fn die(&mut self, tree: &str, now: Millis, limits: &Limits) -> bool {
        let Some(lived) = self.running(tree) else { return false };
        lived.deaths = lived.deaths.saturating_add(1);
        let counts = now >= lived.spell_until(limits);
        if counts {
            lived.counted = lived.counted.saturating_add(1);
            lived.counted_at = now;
        }
        counts
    }

    /// All that a tree has lived.
    pub fn of(&self, tree: &str) -> Lived {
        let same = self.0.iter().filter(|lived| lived.tree == tree);
        same.fold(Lived { tree: tree.to_owned(), ..Lived::default() }, Lived::and)
    }

    /// The stretch that runs; a new one where another tree ran last.
    fn running(&mut self, tree: &str) -> Option<&mut Lived> {
        if self.0.last().is_none_or(|last| last.tree != tree) {
            self.join();
            self.0.push(Lived { tree: tree.to_owned(), ..Lived::default() });
        }
        self.0.last_mut()
    }

    /// What `tree` lives from here on is another stretch, and held against what it lived before.
    pub fn again(&mut self, tree: &str) {
        if self.0.iter().filter(|lived| lived.tree == tree).count() == 1 {
            self.0.push(Lived { tree: tree.to_owned(), ..Lived::default() });
        }
    }

    /// The world is another: only what runs now shows how one lives in it.
    pub fn begin_anew(&mut self) {
        let all_but_last = self.0.len().saturating_sub(1);
        self.0.drain(..all_but_last);
    }

    /// Once another tree has run the two stretches of one are one.
    fn join(&mut self) {
        let Some(mut last) = self.0.pop() else { return };
        if let Some(at) = self.0.iter().position(|lived| lived.tree == last.tree) {
            last = last.and(&self.0.remove(at));
        }
        self.0.push(last);
    }

    /// Deaths, and within which time, that make a crash loop of the tree that runs: few of one that has shown little,
    /// where the others show that it is not the machine that kills.
    pub fn asked(&self, limits: &Limits) -> (u32, Millis) {
        let window = limits.loop_window_ms;
        let Some((now, others)) = self.0.split_last() else { return (limits.loop_deaths, window) };
        let others = Lived::sum(others, limits);
        let windows = (others.spells + UNSEEN) * limits.spell_ms.max(1) as f64 / window.max(1) as f64;
        let is_many = now.lived_ms >= window || others.deaths / windows > HARSH;
        let times = if is_many { OLD } else { 1 };
        (limits.loop_deaths.saturating_mul(times), window.saturating_mul(times.into()))
    }

    /// The trees that lived before the dying began, newest first; none where all die alike.
    pub fn lived_before(&self, limits: &Limits) -> impl Iterator<Item = &str> {
        let lived = self.onset(limits).map_or(&[][..], |at| self.0.get(..at).unwrap_or_default());
        lived.iter().rev().map(|lived| lived.tree.as_str())
    }

    /// Whether what runs again dies now and demonstrably lived before: then the world has changed, and not the tree.
    pub fn has_turned(&self, limits: &Limits) -> bool {
        self.before().is_some_and(|(before, now)| {
            let [before, now] = [before, now].map(|lived| Lived::sum(std::slice::from_ref(lived), limits));
            odds_ln(now, before) >= ODDS.ln()
        })
    }

    /// Whether what runs again had lived for longer than any spell before.
    pub fn had_lived(&self, limits: &Limits) -> bool {
        self.before().is_some_and(|(before, _)| before.lived_ms > limits.spell_ms)
    }

    /// What the tree that runs lived before, and what it lives now, if it runs again.
    fn before(&self) -> Option<(&Lived, &Lived)> {
        let (now, others) = self.0.split_last()?;
        Some((others.iter().rfind(|lived| lived.tree == now.tree)?, now))
    }

    /// From where on the trees die sooner than all before them, if that is beyond chance.
    fn onset(&self, limits: &Limits) -> Option<usize> {
        let parted = (1..self.0.len()).filter_map(|at| {
            let (older, newer) = self.0.split_at_checked(at)?;
            let last = Lived::sum(std::slice::from_ref(older.last()?), limits);
            let newer = Lived::sum(newer, limits);
            let enough = newer.deaths >= f64::from(limits.loop_deaths) && newer.dies_sooner_than(last);
            enough.then(|| (at, odds_ln(newer, Lived::sum(older, limits))))
        });
        let (at, odds_ln) = parted.max_by(|one, other| one.1.total_cmp(&other.1))?;
        (odds_ln >= ODDS.ln()).then_some(at)
    }
}

/// How much more likely (its logarithm) what was seen is if the newer die sooner than if all die alike.
fn odds_ln(newer: Sum, older: Sum) -> f64 {
    if !newer.dies_sooner_than(older) {
        return f64::NEG_INFINITY;
    }
    let all = Sum { deaths: newer.deaths + older.deaths, spells: newer.spells + older.spells };
    let alike = all.likelihood_ln(all.deaths / all.spells);
    let rates = || (0..RATES).map(|nth| FASTEST * 0.25_f64.powi(nth));
    let pairs = rates().flat_map(|fast| rates().filter(move |slow| *slow < fast).map(move |slow| (fast, slow)));
    let ratios: Vec<f64> = pairs
        .map(|(fast, slow)| newer.likelihood_ln(fast) + older.likelihood_ln(slow) - alike)
        .collect();
    let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = ratios.iter().map(|ratio| (ratio - most).exp()).sum::<f64>() / ratios.len() as f64;
    most + mean.ln()
}
