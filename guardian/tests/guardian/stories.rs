//! Histories by name: a simulated world of commits, a ladder and creatures that live as told, under the real policy.

use crate::world::{Nature, World};
use guardian::decide::policy::Policy;
use guardian::decide::vocabulary::{Blame, Cause, Death, Event, Pending, Phase, Record, Want};
use house::clock::Millis;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

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

/// Found by reading: once the rests between its deaths had grown, no crash loop was seen, and safe mode never came again.
#[test]
fn data_that_kills_for_a_day_leaves_most_of_it_to_safe_mode() {
    let mut world = World::new(&[("first", Nature::Poisoned)]);
    let safe: usize = (0..24 * 60).map(|_| world.minute_in_safe_mode()).sum();
    assert!(safe > 20 * 60, "{safe} minutes of a day");
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

/// A first tree that lives soundly for so long, then a second for so long.
fn after(sound: Millis, second: Nature, long: Millis) -> World {
    let mut world = World::new(&[("first", Nature::Sound), ("second", second)]);
    world.pace = 10_000;
    world.live(sound);
    world.becomes("second");
    world.live(long);
    world
}

fn falls(world: &World) -> Vec<(Cause, &str, &str)> {
    world.falls.iter().map(|(cause, from, to)| (*cause, from.as_str(), to.as_str())).collect()
}

/// Found by living with it: a committed hang after six minutes was blessed at 30 s, died for ever and stayed last_good.
#[test]
fn what_dies_every_six_minutes_is_put_back_within_hours() {
    let world = after(3 * HOUR, Nature::DiesAt(6 * MINUTE), 4 * HOUR);
    assert_eq!(falls(&world), [(Cause::LateDeaths, "second", "first")], "{} deaths", world.deaths.len());
    assert_eq!(world.ladder, ["first"]);
    assert!(world.fallen.contains("second"));
}

#[test]
fn what_dies_every_hour_is_put_back_within_hours() {
    let world = after(DAY, Nature::DiesAt(HOUR), 5 * HOUR);
    assert_eq!(falls(&world), [(Cause::LateDeaths, "second", "first")], "{} deaths", world.deaths.len());
}

#[test]
fn what_dies_every_25_hours_is_put_back_within_days() {
    let world = after(30 * DAY, Nature::DiesAt(25 * HOUR), 7 * DAY);
    assert_eq!(falls(&world), [(Cause::LateDeaths, "second", "first")], "{} deaths", world.deaths.len());
}

#[test]
fn where_all_die_alike_nothing_is_put_back() {
    let mut world = World::new(&[("first", Nature::DiesAt(HOUR)), ("second", Nature::DiesAt(HOUR))]);
    world.pace = 10_000;
    world.live(3 * DAY + 10 * MINUTE);
    world.becomes("second");
    world.live(10 * DAY);
    assert!(world.deaths.len() > 300);
    assert_eq!(falls(&world), []);
}

#[test]
fn a_flaky_machine_condemns_nobody() {
    let mut world = World::new(&[("0", Nature::Sound)]);
    world.pace = 10_000;
    for day in 1..=20 {
        world.live(20 * HOUR);
        for _ in 0..5 {
            world.live(12 * MINUTE);
            world.exit(Blame::Code, false);
        }
        world.live(2 * HOUR);
        world.natures.insert(day.to_string(), Nature::Sound);
        world.becomes(&day.to_string());
        world.live(HOUR);
    }
    assert_eq!((falls(&world), world.deaths.len()), (vec![], 100));
}

#[test]
fn a_suspended_night_proves_nothing() {
    let mut world = after(DAY, Nature::Sound, HOUR);
    world.now += 8 * HOUR;
    world.happen(Event::Tick);
    world.live(HOUR);
    world.exit(Blame::Code, false);
    let lived = world.policy.record.lives.of("second");
    assert!((2 * HOUR - 2 * MINUTE..=2 * HOUR).contains(&lived.lived_ms), "{lived:?}");
    assert_eq!((falls(&world), lived.deaths), (vec![], 1));
}

#[test]
fn nights_between_its_deaths_hide_no_killer() {
    let mut world = after(3 * DAY, Nature::DiesAt(HOUR), HOUR);
    for _ in 0..4 {
        world.live(30 * MINUTE);
        world.now += 8 * HOUR;
        world.happen(Event::Tick);
        world.live(30 * MINUTE);
    }
    assert_eq!(falls(&world), [(Cause::LateDeaths, "second", "first")], "{} deaths", world.deaths.len());
}

/// Found under faults: a tree whose lives were killed from outside stayed fallen.
#[test]
fn ten_kills_from_outside_condemn_nothing() {
    for life in [5_000, 6 * MINUTE] {
        let mut world = after(DAY, Nature::Killed(life), 6 * MINUTE);
        while world.deaths.len() < 10 {
            world.live(MINUTE);
        }
        assert_eq!((falls(&world), world.head.as_str()), (vec![], "second"));
        world.natures.insert("second".into(), Nature::Sound);
        world.live(HOUR);
        assert_eq!(world.ladder, ["first", "second"]);
    }
}

#[test]
fn a_fault_that_later_trees_inherit_is_traced_to_where_it_came_in() {
    let mut world = after(10 * DAY, Nature::DiesAt(HOUR), 90 * MINUTE);
    world.natures.insert("third".into(), Nature::DiesAt(HOUR));
    world.becomes("third");
    world.live(12 * HOUR);
    assert_eq!(falls(&world), [(Cause::LateDeaths, "third", "first")]);
    assert_eq!(world.ladder, ["first"], "what came between dies as well");
}

/// Found by living with it: another fall was put back onto the commit that died every six minutes.
#[test]
fn nothing_is_put_back_onto_what_dies() {
    let mut world = after(10 * DAY, Nature::DiesAt(HOUR), 2 * HOUR + 30 * MINUTE);
    world.natures.insert("third".into(), Nature::DiesAt(40_000));
    world.becomes("third");
    world.live(10 * MINUTE);
    assert_eq!(falls(&world), [(Cause::LateDeaths, "third", "first")]);
}

#[test]
fn a_killed_guardian_forgets_little_of_what_was_lived() {
    let mut world = after(DAY, Nature::DiesAt(6 * MINUTE), 0);
    for _ in 0..6 {
        world.live(50 * MINUTE);
        world.policy = Policy::new(world.policy.record.clone(), world.now);
        (world.life, world.build) = (None, false);
        world.happen(Event::Tick);
    }
    let lived = world.policy.record.lives.of("first");
    assert!(lived.lived_ms > DAY - 11 * MINUTE, "{lived:?}");
    assert_eq!(falls(&world), [(Cause::LateDeaths, "second", "first")], "{} deaths", world.deaths.len());
}

#[test]
fn the_record_of_an_older_guardian_is_read() {
    let old = r#"{"want":"keep","trial":null,"deaths":[5],"rest_ms":1000,"lives_unblessed":1,"safe":null,
        "parked":null,"untidy":true,"pending":{"fall":"crash_loop"},"environment":0}"#;
    let record: Record = serde_json::from_str(old).unwrap();
    assert_eq!((record.pending, record.lives.0.len()), (Some(Pending::Fall(Cause::CrashLoop)), 0));
}
