//! The policy: decides what the guardian does next, from its record and the latest event.
//!
//! Invariant: pure and total. The time is passed in, not read; every event has an answer in every phase.
//! Invariant: whatever must survive the guardian is in `Record`, which is saved before actions are carried out.
//! The end of a life is handled in `recovery`, the end of the tests beside a first life in
//! `probation`, the conduct of lives in `conduct`.
//! Absent on purpose: files, processes, git, the clock, words for people.

use crate::decide::vocabulary::{
    Action, Blame, Cause, Death, Event, Exam, Pending, Phase, Record, Standing, Subject, Want, Watch, Why,
};
use crate::limits::Limits;
use house::clock::Millis;

/// Time between two looks at a tree the owner is editing.
const OWNER_EDITS_MS: Millis = 5_000;
/// Tries in safe mode before the creature is parked.
pub(crate) const SAFE_TRIES: u32 = 3;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    pub record: Record,
    pub phase: Phase,
    /// The result of the last survey; none at rest, where another comes before it is of use.
    pub subject: Option<Subject>,
    /// The time of the last event.
    pub seen: Millis,
    /// Start of a build that may run beside a life: no phase ends it, and it holds cargo's lock.
    pub beside: Option<Millis>,
}

impl Policy {
    /// Goes on from a saved record. The first `Tick` starts it.
    pub fn new(mut record: Record, now: Millis) -> Self {
        if record.want == Want::Leave {
            record.want = Want::Keep;
        }
        let phase = match record.want {
            Want::Pause => Phase::Paused,
            Want::Keep | Want::Leave => Phase::Resting { until: now },
        };
        Self { record, phase, subject: None, seen: now, beside: None }
    }

    pub fn alive(&self) -> bool {
        matches!(self.phase, Phase::Booting { .. } | Phase::Probation { .. } | Phase::Settled { .. })
    }

    /// Returns the latest time of the next tick if no event comes before.
    pub fn deadline(&self, limits: &Limits) -> Option<Millis> {
        match &self.phase {
            Phase::Building { since } => Some(since + limits.build_ms),
            Phase::Booting { since } => Some(since + limits.boot_ms),
            Phase::Probation { watch, bless_at, exam } => Some(watch.silent_at(limits).min(match exam {
                Exam::Runs { since } => since + limits.build_ms,
                Exam::Waits { until } => *until,
                Exam::Over if watch.thought => *bless_at,
                Exam::Over => Millis::MAX,
            })),
            Phase::Settled { watch } if self.record.safe.is_some() || self.stands_in() => {
                Some(watch.silent_at(limits).min(watch.since + limits.parked_ms))
            }
            Phase::Settled { watch } => Some(watch.silent_at(limits)),
            Phase::Stopping { since, .. } => Some(since + limits.grace_ms),
            Phase::Resting { until } | Phase::Parked { until } => Some(*until),
            Phase::RollingBack | Phase::Paused | Phase::Done => None,
        }
    }

    pub fn step(&mut self, limits: &Limits, now: Millis, event: Event) -> Vec<Action> {
        self.forgive_lateness(limits, now);
        self.record_life_in_time(limits, now);
        let actions = self.heard(limits, now, event);
        if matches!(self.phase, Phase::Resting { .. } | Phase::Parked { .. } | Phase::Paused | Phase::Done) {
            self.subject = None;
        }
        actions
    }

    fn heard(&mut self, limits: &Limits, now: Millis, event: Event) -> Vec<Action> {
        match event {
            Event::Tick => [self.end_late_build(limits, now), self.tick(limits, now)].concat(),
            Event::Surveyed(subject) => self.surveyed(limits, now, subject),
            Event::OwnerEdits => self.rest(now + OWNER_EDITS_MS),
            Event::Failed => self.failed(limits, now),
            Event::Interrupted => self.interrupted(limits, now),
            Event::Stuck(subject) => self.stuck(limits, now, subject),
            Event::BuildSucceeded if matches!(self.phase, Phase::Building { .. }) => {
                self.spawn(limits, now, false)
            }
            Event::BuildSucceeded => vec![],
            Event::BuildFailed(blame) => self.build_failed(limits, now, blame),
            Event::Beat { turns, thought } => self.beat(limits, now, turns, thought),
            Event::Examined(outcome) => self.examined(limits, now, outcome),
            Event::Observed(observed) => self.observed(limits, now, observed),
            Event::Exited { blame, rebirth } => self.exited(limits, now, blame, rebirth),
            Event::Committed => {
                self.record.pending = None;
                self.record.untidy = false;
                vec![]
            }
            Event::Tidied => {
                self.record.untidy = false;
                vec![]
            }
            Event::StateSetAside => self.state_set_aside(now),
            Event::Blessed => self.blessed(limits),
            Event::RollbackDone => self.rolled_back(limits, now),
            Event::RollbackExhausted => self.exhausted(limits, now),
            Event::Request => self.alive().then_some(Action::Answer).into_iter().collect(),
            Event::OwnerStop => self.want(limits, now, Want::Leave),
            Event::OwnerPause => self.want(limits, now, Want::Pause),
            Event::OwnerResume => {
                self.record.want = Want::Keep;
                let waits =
                    matches!(self.phase, Phase::Paused | Phase::Resting { .. } | Phase::Parked { .. });
                if waits { self.wake(now) } else { vec![] }
            }
            Event::OwnerRollback => self.owner_rollback(limits, now),
        }
    }

    /// Moves the deadlines by the gap if the loop ran late (suspended, starved): it could not hear beats in between.
    fn forgive_lateness(&mut self, limits: &Limits, now: Millis) {
        let gap = now.saturating_sub(self.seen);
        self.seen = now;
        if gap <= limits.beat_ms / 2 {
            return;
        }
        self.beside = self.beside.map(|since| since + gap);
        match &mut self.phase {
            Phase::Building { since } | Phase::Booting { since } => *since += gap,
            Phase::Probation { watch, bless_at, exam } => {
                watch.shift(gap, now);
                *bless_at += gap;
                if let Exam::Runs { since } = exam {
                    *since += gap;
                }
            }
            Phase::Settled { watch } => watch.shift(gap, now),
            Phase::Stopping { .. } | Phase::RollingBack | Phase::Resting { .. } => {}
            Phase::Parked { .. } | Phase::Paused | Phase::Done => {}
        }
    }

    fn end_late_build(&mut self, limits: &Limits, now: Millis) -> Vec<Action> {
        let late = self.beside.take_if(|since| now >= *since + limits.build_ms);
        late.map(|_| Action::StopBuild).into_iter().collect()
    }

    pub(crate) fn tick(&mut self, limits: &Limits, now: Millis) -> Vec<Action> {
        match self.phase.clone() {
            Phase::Building { since } if now >= since + limits.build_ms => vec![Action::StopBuild],
            Phase::Booting { since } if now >= since + limits.boot_ms => {
                self.stop(limits, now, Why::Death(Death::Stillborn))
            }
            Phase::Probation { watch, .. } | Phase::Settled { watch } if now >= watch.silent_at(limits) => {
                self.stop(limits, now, Why::Death(Death::Hung))
            }
            Phase::Probation { watch, bless_at, exam: Exam::Over } if watch.thought && now >= bless_at => {
                self.prove(limits, now, watch)
            }
            Phase::Settled { watch }
                if self.record.safe.is_some() && now >= watch.since + limits.parked_ms =>
            {
                self.stop(limits, now, Why::LeaveSafe)
            }
            Phase::Settled { watch } if self.stands_in() && now >= watch.since + limits.parked_ms => {
                self.stop(limits, now, Why::Retry)
            }
            Phase::Stopping { since, why, .. } if now >= since + limits.grace_ms => {
                self.phase = Phase::Stopping { since: now, killed: true, why };
                vec![Action::KillTree]
            }
            Phase::Resting { until } | Phase::Parked { until } if now >= until => self.wake(now),
            Phase::Probation { .. } => self.examine_in_time(limits, now),
            Phase::Building { .. } | Phase::Booting { .. } => vec![],
            Phase::Settled { .. } | Phase::Stopping { .. } | Phase::RollingBack => vec![],
            Phase::Resting { .. } | Phase::Parked { .. } | Phase::Paused | Phase::Done => vec![],
        }
    }

    /// Carries out what is pending, else surveys what there is to run.
    pub(crate) fn wake(&mut self, now: Millis) -> Vec<Action> {
        self.rest(now + OWNER_EDITS_MS);
        match self.record.pending {
            Some(Pending::Commit { .. }) => {
                self.rest(now);
                vec![Action::Commit]
            }
            Some(Pending::Fall(cause)) => self.roll_back(cause),
            Some(Pending::SetAside) => vec![Action::SetAside],
            None => vec![Action::Survey { tidy: self.record.untidy }],
        }
    }

    fn surveyed(&mut self, limits: &Limits, now: Millis, subject: Subject) -> Vec<Action> {
        if !matches!(self.phase, Phase::Resting { .. }) || self.record.want != Want::Keep {
            return vec![];
        }
        self.record.untidy = false;
        if self.record.parked.as_ref().is_some_and(|tree| *tree != subject.tree) {
            self.record.parked = None;
        }
        let fell = self.record.fell.as_ref().map_or("", |fell| &fell.first);
        self.record.lives.keep(&subject.rungs, &subject.tree, fell);
        let (standing, kept, built) = (subject.standing, subject.kept, subject.built);
        self.subject = Some(subject);
        if standing == Standing::Fallen {
            return self.fall(Cause::KnownBad);
        }
        if self.record.lives_unblessed >= limits.lives_unblessed && standing != Standing::Bottom {
            return self.fall(Cause::LoopOfLoops);
        }
        if !kept && !built {
            // A build runs code of its tree: changes an untrusted tree leaves in creature/ are not the owner's edits.
            self.record.untidy = standing == Standing::Unproven;
            self.phase = Phase::Building { since: now };
            // The main build ends one beside a life.
            self.beside = None;
            return vec![Action::Build];
        }
        self.spawn(limits, now, kept)
    }

    /// Uses up a try, then starts a life.
    fn spawn(&mut self, limits: &Limits, now: Millis, kept: bool) -> Vec<Action> {
        let Some(subject) = &self.subject else { return self.wake(now) };
        if let Some(left) = &mut self.record.safe {
            *left = left.saturating_sub(1);
        } else if subject.standing == Standing::Unproven {
            let left = match &self.record.trial {
                Some((tree, left)) if *tree == subject.tree => *left,
                _ => {
                    (self.record.doubts, self.record.unsure) = (0, 0);
                    limits.tries
                }
            };
            if left == 0 {
                return self.fall(Cause::TriesSpent);
            }
            self.record.trial = Some((subject.tree.clone(), left - 1));
        }
        self.record.untidy = true;
        self.record.lives_unblessed = self.record.lives_unblessed.saturating_add(1);
        self.phase = Phase::Booting { since: now };
        vec![Action::Spawn { kept, safe: self.record.safe.is_some() }]
    }

    fn beat(&mut self, limits: &Limits, now: Millis, turns: u64, thought: bool) -> Vec<Action> {
        // A kept binary's source is built once the life beats: a compiler running beside would delay its birth.
        let of_kept = self.subject.as_ref().is_some_and(|subject| subject.kept && !subject.built);
        let boots = matches!(self.phase, Phase::Booting { .. });
        let (examine, beside) = (boots && self.owes_exam(), boots && of_kept && !self.stands_in());
        match &mut self.phase {
            Phase::Booting { since } => {
                let recorded = *since;
                let watch = Watch { since: now, beat_at: now, turns, turned_at: now, thought, recorded };
                let exam = if examine { Exam::Runs { since: now } } else { Exam::Over };
                self.phase = Phase::Probation { watch, bless_at: now + limits.probation_ms, exam };
            }
            Phase::Probation { watch, .. } | Phase::Settled { watch } => watch.beat(now, turns, thought),
            Phase::Building { .. } | Phase::Stopping { .. } | Phase::RollingBack => return vec![],
            Phase::Resting { .. } | Phase::Parked { .. } | Phase::Paused | Phase::Done => return vec![],
        }
        let mut actions = self.tick(limits, now);
        if examine && self.examines() {
            actions.push(Action::Examine);
        } else if beside && self.alive() {
            // Otherwise the tests build it.
            actions.push(Action::BuildBeside);
            self.beside = Some(now);
        }
        actions
    }

    /// Ends a probation: with a blessing, except in safe mode, where too little runs to prove anything.
    fn prove(&mut self, limits: &Limits, now: Millis, watch: Watch) -> Vec<Action> {
        if self.stands_in() {
            self.phase = Phase::Settled { watch };
            return vec![];
        }
        if self.record.safe.is_some() {
            self.record.safe = Some(SAFE_TRIES);
            self.record.rest_ms = limits.rest_ms;
            self.phase = Phase::Settled { watch };
            return vec![];
        }
        self.phase = Phase::Probation { watch, bless_at: now + limits.probation_ms, exam: Exam::Over };
        vec![Action::Bless]
    }

    fn blessed(&mut self, limits: &Limits) -> Vec<Action> {
        let Phase::Probation { watch, .. } = &self.phase else { return vec![] };
        let mut watch = watch.clone();
        if let Some(subject) = &mut self.subject
            && subject.standing == Standing::Unproven
        {
            subject.standing = Standing::Blessed;
            watch.recorded = self.seen;
        }
        self.phase = Phase::Settled { watch };
        // A newly trusted tree is not held responsible for its predecessor's deaths.
        if self.record.trial.take().is_some() {
            self.record.deaths.clear();
            self.record.fell = None;
        }
        self.record.rest_ms = limits.rest_ms;
        self.record.lives_unblessed = 0;
        self.record.environment = 0;
        self.record.parked = None;
        vec![]
    }

    pub(crate) fn stop(&mut self, limits: &Limits, now: Millis, why: Why) -> Vec<Action> {
        self.record_life(limits, now);
        self.phase = Phase::Stopping { since: now, killed: false, why };
        vec![Action::Terminate]
    }

    fn exited(&mut self, limits: &Limits, now: Millis, blame: Blame, rebirth: bool) -> Vec<Action> {
        self.record_life(limits, now);
        let settled = matches!(self.phase, Phase::Settled { .. });
        let why = match &self.phase {
            Phase::Booting { .. } if !rebirth => Why::Death(Death::Stillborn),
            Phase::Probation { .. } | Phase::Settled { .. } if !rebirth => Why::Death(Death::Crashed),
            Phase::Booting { .. } | Phase::Probation { .. } | Phase::Settled { .. } => Why::Wanted,
            Phase::Stopping { why, .. } => *why,
            Phase::Building { .. } | Phase::RollingBack | Phase::Resting { .. } => return vec![],
            Phase::Parked { .. } | Phase::Paused | Phase::Done => return vec![],
        };
        let falls = matches!(self.record.pending, Some(Pending::Fall(_)));
        let (mut actions, until) = match why {
            Why::Death(death) if falls => {
                let rest = self.next_rest(limits);
                (vec![Action::Bury { death, blame }], now + rest)
            }
            // The life ran in place of a rollback, which is tried again first.
            Why::Retry => (vec![], now),
            Why::Wanted if rebirth && falls => (vec![], now),
            Why::Death(death) => return self.died(limits, now, death, blame),
            Why::Rollback(cause) => return [vec![Action::Tidy], self.fall(cause)].concat(),
            Why::Wanted if rebirth => {
                self.record.pending = Some(Pending::Commit { failures: 0 });
                let rest = if settled { 0 } else { self.next_rest(limits) };
                (vec![Action::Commit], now + rest)
            }
            // Changes found after a clean stop stay where they are: the next start finds out whose they are.
            Why::Wanted => {
                self.give_back_try(limits);
                let leaves = self.record.want == Want::Leave;
                self.record.untidy &= !leaves;
                (if leaves { vec![] } else { vec![Action::Tidy] }, now)
            }
            Why::LeaveSafe => {
                self.record.safe = None;
                (vec![Action::Tidy], now)
            }
        };
        self.rest(until);
        actions.extend(self.obey());
        actions
    }

    fn want(&mut self, limits: &Limits, now: Millis, want: Want) -> Vec<Action> {
        let again = self.record.want == want;
        self.record.want = want;
        match &self.phase {
            Phase::Booting { .. } | Phase::Probation { .. } | Phase::Settled { .. } => {
                self.stop(limits, now, Why::Wanted)
            }
            Phase::Stopping { why, .. } if again => {
                self.phase = Phase::Stopping { since: now, killed: true, why: *why };
                vec![Action::KillTree]
            }
            Phase::Stopping { .. } | Phase::Done => vec![],
            Phase::Building { .. } | Phase::RollingBack | Phase::Resting { .. } => self.obey(),
            Phase::Parked { .. } | Phase::Paused => self.obey(),
        }
    }

    /// Pauses or leaves if the owner wants that; called with no creature alive.
    pub(crate) fn obey(&mut self) -> Vec<Action> {
        let building = matches!(self.phase, Phase::Building { .. });
        let (phase, last) = match self.record.want {
            Want::Keep => return vec![],
            Want::Pause => (Phase::Paused, None),
            Want::Leave => (Phase::Done, Some(Action::Leave)),
        };
        self.phase = phase;
        building.then_some(Action::StopBuild).into_iter().chain(last).collect()
    }
}
