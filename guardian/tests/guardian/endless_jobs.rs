//! Builds and checks of the broker's that come to no end: neither a start nor a creature nor a change of settings waits for them.

use crate::broker_process::own_target;
use std::fs;
use trials::{House, SOUND};

/// Found: a build of the broker that came to no end held the start up for ever, or every later judgement of settings.
#[test]
fn a_build_of_the_brokers_that_never_ends_keeps_no_creature_from_living_and_no_settings_from_being_judged() {
    let hangs = "exec sleep 1000";
    let house = House::new(SOUND);
    house.settings("build_s = 5\n");
    let mut command = own_target(&house, hangs);
    let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    house.until("a life without a broker", || !house.thoughts().is_empty());
    house.until("the note", || house.broker()["note"].to_string().contains("its build was ended after 5 s"));
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());

    let house = House::new(SOUND);
    house.settings("build_s = 5\n");
    let mut command = own_target(&house, hangs);
    trials::programs::place(trials::programs::broker(), &house.path("target/debug/broker"));
    let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    let first = house.until_broker(None);
    house.until("the build beside it", || house.read(".self/workspace/built").contains("broker"));
    house.settings("build_s = 6\n");
    house.until("the judgement", || house.told("settings_changed").len() == 1);
    house.until_broker(Some(first));
    let log = fs::read_to_string(&guardian.log).unwrap();
    assert!(log.contains("The one that was there goes on"), "{log}");
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

/// Found: a check of the settings that came to no end held the start up for ever, or every later judgement.
#[test]
fn a_check_that_never_ends_keeps_no_creature_from_living_and_takes_no_change_over() {
    let house = House::new(SOUND).with_false_broker("exec sleep 1000");
    house.settings("build_s = 5\n");
    let guardian = house.start();
    house.until("a life", || house.told("life").len() == 1);
    house.settings("build_s = 6\n");
    house.until("the refusal", || house.told("settings_refused").len() == 1);
    house
        .until("it in the status", || house.status()["note"].to_string().contains("does not come to an end"));
    assert!(house.told("settings_changed").is_empty() && house.deaths().is_empty());
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}
