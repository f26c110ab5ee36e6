//! Histories by name: a simulated world of commits, a ladder and creatures that live as told, under the real policy.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::wildcard_enum_match_arm, clippy::disallowed_methods)]

use guardian::limits::{Limits, Millis};
use guardian::policy::Policy;
use guardian::vocabulary::{Action, Blame, Cause, Death, Event, Phase, Record, Standing, Subject, Want};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How a version of the creature behaves, life after life.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Nature {
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

struct World {
    limits: Limits,
    policy: Policy,
    now: Millis,
    natures: BTreeMap<String, Nature>,
    head: String,
    ladder: Vec<String>,
    fallen: BTreeSet<String>,
    kept: BTreeSet<String>,
    safe: bool,
    life: Option<Millis>,
    beat: Option<Millis>,
    build: bool,
    turns: u64,
    // What happened, for the asserts.
    lives: usize,
    falls: Vec<(Cause, String, String)>,
    blessings: Vec<String>,
    deaths: Vec<(Death, Blame)>,
    starts: Vec<Millis>,
    surveys: usize,
}

impl World {
    fn new(natures: &[(&str, Nature)]) -> Self {
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

    fn nature(&self) -> Nature {
        self.natures[&self.head]
    }

    fn happen(&mut self, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            for action in self.policy.step(&self.limits, self.now, event) {
                events.extend(self.perform(action));
            }
        }
    }

    fn perform(&mut self, action: Action) -> Option<Event> {
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
    fn live(&mut self, millis: Millis) {
        let end = self.now + millis;
        while self.now < end {
            self.now += 1_000;
            self.one_second();
        }
    }

    fn one_second(&mut self) {
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

    fn exit(&mut self, blame: Blame, rebirth: bool) {
        self.life = None;
        self.happen(Event::Exited { blame, rebirth });
    }

    /// A self-edit: the settled creature asks to be reborn as `tree`.
    fn becomes(&mut self, tree: &str) {
        assert!(matches!(self.policy.phase, Phase::Settled { .. }), "{:?}", self.policy.phase);
        self.life = None;
        self.head = tree.to_owned();
        self.happen(Event::Exited { blame: Blame::Code, rebirth: true });
    }
}

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;

#[test]
fn a_sound_creature_is_built_lives_and_is_blessed_once() {
    let mut world = World::new(&[("first", Nature::Sound)]);
    world.live(HOUR);
    assert_eq!((world.lives, world.blessings.len(), world.deaths.len()), (1, 1, 0));
}

#[test]
fn dying_at_31_seconds_is_put_back_once_and_not_416_times() {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::DiesAt(31_000))]);
    world.live(2 * MINUTE);
    world.becomes("second");
    world.live(4 * HOUR);
    assert_eq!(world.falls, [(Cause::CrashLoop, "second".into(), "first".into())]);
    assert_eq!(world.deaths.len(), 3);
    assert!(!world.ladder.contains(&"second".to_owned()), "what fell no longer stands on the ladder");
    assert!(matches!(world.policy.phase, Phase::Settled { .. }));
}

#[test]
fn dying_before_its_blessing_has_three_tries() {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::DiesAt(5_000))]);
    world.live(2 * MINUTE);
    world.becomes("second");
    world.live(HOUR);
    assert_eq!(world.falls, [(Cause::TriesSpent, "second".into(), "first".into())]);
    assert_eq!(world.deaths.len(), 3);
}

#[test]
fn hanging_before_the_first_beat_ends_though_no_window_would_see_it() {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::Mute)]);
    world.live(2 * MINUTE);
    world.becomes("second");
    world.live(HOUR);
    assert_eq!(world.falls, [(Cause::TriesSpent, "second".into(), "first".into())]);
    assert_eq!(world.deaths, [(Death::Stillborn, Blame::Code); 3]);
}

#[test]
fn beating_without_ever_thinking_is_never_blessed_and_put_back() {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::Thoughtless)]);
    world.live(2 * MINUTE);
    world.becomes("second");
    world.live(8 * HOUR);
    assert_eq!(world.falls, [(Cause::TriesSpent, "second".into(), "first".into())]);
    assert_eq!(world.deaths, [(Death::Hung, Blame::Code); 3]);
    assert!(!world.blessings.contains(&"second".to_owned()));
}

#[test]
fn exiting_politely_for_ever_ends_at_the_bottom_rung_without_a_restart_storm() {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::Polite(2_000))]);
    world.live(2 * MINUTE);
    world.becomes("second");
    world.live(12 * HOUR);
    assert_eq!(world.falls.len(), 1, "{:?}", world.falls);
    assert_eq!((world.falls[0].0, world.falls[0].2.as_str()), (Cause::LoopOfLoops, "first"));
    assert!(world.lives < 40, "{} lives", world.lives);
    assert!(matches!(world.policy.phase, Phase::Settled { .. }));
}

#[test]
fn a_second_rung_as_bad_as_the_third_leads_to_the_first() {
    let natures = [("first", Nature::Sound), ("second", Nature::Sound), ("third", Nature::DiesAt(31_000))];
    let mut world = World::new(&natures);
    world.live(2 * MINUTE);
    world.becomes("second");
    world.live(2 * MINUTE);
    world.natures.insert("second".into(), Nature::DiesAt(40_000));
    world.becomes("third");
    world.live(HOUR);
    let falls: Vec<_> = world.falls.iter().map(|(_, from, to)| (from.as_str(), to.as_str())).collect();
    assert_eq!(falls, [("third", "second"), ("second", "first")]);
    assert!(matches!(world.policy.phase, Phase::Settled { .. }));
}

#[test]
fn what_does_not_build_is_put_back_at_once_and_refused_when_it_returns() {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::DoesNotBuild)]);
    world.live(2 * MINUTE);
    world.becomes("second");
    world.live(MINUTE);
    assert_eq!(world.falls, [(Cause::DoesNotBuild, "second".into(), "first".into())]);
    assert_eq!(world.deaths, [(Death::BuildFailed, Blame::Code)]);
    world.becomes("second");
    world.live(2 * MINUTE);
    assert_eq!(world.falls.last().map(|fall| fall.0), Some(Cause::KnownBad));
    assert_eq!(world.deaths.len(), 1, "it was not even built");
}

#[test]
fn data_that_kills_a_good_commit_leads_to_safe_mode_and_out_again() {
    let mut world = World::new(&[("first", Nature::Poisoned)]);
    world.live(5 * MINUTE);
    assert!(world.safe && matches!(world.policy.phase, Phase::Settled { .. }), "{:?}", world.policy.phase);
    assert!(world.falls.is_empty());
    assert!(world.blessings.is_empty(), "a safe life proves nothing");
    world.natures.insert("first".into(), Nature::Sound);
    world.live(30 * MINUTE);
    assert!(!world.safe && matches!(world.policy.phase, Phase::Settled { .. }), "safe mode is left again");
}

#[test]
fn with_nothing_that_lives_it_parks_retries_slowly_and_mends_itself() {
    let mut world = World::new(&[("first", Nature::DiesAt(1_000))]);
    world.live(2 * HOUR);
    assert!(
        matches!(world.policy.phase, Phase::Parked { .. } | Phase::Resting { .. }),
        "{:?}",
        world.policy.phase
    );
    assert!(world.lives < 60, "{} lives in two hours is no slow retry", world.lives);
    world.natures.insert("first".into(), Nature::Sound);
    world.live(HOUR);
    assert!(
        matches!(world.policy.phase, Phase::Settled { .. }),
        "parked is not the end: {:?}",
        world.policy.phase
    );
}

#[test]
fn a_full_disk_never_rolls_back_code_and_never_spins() {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::Sound)]);
    world.live(2 * MINUTE);
    world.becomes("second");
    world.natures.insert("second".into(), Nature::DiskFull(2_000));
    world.live(6 * HOUR);
    assert!(world.falls.is_empty(), "{:?}", world.falls);
    assert!(world.lives < 100, "{} lives", world.lives);
    world.natures.insert("second".into(), Nature::Sound);
    world.live(HOUR);
    assert_eq!(world.head, "second");
    assert!(matches!(world.policy.phase, Phase::Settled { .. }));
}

#[test]
fn a_guardian_suspended_for_eight_hours_kills_nobody() {
    let mut world = World::new(&[("first", Nature::Sound)]);
    world.live(MINUTE);
    world.now += 8 * HOUR;
    world.happen(Event::Tick);
    world.live(MINUTE);
    assert_eq!((world.lives, world.deaths.len()), (1, 0));
}

#[test]
fn suspended_time_does_not_count_as_probation() {
    let mut world = World::new(&[("first", Nature::Sound)]);
    world.live(5_000);
    world.now += 8 * HOUR;
    world.happen(Event::Beat { turns: 50, thought: true });
    assert!(world.blessings.is_empty(), "blessed for having slept");
    world.live(MINUTE);
    assert_eq!(world.blessings.len(), 1);
}

#[test]
fn restarts_are_spaced_ever_wider_until_a_life_settles() {
    let mut world = World::new(&[("first", Nature::DiskFull(1_000))]);
    world.live(3 * HOUR);
    let gaps: Vec<Millis> = world.starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.windows(2).all(|pair| pair[1] + 1_000 >= pair[0]), "{gaps:?}");
    assert!(gaps.last().is_some_and(|gap| *gap >= 5 * MINUTE));
}

#[test]
fn a_killed_guardian_goes_on_with_the_tries_it_had_spent() {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::Mute)]);
    world.live(2 * MINUTE);
    world.becomes("second");
    world.live(45_000);
    let spent = world.policy.record.trial.clone();
    assert_eq!(spent, Some(("second".into(), 1)));
    // Killed and started again in the middle of every boot: each costs a try all the same.
    for _ in 0..3 {
        world.policy = Policy::new(world.policy.record.clone(), world.now);
        (world.life, world.build) = (None, false);
        world.happen(Event::Tick);
        world.live(5_000);
    }
    assert_eq!(world.falls, [(Cause::TriesSpent, "second".into(), "first".into())]);
}

#[test]
fn pause_outlives_the_guardian_and_stop_does_not() {
    let mut world = World::new(&[("first", Nature::Sound)]);
    world.live(MINUTE);
    world.happen(Event::OwnerPause);
    assert_eq!(world.policy.phase, Phase::Paused);
    let again = Policy::new(world.policy.record.clone(), world.now);
    assert_eq!(again.phase, Phase::Paused);
    let mut world = World::new(&[("first", Nature::Sound)]);
    world.live(MINUTE);
    world.happen(Event::OwnerStop);
    assert_eq!(world.policy.phase, Phase::Done);
    let again = Policy::new(world.policy.record.clone(), world.now);
    assert_eq!((again.record.want, again.phase), (Want::Keep, Phase::Resting { until: world.now }));
}
