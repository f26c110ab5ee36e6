//! Decides what broken invariants come to: a self-edit that breaks what its predecessor kept is put back. Pure.
//!
//! Tests say what a self can do; invariants say what its lives did, from files and a ledger that it does not judge
//! itself. A single broken one may be chance or the world, so trees are compared: the same mind, the same house,
//! another source. What a tree's predecessor breaks as well is nobody's edit, and is told to the owner.

use crate::decide::policy::Policy;
use crate::decide::vocabulary::{Action, Cause, Phase};
use crate::limits::Limits;
use house::clock::Millis;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Observations of one invariant that a tree is judged by; older ones fade. Those that records alone decide are seldom
/// chance, so more of them are kept.
const REMEMBERED: u32 = 16;
const REMEMBERED_EXACT: u32 = 64;
/// Fewest breaks before a tree is judged, and fewest observations of its predecessor.
const FEWEST: u32 = 3;
/// A predecessor keeps an invariant that it broke at most once in so many times.
const ONCE_IN: u32 = 5;
/// Observations, none of a break, after which the breaks of a predecessor's edit can be told from chance.
const WELL_KNOWN: u32 = 8;
/// Fewest breaks that the predecessor would have had by now at the rate of its edit.
const EXPECTED: u32 = 2;
/// Conducts kept, each of a tree with a mind, and those of one tree: the creature names its mind itself, and no name
/// may displace the conducts of the trees before it.
const MOST_CONDUCTS: usize = 64;
const MOST_MINDS: usize = 8;

/// Rule that every life keeps, whatever its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Invariant {
    /// Each call of a thought has its result on record.
    Results,
    /// Thoughts of paid calls are on record.
    Remembered,
    /// The records' cost is the ledger's.
    Costs,
    /// The owner's words are heard.
    Heard,
    /// A word of the owner's that was heard has an answer, and no empty one.
    Answered,
    /// A word that was heard is taken up: something goes out for it, or it is answered.
    Prompt,
    /// Nothing is said twice to one word.
    Once,
    /// A reminder is told when it is due, on its thread.
    Reminded,
    /// A rest is no longer than the owner's longest.
    Rests,
    /// Thoughts on record were had: there was a call for each.
    Paid,
    /// Results on record are really there, where the guardian can see them.
    Done,
}

impl Invariant {
    /// Whether records alone say that it is broken, however slow the machine and however long a wait.
    fn is_exact(self) -> bool {
        use Invariant::{Costs, Once, Paid, Remembered, Results};
        matches!(self, Results | Remembered | Costs | Paid | Once)
    }

    /// Describes how a life breaks it, for the end of a sentence.
    pub fn broken(self) -> &'static str {
        match self {
            Invariant::Results => "calls of its thoughts have no result on record",
            Invariant::Remembered => "paid thoughts are on no record",
            Invariant::Costs => "the cost on its records is not the ledger's",
            Invariant::Heard => "the owner's words are not heard",
            Invariant::Answered => "the owner's words get no answer, or an empty one",
            Invariant::Prompt => "nothing comes of the owner's words for long after they were heard",
            Invariant::Once => "the owner is told the same again and again",
            Invariant::Reminded => "reminders that are due are not told, or on another thread",
            Invariant::Rests => "its rests are longer than the owner's longest",
            Invariant::Paid => "thoughts are on its records that no model was asked for",
            Invariant::Done => "what its records say was done is not there",
        }
    }
}

/// Invariants seen kept or broken by one life since the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Observed {
    /// The mind that thought: another one is no fault of the source.
    pub mind: String,
    /// Whether a self-edit made the tree that lives; the owner's own commits are never put back for this.
    pub is_self_edit: bool,
    /// Invariants, each kept or broken.
    pub seen: Vec<(Invariant, bool)>,
}

/// How often an invariant was kept and broken, lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    pub kept: u32,
    pub broken: u32,
    /// Whether the owner was told that it is broken.
    pub told: bool,
}

impl Tally {
    fn note(&mut self, invariant: Invariant, kept: bool) {
        let most = if invariant.is_exact() { REMEMBERED_EXACT } else { REMEMBERED };
        if self.kept + self.broken >= most {
            (self.kept, self.broken) = (self.kept / 2, self.broken / 2);
        }
        *(if kept { &mut self.kept } else { &mut self.broken }) += 1;
    }

    fn breaks(self) -> bool {
        self.broken >= FEWEST && self.broken > self.kept
    }

    /// Whether it is broken about as often as kept, or at all where no clock has a say in it.
    fn is_often_broken(self, invariant: Invariant) -> bool {
        match invariant.is_exact() {
            true => self.broken >= FEWEST,
            false => self.broken > FEWEST && self.broken * 5 >= self.kept * 4,
        }
    }

    /// Whether it is broken more than chance and the world explain, given the tally before.
    fn is_worse_than(self, before: Tally, invariant: Invariant) -> bool {
        let is_well_known = before.broken == 0 && before.kept >= WELL_KNOWN;
        let is_rarer = before.kept * self.broken >= EXPECTED * (self.kept + self.broken);
        self.breaks() && before.keeps()
            || self.is_often_broken(invariant) && is_well_known && (is_rarer || !invariant.is_exact())
    }

    fn keeps(self) -> bool {
        self.kept >= FEWEST && self.broken * ONCE_IN <= self.kept
    }
}

/// The conduct of one tree's lives with one mind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Conduct {
    pub tree: String,
    pub mind: String,
    pub tallies: BTreeMap<Invariant, Tally>,
}

/// The conduct of the trees that lived here, the newest last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conducts(pub Vec<Conduct>);

impl Conducts {
    /// The conduct of this tree with this mind, now the newest.
    fn newest(&mut self, tree: &str, mind: &str) -> Option<&mut Conduct> {
        let at = self.0.iter().position(|conduct| conduct.tree == tree && conduct.mind == mind);
        let conduct = at.map(|at| self.0.remove(at)).unwrap_or_else(|| Conduct {
            tree: tree.into(),
            mind: mind.into(),
            ..Conduct::default()
        });
        let its_own = self.0.iter().filter(|known| known.tree == tree).count();
        if its_own >= MOST_MINDS
            && let Some(oldest) = self.0.iter().position(|known| known.tree == tree)
        {
            self.0.remove(oldest);
        }
        let over = (self.0.len() + 1).saturating_sub(MOST_CONDUCTS);
        self.0.drain(..over);
        self.0.push(conduct);
        self.0.last_mut()
    }

    /// How the newest of these trees kept it, with as many of those below as it takes to have seen enough; none where
    /// that is never enough.
    fn before(&self, trees: &[String], mind: &str, invariant: Invariant) -> Option<Tally> {
        let mut sum = Tally::default();
        for tree in trees {
            let tally = self.tally(tree, mind, invariant);
            (sum.kept, sum.broken) = (sum.kept + tally.kept, sum.broken + tally.broken);
            if sum.kept + sum.broken >= FEWEST {
                return Some(sum);
            }
        }
        None
    }

    pub fn tally(&self, tree: &str, mind: &str, invariant: Invariant) -> Tally {
        let conduct = self.0.iter().find(|conduct| conduct.tree == tree && conduct.mind == mind);
        conduct.and_then(|conduct| conduct.tallies.get(&invariant)).copied().unwrap_or_default()
    }
}

impl Policy {
    pub(crate) fn observed(&mut self, limits: &Limits, now: Millis, observed: Observed) -> Vec<Action> {
        let lives = matches!(self.phase, Phase::Probation { .. } | Phase::Settled { .. });
        let Some(subject) = self.subject.as_ref().filter(|_| lives) else { return vec![] };
        // In safe mode, and in place of a rollback, too little runs to tell.
        if self.record.safe.is_some() || self.stands_in() {
            return vec![];
        }
        let (tree, mind) = (subject.tree.clone(), observed.mind);
        let before: Vec<String> = subject.rungs.iter().rev().filter(|rung| **rung != tree).cloned().collect();
        let Some(conduct) = self.record.conducts.newest(&tree, &mind) else { return vec![] };
        for (invariant, kept) in observed.seen {
            conduct.tallies.entry(invariant).or_default().note(invariant, kept);
        }
        let broken: Vec<(Invariant, Tally)> = conduct
            .tallies
            .iter()
            .filter(|(name, tally)| (tally.breaks() || tally.is_often_broken(**name)) && !tally.told)
            .map(|(invariant, tally)| (*invariant, *tally))
            .collect();
        for (invariant, tally) in broken {
            let of_old = self.record.conducts.before(&before, &mind, invariant);
            if observed.is_self_edit && of_old.is_some_and(|of_old| tally.is_worse_than(of_old, invariant)) {
                self.record.breach = Some((invariant, tally));
                return self.end_for(limits, now, Cause::Conduct);
            }
            if !tally.breaks() {
                continue;
            }
            let conduct = self.record.conducts.newest(&tree, &mind);
            let tally = conduct.and_then(|conduct| conduct.tallies.get_mut(&invariant));
            let Some(tally) = tally else { continue };
            tally.told = true;
            return vec![Action::TellBroken { invariant, tally: *tally }];
        }
        vec![]
    }
}
