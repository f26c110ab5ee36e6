//! A simulated world of commits, a ladder and creatures that live as told, under the real policy.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::wildcard_enum_match_arm)]

use guardian::limits::{Limits, Millis};
use guardian::policy::Policy;
use guardian::vocabulary::{Action, Blame, Cause, Death, Event, Phase, Record, Standing, Subject};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How a version of the creature behaves, life after life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nature {
    /// Beats and thinks for ever.
    Sound,
    /// Beats and thinks, and dies after so many milliseconds.
    DiesAt(Millis),
    /// Never gives a beat.
    Mute,
    /// Beats, and never finishes a turn.
    Thoughtless,
    /// Asks politely to be reborn after so many milliseconds, each time as a new commit.
    Polite(Millis),
    /// Sound in safe mode, else dies at once.
    Poisoned,
    DoesNotBuild,
    /// Killed by a full disk after so many milliseconds.
    DiskFull(Millis),
}

pub struct World {
    pub limits: Limits,
    pub policy: Policy,
    pub now: Millis,
    pub natures: BTreeMap<String, Nature>,
    pub head: String,
    pub ladder: Vec<String>,
    pub fallen: BTreeSet<String>,
    pub kept: BTreeSet<String>,
    pub safe: bool,
    pub life: Option<Millis>,
    pub beat: Option<Millis>,
    pub build: bool,
    pub turns: u64,
    // What happened, for the asserts.
    pub lives: usize,
    pub falls: Vec<(Cause, String, String)>,
    pub blessings: Vec<String>,
    pub deaths: Vec<(Death, Blame)>,
    pub starts: Vec<Millis>,
    pub surveys: usize,
}

impl World {
    pub fn new(natures: &[(&str, Nature)]) -> Self {
        let limits = Limits::default();
        let mut world = Self {
            policy: Policy::new(Record::default(), 0),
            limits,
            now: 0,
            natures: natures.iter().map(|(name, nature)| ((*name).to_owned(), *nature)).collect(),
            head: natures[0].0.to_owned(),
            ladder: vec![natures[0].0.to_owned()],
            fallen: BTreeSet::new(),
            kept: BTreeSet::new(),
            safe: false,
            life: None,
            beat: None,
            build: false,
            turns: 0,
            lives: 0,
            falls: vec![],
            blessings: vec![],
            deaths: vec![],
            starts: vec![],
            surveys: 0,
        };
        world.happen(Event::Tick);
        world
    }

    pub fn nature(&self) -> Nature {
        self.natures[&self.head]
    }

    pub fn happen(&mut self, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            for action in self.policy.step(&self.limits, self.now, event) {
                events.extend(self.perform(action));
            }
        }
    }

    pub fn perform(&mut self, action: Action) -> Option<Event> {
        match action {
            Action::Survey { .. } => {
                self.surveys += 1;
                let standing = if self.fallen.contains(&self.head) {
                    Standing::Fallen
                } else {
                    match self.ladder.iter().position(|tree| *tree == self.head) {
                        Some(0) => Standing::Bottom,
                        Some(_) => Standing::Blessed,
                        None => Standing::Unproven,
                    }
                };
                let kept = self.kept.contains(&self.head);
                Some(Event::Surveyed(Subject { tree: self.head.clone(), standing, kept, built: false }))
            }
            Action::Build => {
                self.build = true;
                None
            }
            Action::Spawn { safe, .. } => {
                assert!(self.life.is_none(), "two creatures");
                (self.life, self.beat, self.safe, self.turns) = (Some(self.now), None, safe, 0);
                self.lives += 1;
                self.starts.push(self.now);
                None
            }
            Action::Terminate | Action::KillTree => {
                self.life = None;
                Some(Event::Exited { blame: Blame::Code, rebirth: false })
            }
            Action::Bury { death, blame } => {
                self.deaths.push((death, blame));
                None
            }
            Action::Tidy => Some(Event::Tidied),
            Action::Commit => {
                if let Nature::Polite(_) = self.nature() {
                    let next = format!("{}+", self.head);
                    self.natures.insert(next.clone(), self.nature());
                    self.head = next;
                }
                Some(Event::Committed)
            }
            Action::Bless => {
                if !self.ladder.contains(&self.head) {
                    self.ladder.push(self.head.clone());
                }
                self.kept.insert(self.head.clone());
                self.blessings.push(self.head.clone());
                Some(Event::Blessed)
            }
            Action::Rollback { cause, to_bottom } => {
                let others: Vec<_> = self.ladder.iter().filter(|tree| **tree != self.head).cloned().collect();
                let Some(target) = (if to_bottom { others.first() } else { others.last() }) else {
                    return Some(Event::RollbackExhausted);
                };
                if cause.condemns() {
                    self.fallen.insert(self.head.clone());
                    let head = self.head.clone();
                    self.ladder.retain(|tree| *tree != head);
                }
                self.falls.push((cause, self.head.clone(), target.clone()));
                self.head = target.clone();
                Some(Event::RollbackDone)
            }
            Action::BuildBeside | Action::StopBuild | Action::Answer | Action::Leave => None,
        }
    }

    /// Lives on for so long, a look every second.
    pub fn live(&mut self, millis: Millis) {
        let end = self.now + millis;
        while self.now < end {
            self.now += 1_000;
            self.one_second();
        }
    }

    pub fn one_second(&mut self) {
        if self.build {
            self.build = false;
            let outcome = match self.nature() {
                Nature::DoesNotBuild => Event::BuildFailed(Blame::Code),
                _ => Event::BuildSucceeded,
            };
            self.happen(outcome);
        }
        if let Some(born) = self.life {
            let age = self.now - born;
            let dead = |at: Millis| age >= at;
            let blame = if matches!(self.nature(), Nature::DiskFull(_)) { Blame::Disk } else { Blame::Code };
            match self.nature() {
                Nature::DiesAt(at) | Nature::DiskFull(at) if dead(at) => self.exit(blame, false),
                Nature::Polite(at) if dead(at) => self.exit(blame, true),
                Nature::Poisoned if !self.safe => self.exit(blame, false),
                Nature::Mute => {}
                nature => {
                    let thinks = nature != Nature::Thoughtless;
                    self.turns += u64::from(thinks);
                    self.happen(Event::Beat { turns: self.turns, thought: thinks });
                }
            }
        }
        self.happen(Event::Tick);
    }

    pub fn exit(&mut self, blame: Blame, rebirth: bool) {
        self.life = None;
        self.happen(Event::Exited { blame, rebirth });
    }

    /// A self-edit: the settled creature asks to be reborn as `tree`.
    pub fn becomes(&mut self, tree: &str) {
        assert!(matches!(self.policy.phase, Phase::Settled { .. }), "{:?}", self.policy.phase);
        self.life = None;
        self.head = tree.to_owned();
        self.happen(Event::Exited { blame: Blame::Code, rebirth: true });
    }
}
