//! What the doctor says is so: it finds what keeps a start from starting, by the same words, and nothing else.

use serde_json::Value;
use std::fs;
use std::process::Command;
use trials::{House, SOUND, living, said};

/// What doctor says is bad.
fn bad(house: &House) -> Vec<String> {
    let said: Value = serde_json::from_slice(&house.ask(&["doctor", "--json"]).stdout).unwrap();
    let findings = said["findings"].as_array().unwrap().iter().filter(|finding| finding["grade"] == "BAD");
    findings.map(|finding| finding["found"].as_str().unwrap().to_owned()).collect()
}

/// Doctor finds what the start says, by the same words.
#[track_caller]
fn both_refuse(house: &House, part: &str) {
    let start = house.ask(&[]);
    assert_eq!(start.status.code(), Some(100), "it started: {}", said(&start));
    assert!(said(&start).contains(part), "{part} is not in: {}", said(&start));
    let bad = bad(house);
    assert!(bad.iter().any(|found| found.contains(part)), "{part} is not in: {bad:?}");
    assert_eq!(house.ask(&["doctor"]).status.code(), Some(1));
}

/// Found: `doctor` was all ok while the guardian refused to start over uncommitted edits.
#[test]
fn owner_6_doctor_finds_what_makes_a_start_refuse() {
    let house = House::new(SOUND);
    assert_eq!(bad(&house), Vec::<String>::new());
    house.write("creature/new.txt", "the owner's\n");
    both_refuse(&house, "new.txt");
    let before = fs::read_dir(house.path(".self")).unwrap().count();
    bad(&house);
    assert_eq!(fs::read_dir(house.path(".self")).unwrap().count(), before, "doctor changes nothing");
    house.commit("kept");
    house.git(&["checkout", "-q", "-b", "side"]);
    house.write("README.md", "side\n");
    house.commit("side");
    house.git(&["checkout", "-q", "main"]);
    house.write("README.md", "main\n");
    house.commit("main");
    Command::new("git").args(["merge", "side"]).current_dir(&house.root).output().unwrap();
    both_refuse(&house, "merge");
    house.git(&["merge", "--abort"]);
    house.git(&["rm", "-rq", "--cached", "creature"]);
    house.git(&["commit", "-qm", "no creature"]);
    both_refuse(&house, "has no creature/");
    house.git(&["reset", "-q", "HEAD~1"]);
    house.settings("[rest]\nlongest = 3");
    both_refuse(&house, "longest");
    house.settings("");
    assert_eq!(bad(&house), Vec::<String>::new());
}

#[test]
fn owner_6_what_the_broker_says_of_settings_is_found() {
    let judge = "test \"$1\" = --check && echo 'owner.toml, line 3, [budget]: no such key' >&2; exit 2";
    both_refuse(&House::new(SOUND).with_false_broker(judge), "line 3, [budget]: no such key");
}

#[test]
fn owner_6_a_lock_that_somebody_else_holds_is_found() {
    let house = House::new(SOUND);
    fs::create_dir_all(house.path(".self/guardian")).unwrap();
    house.write(".self/guardian/lock", "");
    let held = fs::File::open(house.path(".self/guardian/lock")).unwrap();
    fs2::FileExt::lock_exclusive(&held).unwrap();
    both_refuse(&house, "names no guardian");
}

#[test]
fn owner_6_while_a_guardian_runs_its_creatures_edits_are_no_finding() {
    let (house, guardian, _) = living("think x; echo half > creature/half.txt; live");
    house.until("its edit", || house.path("creature/half.txt").exists());
    assert_eq!(bad(&house), Vec::<String>::new());
    guardian.stop();
}

#[test]
fn owner_6_what_a_dead_creature_left_keeps_nobody_from_starting_and_is_no_finding() {
    let (house, guardian, first) = living(SOUND);
    guardian.kill_only();
    house.until("its creature to be gone", || house.leftovers().is_empty());
    house.write("creature/left.txt", "half\n");
    assert_eq!(bad(&house), Vec::<String>::new());
    fs::remove_file(house.path(".self/guardian/state.json")).unwrap();
    assert_eq!(bad(&house), Vec::<String>::new());
    let guardian = house.start();
    house.until("the next life", || house.told("life").len() == 2);
    assert!(!house.creature_differs_from(&first));
    guardian.stop();
}
