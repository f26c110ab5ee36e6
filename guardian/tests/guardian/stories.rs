//! Histories by name: a simulated world of commits, a ladder and creatures that live as told, under the real policy.

use crate::world::{Nature, World};
use guardian::limits::Millis;
use guardian::policy::Policy;
use guardian::vocabulary::{Blame, Cause, Death, Event, Phase, Want};

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

/// Found by the fault matrix: an owner who started again what could not think for want of a model condemned it.
#[test]
fn an_owner_who_stops_and_starts_spends_no_tries() {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::Thoughtless)]);
    world.live(2 * MINUTE);
    world.becomes("second");
    for want in [Event::OwnerStop, Event::OwnerPause].into_iter().cycle().take(8) {
        world.live(MINUTE);
        world.happen(want);
        world.policy = Policy::new(world.policy.record.clone(), world.now);
        world.happen(Event::OwnerResume);
    }
    world.natures.insert("second".into(), Nature::Sound);
    world.live(2 * MINUTE);
    assert_eq!(world.falls, []);
    assert_eq!(world.blessings.last().map(String::as_str), Some("second"));
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

/// Found by living with it: a committed hang after six minutes was blessed at 30 s, died for ever and stayed last_good.
#[test]
fn what_dies_every_six_minutes_for_ever_is_put_back() {
    let mut world = World::new(&[("first", Nature::Sound), ("second", Nature::DiesAt(6 * MINUTE))]);
    world.live(3 * HOUR);
    world.becomes("second");
    world.live(24 * HOUR);
    assert_eq!(world.falls.len(), 1, "{} deaths and {:?}", world.deaths.len(), world.falls);
    assert_eq!((world.falls[0].1.as_str(), world.falls[0].2.as_str()), ("second", "first"));
}
