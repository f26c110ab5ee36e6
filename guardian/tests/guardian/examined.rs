//! Histories of newborns whose tests run beside them, under the real policy: no blessing before them, and no end without one.

use crate::world::{Nature, World};
use guardian::decide::policy::Policy;
use guardian::decide::vocabulary::{Blame, Cause, Event, Exam, Examined, Phase, Record};
use house::clock::Millis;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;

/// A sound first tree, then a self-edit of this nature whose tests take so long and come to this.
fn reborn(second: Nature, millis: Millis, outcomes: &[Examined]) -> World {
    let mut world = World::new(&[("first", Nature::Sound), ("second", second)]);
    world.live(2 * MINUTE);
    world.exams = (millis, outcomes.to_vec());
    world.becomes("second");
    world
}

fn blessed(world: &World) -> bool {
    world.blessings.contains(&"second".to_owned())
}

#[test]
fn only_what_a_self_edit_made_is_examined() {
    let mut world = World::new(&[("first", Nature::Sound)]);
    world.live(2 * MINUTE);
    assert_eq!((world.examined, world.blessings.len()), (0, 1));
    world.exams = (5_000, vec![Examined::Passed]);
    world.natures.insert("second".into(), Nature::Sound);
    world.becomes("second");
    world.live(2 * MINUTE);
    assert_eq!((world.examined, blessed(&world)), (1, true));
    world.exit(Blame::Code, false);
    world.live(2 * MINUTE);
    assert_eq!(world.examined, 1, "what passed is not examined again");
}

#[test]
fn the_blessing_waits_for_the_tests_however_long_it_was_due() {
    let mut world = reborn(Nature::Sound, 5 * MINUTE, &[Examined::Passed]);
    world.live(5 * MINUTE);
    assert!(!blessed(&world) && matches!(world.policy.phase, Phase::Probation { .. }));
    world.live(5_000);
    assert!(blessed(&world), "at once when they passed: {:?}", world.policy.phase);
    assert_eq!(world.lives, 2);
}

#[test]
fn tests_that_pass_at_once_do_not_shorten_the_probation() {
    let mut world = reborn(Nature::Sound, 1_000, &[Examined::Passed]);
    world.live(20_000);
    assert!(!blessed(&world));
    world.live(20_000);
    assert!(blessed(&world));
}

#[test]
fn what_fails_its_tests_falls_and_is_condemned() {
    let mut world = reborn(Nature::Sound, 10_000, &[Examined::Failed]);
    world.live(MINUTE);
    assert_eq!(world.falls, [(Cause::TestsFailed, "second".into(), "first".into())]);
    assert!(world.deaths.is_empty() && !blessed(&world));
    world.becomes("second");
    world.live(2 * MINUTE);
    assert_eq!(world.falls.last().map(|fall| fall.0), Some(Cause::KnownBad));
}

#[test]
fn tests_that_do_not_end_fall_by_the_deadline_of_a_build() {
    let mut world = reborn(Nature::Sound, Millis::MAX / 2, &[Examined::Passed]);
    world.live(14 * MINUTE);
    assert!(world.falls.is_empty());
    world.live(2 * MINUTE);
    assert_eq!(world.falls, [(Cause::TestsFailed, "second".into(), "first".into())]);
}

#[test]
fn a_suspended_machine_does_not_make_tests_late() {
    let mut world = reborn(Nature::Sound, 9 * HOUR, &[Examined::Passed]);
    world.live(MINUTE);
    world.now += 8 * HOUR;
    world.happen(Event::Tick);
    world.live(MINUTE);
    assert!(world.falls.is_empty(), "{:?}", world.falls);
}

#[test]
fn what_the_machine_keeps_from_ending_is_tried_again_and_condemns_nobody() {
    let mut outcomes = vec![Examined::Unsure(Blame::Disk); 5];
    outcomes.push(Examined::Passed);
    let mut world = reborn(Nature::Sound, 10_000, &outcomes);
    world.live(40 * MINUTE);
    assert!(!blessed(&world) && world.falls.is_empty() && world.lives == 2);
    world.live(20 * MINUTE);
    assert!(blessed(&world) && world.falls.is_empty());
    assert_eq!(world.examined, 6, "each rests before it is tried again");
}

/// Found: a lease on their log kept the tests from being run, for ever; the tree lived on, 22 tries, and never fell.
#[test]
fn tests_that_never_come_to_a_result_have_an_end_and_condemn_nobody() {
    for blame in [Blame::Toolchain, Blame::Disk, Blame::Memory, Blame::Network, Blame::Suspended] {
        let mut world = reborn(Nature::Sound, 10_000, &[Examined::Unsure(blame)]);
        world.live(3 * HOUR);
        assert!(world.falls.is_empty(), "{blame:?}: a bad afternoon costs nobody a rung");
        world.live(2 * HOUR);
        assert_eq!(world.falls, [(Cause::Environment, "second".into(), "first".into())], "{blame:?}");
        assert_eq!(world.policy.record.unsure, 0);
        world.exams = (10_000, vec![Examined::Passed]);
        world.becomes("second");
        world.live(5 * MINUTE);
        assert!(blessed(&world), "{blame:?}: it may come back: {:?}", world.falls);
    }
}

/// By its own hand, say: it would live on for ever, and never be trusted.
#[test]
fn what_ends_its_own_tests_again_and_again_falls() {
    let mut world = reborn(Nature::Sound, 10_000, &[Examined::Unsure(Blame::Owner)]);
    world.live(15 * MINUTE);
    assert!(world.falls.is_empty());
    world.live(HOUR);
    assert_eq!(world.falls, [(Cause::TestsFailed, "second".into(), "first".into())]);
    assert_eq!(world.policy.record.doubts, 0);
}

#[test]
fn doubts_outlive_lives_and_guardians() {
    let mut world = reborn(Nature::Sound, 10_000, &[Examined::Unsure(Blame::Owner)]);
    world.live(MINUTE);
    let saved = serde_json::to_string(&world.policy.record).unwrap();
    for _ in 0..2 {
        world.policy = Policy::new(serde_json::from_str::<Record>(&saved).unwrap(), world.now);
        (world.life, world.exam) = (None, None);
        assert_eq!(world.policy.record.doubts, 1);
    }
    world.happen(Event::Tick);
    world.live(2 * MINUTE);
    assert_eq!(world.policy.record.doubts, 2);
    assert!(serde_json::from_str::<Record>("{}").unwrap().doubts == 0, "an older record has none");
}

#[test]
fn a_guardian_killed_meanwhile_begins_the_tests_anew() {
    let mut world = reborn(Nature::Sound, 10_000, &[Examined::Passed]);
    world.live(8_000);
    assert!(world.policy.examines());
    world.policy = Policy::new(world.policy.record.clone(), world.now);
    (world.life, world.exam) = (None, None);
    world.happen(Event::Tick);
    world.live(8_000);
    assert!(world.policy.examines() && world.examined == 2);
    world.live(MINUTE);
    assert!(blessed(&world));
}

#[test]
fn a_life_that_dies_or_is_stopped_takes_its_tests_along() {
    for end in [Event::OwnerStop, Event::OwnerPause, Event::OwnerRollback] {
        let mut world = reborn(Nature::Sound, HOUR, &[Examined::Passed]);
        world.live(8_000);
        assert!(world.policy.examines());
        world.happen(end.clone());
        assert!(world.exam.is_none() && !world.policy.examines(), "{end:?}");
        let late = world.policy.clone();
        world.happen(Event::Examined(Examined::Failed));
        assert_eq!(world.policy, late, "an answer that comes late says nothing");
    }
    let mut world = reborn(Nature::DiesAt(20_000), HOUR, &[Examined::Passed]);
    world.live(5 * MINUTE);
    assert_eq!(world.falls, [(Cause::TriesSpent, "second".into(), "first".into())]);
    assert_eq!(world.examined, 3, "each of its lives begins them anew");
}

#[test]
fn safe_lives_are_not_examined() {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::Sound)]);
    world.head = "second".into();
    world.unexamined.insert("second".into());
    world.policy = Policy::new(Record { safe: Some(3), ..Record::default() }, world.now);
    world.build = false;
    world.happen(Event::Tick);
    world.live(2 * MINUTE);
    assert!(world.safe && matches!(world.policy.phase, Phase::Settled { .. }), "{:?}", world.policy.phase);
    assert_eq!((world.examined, world.blessings.len()), (0, 0));
}

#[test]
fn a_fall_that_was_decided_outlives_a_stop_and_a_killed_guardian() {
    let mut world = reborn(Nature::Sound, 10_000, &[Examined::Failed]);
    world.live(8_000);
    world.exam = None;
    // The life is asked to end, and the owner wants to leave before it has.
    let actions = world.policy.step(&world.limits, world.now, Event::Examined(Examined::Failed));
    assert_eq!(actions.len(), 1, "{actions:?}");
    let killed = Policy::new(world.policy.record.clone(), world.now);
    world.policy.step(&world.limits, world.now, Event::OwnerStop);
    world.exit(Blame::Code, false);
    assert_eq!(world.policy.phase, Phase::Done);
    world.policy = Policy::new(world.policy.record.clone(), world.now);
    world.happen(Event::Tick);
    assert_eq!(world.falls, [(Cause::TestsFailed, "second".into(), "first".into())]);
    // Or a guardian that was killed just then: no other life of it is begun.
    let lives = world.lives;
    (world.policy, world.head, world.life) = (killed, "second".into(), None);
    world.happen(Event::Tick);
    assert_eq!((world.falls.len(), world.falls[1].0), (2, Cause::TestsFailed));
    assert_eq!((world.head.as_str(), world.lives), ("first", lives));
}

#[test]
fn what_is_due_is_waited_for_no_longer() {
    let mut world = reborn(Nature::Sound, HOUR, &[Examined::Unsure(Blame::Memory)]);
    world.live(5_000);
    let Phase::Probation { watch, exam: Exam::Runs { since }, .. } = &world.policy.phase else {
        panic!("{:?}", world.policy.phase)
    };
    let due = (since + world.limits.build_ms).min(watch.silent_at(&world.limits));
    assert_eq!(world.policy.deadline(&world.limits), Some(due));
}
