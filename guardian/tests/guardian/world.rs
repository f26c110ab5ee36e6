//! A simulated world of commits, a ladder and creatures that live as told, under the real policy.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::wildcard_enum_match_arm)]

use guardian::decide::policy::Policy;
use guardian::decide::vocabulary::{
    Action, Blame, Cause, Death, Event, Examined, Phase, Record, Standing, Subject,
};
use guardian::limits::{Limits, RUNGS};
use house::clock::Millis;
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
    /// Killed by somebody outside after so many milliseconds.
    Killed(Millis),
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
    /// Trees that a self-edit made and that have not passed their tests.
    pub unexamined: BTreeSet<String>,
    /// Since when the tests of the life run.
    pub exam: Option<Millis>,
    /// How long they take, and what comes of them; the last answer stays.
    pub exams: (Millis, Vec<Examined>),
    pub turns: u64,
    /// Between two looks while it lives on.
    pub pace: Millis,
    // What happened, for the asserts.
    pub lives: usize,
    pub falls: Vec<(Cause, String, String)>,
    pub blessings: Vec<String>,
    pub deaths: Vec<(Death, Blame)>,
    pub starts: Vec<Millis>,
    pub examined: usize,
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
            unexamined: BTreeSet::new(),
            exam: None,
            exams: (2_000, vec![Examined::Passed]),
            turns: 0,
            pace: 1_000,
            lives: 0,
            falls: vec![],
            blessings: vec![],
            deaths: vec![],
            starts: vec![],
            examined: 0,
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
            let actions = self.policy.step(&self.limits, self.now, event);
            self.exam = self.exam.filter(|_| self.policy.examines());
            for action in actions {
                events.extend(self.perform(action));
            }
        }
    }

    pub fn perform(&mut self, action: Action) -> Option<Event> {
        match action {
            Action::Survey { .. } => {
                self.surveys += 1;
                let standing = match self.ladder.iter().position(|tree| *tree == self.head) {
                    Some(0) => Standing::Bottom,
                    _ if self.fallen.contains(&self.head) => Standing::Fallen,
                    Some(_) => Standing::Blessed,
                    None => Standing::Unproven,
                };
                let kept = self.kept.contains(&self.head);
                let (tree, rungs) = (self.head.clone(), self.ladder.clone());
                let unexamined = standing == Standing::Unproven && self.unexamined.contains(&tree);
                Some(Event::Surveyed(Subject { tree, standing, rungs, kept, built: false, unexamined }))
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
            Action::SetAside => Some(Event::StateSetAside),
            Action::Commit => {
                if let Nature::Polite(_) = self.nature() {
                    let next = format!("{}+", self.head);
                    self.natures.insert(next.clone(), self.nature());
                    self.unexamined.insert(next.clone());
                    self.head = next;
                }
                Some(Event::Committed)
            }
            Action::Examine => {
                assert!(self.life.is_some() && self.exam.is_none(), "tests of no life, or twice");
                self.exam = Some(self.now);
                self.examined += 1;
                None
            }
            Action::StopExam => self.exam.take().map(|_| Event::Examined(Examined::Failed)),
            Action::Bless => {
                assert!(!self.unexamined.contains(&self.head), "blessed before its tests passed");
                self.bless(self.head.clone());
                self.kept.insert(self.head.clone());
                self.blessings.push(self.head.clone());
                Some(Event::Blessed)
            }
            Action::Rollback { cause, to_bottom } => Some(self.roll_back(cause, to_bottom)),
            Action::BuildBeside | Action::StopBuild | Action::Answer | Action::Leave => None,
            Action::TellBroken { .. } => None,
        }
    }

    /// On top of the ladder; the rungs beyond eight go from above the bottom.
    fn bless(&mut self, tree: String) {
        if self.ladder.last() != Some(&tree) {
            self.ladder.push(tree);
        }
        if self.ladder.len() > RUNGS {
            self.ladder.remove(1);
        }
    }

    /// What may be acquitted.
    fn fell(&self) -> Vec<String> {
        self.policy
            .record
            .fell
            .iter()
            .flat_map(|fell| fell.others.iter().chain([&fell.first]))
            .cloned()
            .collect()
    }

    fn roll_back(&mut self, cause: Cause, to_bottom: bool) -> Event {
        let Some(target) = self.target(cause, to_bottom) else { return Event::RollbackExhausted };
        let head = self.head.clone();
        if cause.condemns() {
            self.fallen.insert(head.clone());
            let bottom = self.ladder[0].clone();
            self.ladder.retain(|tree| *tree != head || *tree == bottom);
        }
        if cause == Cause::LateDeaths {
            let at = self.ladder.iter().position(|tree| *tree == target).unwrap();
            self.ladder.truncate(at + 1);
        }
        if cause == Cause::Acquitted {
            self.fell().iter().for_each(|tree| _ = self.fallen.remove(tree));
            self.bless(target.clone());
        }
        self.falls.push((cause, head, target.clone()));
        self.head = target;
        Event::RollbackDone
    }

    /// What would be put back, by the same rules as the guardian's.
    fn target(&self, cause: Cause, to_bottom: bool) -> Option<String> {
        let mut others = self.ladder.iter().filter(|tree| **tree != self.head);
        match cause {
            Cause::LateDeaths => {
                let mut lived = self.policy.lived_before(&self.limits).into_iter();
                lived.find(|tree| others.clone().any(|other| other == tree))
            }
            Cause::Acquitted => {
                let first = self.policy.record.fell.as_ref().map(|fell| fell.first.clone());
                first.filter(|tree| self.fallen.contains(tree))
            }
            _ if to_bottom => others.next().cloned(),
            _ => others.next_back().cloned(),
        }
    }

    /// Lives on for so long, a look at each pace.
    pub fn live(&mut self, millis: Millis) {
        let end = self.now + millis;
        while self.now < end {
            self.now += self.pace;
            self.look();
        }
    }

    /// Lives on for a minute: one if it is in safe mode then.
    pub fn minute_in_safe_mode(&mut self) -> usize {
        self.live(60_000);
        usize::from(self.safe && matches!(self.policy.phase, Phase::Settled { .. }))
    }

    /// Lives on until then, from one thing that is due to the next; for limits under which silence means nothing.
    pub fn skip_to(&mut self, end: Millis) {
        loop {
            let due = match &self.policy.phase {
                Phase::Building { since } | Phase::Booting { since } => since + 2_000,
                Phase::Probation { bless_at, .. } => *bless_at,
                Phase::Resting { until } | Phase::Parked { until } => *until,
                Phase::Settled { watch } if self.safe => watch.since + self.limits.parked_ms,
                _ => end,
            };
            if let (Nature::DiesAt(at), Some(born)) = (self.nature(), self.life)
                && born + at <= due.min(end)
            {
                self.now = born + at;
                self.exit(Blame::Code, false);
                continue;
            }
            self.now = due.clamp(self.now, end.max(self.now));
            if due > end {
                return;
            }
            match &self.policy.phase {
                Phase::Building { .. } => {
                    self.build = false;
                    self.happen(Event::BuildSucceeded);
                }
                Phase::Booting { .. } => self.happen(Event::Beat { turns: 1, thought: true }),
                _ => {
                    self.end_exam();
                    self.happen(Event::Tick);
                }
            }
            if self.now >= end && matches!(self.policy.phase, Phase::Settled { .. }) {
                return;
            }
        }
    }

    fn look(&mut self) {
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
            let blame = match self.nature() {
                Nature::DiskFull(_) => Blame::Disk,
                Nature::Killed(_) => Blame::Owner,
                _ => Blame::Code,
            };
            match self.nature() {
                Nature::DiesAt(at) | Nature::DiskFull(at) | Nature::Killed(at) if dead(at) => {
                    self.exit(blame, false)
                }
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
        if self.exam.is_some_and(|since| self.now >= since + self.exams.0) {
            self.end_exam();
        }
        self.happen(Event::Tick);
    }

    fn end_exam(&mut self) {
        if self.exam.take().is_none() {
            return;
        }
        let outcome = if self.exams.1.len() > 1 { self.exams.1.remove(0) } else { self.exams.1[0] };
        if outcome == Examined::Passed {
            self.unexamined.remove(&self.head);
        }
        self.happen(Event::Examined(outcome));
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
        if !self.ladder.contains(&self.head) {
            self.unexamined.insert(tree.to_owned());
        }
        self.happen(Event::Exited { blame: Blame::Code, rebirth: true });
    }
}
