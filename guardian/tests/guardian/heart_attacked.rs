//! Attacks on the guardian's first process: signals ignored, numbers that count on nothing, no processes left, a house taken away.

use crate::heart::{lives, until_a_stand_in};
use crate::plain_user;
use nix::sys::signal::{SigHandler, Signal, signal};
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;
use trials::{House, SOUND, living, said, send};

/// The exit code of a guardian whose house is no longer in its place.
const LOST: i32 = heart::HOUSE_LOST as i32;

/// Found: no end of a steward was heard then, and the heart took a processor for itself.
#[test]
fn a_guardian_that_was_told_to_ignore_its_children_and_its_own_words_hears_them() {
    let house = House::new(SOUND);
    let mut command = house.command(&[]);
    // SAFETY: between fork and exec only system calls are made.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(|| {
            for ignored in [Signal::SIGCHLD, Signal::SIGUSR1, Signal::SIGUSR2] {
                signal(ignored, SigHandler::SigIgn)?;
            }
            Ok(())
        });
    }
    let mut guardian = house.start_by(command);
    house.until("a life", || house.status()["blessed"] == true);
    let first = house.status()["life"].as_u64();
    guardian.steward().into_iter().for_each(|pid| send("-KILL", pid));
    house.until("the next life", || {
        house.status()["blessed"] == true && house.status()["life"].as_u64() > first
    });
    for order in ["pause", "stop"] {
        let output = house.ask(&[order]);
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(guardian.wait(), 0);
}

/// Found: a heart that could not look into the order for a moment forgot it, and nobody else read it.
#[test]
fn stop_is_heard_by_a_heart_that_cannot_read_it_at_once() {
    if plain_user::runs("heart_attacked::stop_is_heard_by_a_heart_that_cannot_read_it_at_once") {
        return;
    }
    let (house, mut guardian, _) = living(SOUND);
    house.write("owner.toml", &house.read("owner.toml").replace("parked_s = 0.5\n", "parked_s = 600\n"));
    house.until("the settings to count", || house.read(".self/heart.json").contains("\"parked_ms\":600000"));
    until_a_stand_in(&house, &guardian);
    house.until("its life", || !lives(&house).is_empty());
    let (pid, most) = (guardian.pid().to_string(), |soft: &str| format!("--nproc={soft}:"));
    let limit = |soft: &str| {
        let status = Command::new("prlimit").args(["--pid", &pid, &most(soft)]).status().unwrap();
        assert!(status.success());
    };
    limit("0");
    let stop = house.command(&["stop"]).spawn().unwrap();
    house.until("the order", || house.path(".self/guardian/order.json").exists());
    std::thread::sleep(Duration::from_secs(1));
    assert!(guardian.child.try_wait().unwrap().is_none(), "it could be read");
    limit("1000");
    assert!(stop.wait_with_output().unwrap().status.success());
    assert_eq!(guardian.wait(), 0);
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

/// Found: the guardian of a house that was moved lived on, failed at everything and heard no order.
#[test]
fn a_house_that_is_moved_or_deleted_ends_its_guardian() {
    type Takes = fn(&House);
    let away: [Takes; 2] = [
        |house| fs::rename(&house.root, house.root.with_file_name("elsewhere")).unwrap(),
        |house| house.until("no house", || fs::remove_dir_all(&house.root).is_ok()),
    ];
    for takes in away {
        let (house, mut guardian, _) = living(SOUND);
        let ran = house.leftovers();
        takes(&house);
        assert_eq!(guardian.wait(), LOST);
        ran.iter().for_each(|pid| assert!(!fs::exists(format!("/proc/{pid}")).unwrap(), "{pid} runs on"));
        assert!(fs::read_to_string(&guardian.log).unwrap().contains("moved or deleted"));
    }
}

/// Found: where the state was deleted, its lock with it, two guardians ran, and two lives.
#[test]
fn a_second_guardian_that_begins_after_the_state_was_deleted_is_the_only_one() {
    let (house, mut guardian, _) = living(SOUND);
    house.until("no state", || fs::remove_dir_all(house.path(".self")).is_ok());
    let second = house.start();
    assert_eq!(guardian.wait(), LOST);
    house.until("its life", || {
        house.status()["guardian_pid"] == second.pid() && house.status()["blessed"] == true
    });
    assert_eq!(lives(&house).len(), 1);
    assert_eq!(second.stop(), 0);
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

#[test]
fn a_house_that_is_moved_ends_a_stand_in() {
    let (mut house, mut guardian, _) = living(SOUND);
    house.write("owner.toml", &house.read("owner.toml").replace("parked_s = 0.5\n", "parked_s = 600\n"));
    house.until("the settings to count", || house.read(".self/heart.json").contains("\"parked_ms\":600000"));
    until_a_stand_in(&house, &guardian);
    house.until("its life", || !lives(&house).is_empty());
    let elsewhere = house.root.with_file_name("elsewhere");
    fs::rename(&house.root, &elsewhere).unwrap();
    assert_eq!(guardian.wait(), LOST);
    house.root = elsewhere;
    assert_eq!(house.leftovers(), Vec::<i32>::new());
    let guardian = house.start();
    house.until("a life there", || {
        house.status()["guardian_pid"] == guardian.pid() && house.status()["blessed"] == true
    });
    assert_eq!(guardian.stop(), 0);
}

/// Found: an order that nobody takes up while a version stands in came to an end without a reason.
#[test]
fn an_order_that_no_steward_takes_up_says_why() {
    let (house, guardian, _) = living(SOUND);
    house.write("owner.toml", &house.read("owner.toml").replace("parked_s = 0.5\n", "parked_s = 600\n"));
    house.until("the settings to count", || house.read(".self/heart.json").contains("\"parked_ms\":600000"));
    until_a_stand_in(&house, &guardian);
    let told = said(&house.ask(&["pause"]));
    assert!(told.contains("has not taken up the order") && told.contains("stands in"), "{told}");
    assert_eq!(guardian.stop(), 0);
}
