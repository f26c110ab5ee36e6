//! What the owner is told is so: what came of an order, what keeps a start from starting, whose mind it is.

use serde_json::Value;
use std::fs;
use std::process::Stdio;
use trials::{House, SOUND, living, said};

/// A word of the owner's, and what came of it.
#[track_caller]
fn told(house: &House, args: &[&str], code: i32, parts: &[&str]) {
    let output = house.ask(args);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    assert_eq!(said.lines().count(), 1, "{args:?} in one sentence: {said}");
    for part in parts {
        assert!(said.contains(part), "{args:?}: {part} is not in: {said}");
    }
}

/// Found: with nothing to go back to, `rollback` said `taken up`, status 0, and ended the life.
#[test]
fn owner_5_a_rollback_with_nothing_to_go_back_to_is_refused_and_ends_no_life() {
    let (house, guardian, first) = living(SOUND);
    let creature = house.status()["creature_pid"].clone();
    told(&house, &["rollback"], 1, &["nothing to go back to", &first[..7]]);
    house.write("creature/new.txt", "beside it\n");
    house.git(&["rm", "-rq", "--cached", "creature"]);
    house.git(&["commit", "-qm", "no creature"]);
    let without = house.git(&["rev-parse", "HEAD"]);
    house.git(&["reset", "-q", &first]);
    told(&house, &["rollback", "no-such-name"], 1, &["no commit is called no-such-name"]);
    told(&house, &["rollback", &without], 1, &["has no creature/"]);
    assert_eq!((house.status()["creature_pid"].clone(), house.told("life").len()), (creature, 1));
    assert!(house.told("fall").is_empty());
    guardian.stop();
}

/// Found: or it restarted a build.
#[test]
fn owner_5_a_refused_rollback_leaves_a_build_alone() {
    let house = House::new(SOUND);
    house.write(
        "creature/build.sh",
        "echo built >> .self/mind/builds; until [ -e .self/mind/go ]; do sleep 0.05; done\n",
    );
    house.commit("builds until it is told");
    let guardian = house.start();
    house.until("a build", || house.path(".self/mind/builds").exists());
    told(&house, &["rollback"], 1, &["nothing to go back to"]);
    house.write(".self/mind/go", "");
    house.until("a life", || house.told("life").len() == 1);
    assert_eq!(house.read(".self/mind/builds"), "built\n", "the build was begun again");
    guardian.stop();
}

#[test]
fn owner_5_a_rollback_says_to_which_commit_it_was_put_back() {
    let (house, guardian, first) = living(SOUND);
    house.write_life("think changed; echo half > creature/half.txt; live");
    let second = house.commit("the owner's change");
    told(&house, &["pause"], 0, &["paused"]);
    told(&house, &["pause"], 0, &["paused already"]);
    told(&house, &["resume"], 0, &["resume"]);
    house.until_blessed(&second);
    told(&house, &["resume"], 0, &["not paused"]);
    house.until("its edit", || house.path("creature/half.txt").exists());
    told(&house, &["rollback"], 0, &["put creature back to", &first[..7], "refs/guardian/rescued/"]);
    assert!(!house.creature_differs_from(&first), "it was not waited for");
    house.until("a life of it", || house.status()["blessed"] == true);
    let lives = house.told("life").len();
    told(&house, &["rollback", &first], 0, &["already", &first[..7]]);
    assert_eq!(house.told("life").len(), lives, "a life ended for nothing");
    told(&house, &["rollback", "HEAD~1"], 0, &["put creature back to", &second[..7]]);
    assert_eq!(house.status()["order_outcome"]["ok"], true);
    told(&house, &["stop"], 0, &["stopped"]);
    drop(guardian);
    told(&house, &["rollback"], 1, &["no guardian is running"]);
}

/// Found: a signal that came while the ladder was looked through made every rung count as damaged.
#[test]
fn owner_5_a_rollback_under_a_storm_of_signals_is_done() {
    let (house, guardian, first) = living(SOUND);
    house.write_life("think changed; live");
    let changed = house.commit("the owner's change");
    told(&house, &["pause"], 0, &["paused"]);
    told(&house, &["resume"], 0, &["it goes on"]);
    house.until_blessed(&changed);
    let pid = nix::unistd::Pid::from_raw(guardian.pid());
    let storm = std::thread::spawn(move || {
        for _ in 0..2_000 {
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGUSR1).unwrap();
            std::thread::sleep(std::time::Duration::from_micros(300));
        }
    });
    told(&house, &["rollback"], 0, &["put creature back to"]);
    storm.join().unwrap();
    assert!(!house.creature_differs_from(&first));
    guardian.stop();
}

#[test]
fn owner_5_a_rollback_while_paused_is_done_and_stays_paused() {
    let (house, guardian, first) = living(SOUND);
    told(&house, &["pause"], 0, &["paused"]);
    house.write_life("think changed; live");
    house.commit("the owner's change");
    told(&house, &["rollback", &first], 0, &["put creature back to", &first[..7]]);
    assert_eq!((house.status()["phase"].as_str(), house.told("life").len()), (Some("paused"), 1));
    guardian.stop();
}

#[test]
fn owner_5_what_keeps_a_rollback_from_being_done_is_told_until_it_is_done() {
    let (house, guardian, first) = living(SOUND);
    house.write_life("think changed; echo half > creature/half.txt; live");
    house.commit("the owner's change");
    told(&house, &["pause"], 0, &["paused"]);
    told(&house, &["resume"], 0, &["it goes on"]);
    house.until("its edit", || house.path("creature/half.txt").exists());
    // Where its unfinished work would have to be kept.
    house.write(".git/refs/guardian/rescued", "in the way\n");
    let command = house.command(&["rollback"]).stdout(Stdio::piped()).spawn().unwrap();
    house.until("the reason", || {
        let note = house.status()["note"].to_string();
        note.contains("not put back yet") && note.contains("refs/guardian/rescued/")
    });
    fs::remove_file(house.path(".git/refs/guardian/rescued")).unwrap();
    let output = command.wait_with_output().unwrap();
    assert!(output.status.success() && said(&output).contains("put creature back to"), "{}", said(&output));
    assert!(!house.creature_differs_from(&first));
    guardian.stop();
}

/// Found: `status` showed no mind for a life's first 30 s: only a change of phase was told.
#[test]
fn owner_8_a_mind_shows_with_the_first_beat_that_names_it() {
    let house = House::new(
        "printf '{\"life\":%s,\"turns\":0,\"thoughts\":0,\"stage\":\"waking\",\"mind\":\"\"}\\n' $FERAL_LIFE > .self/heartbeat; \
         until grep -q '\"phase\": \"probation\"' .self/guardian.json; do sleep 0.05; done; think alive; live",
    );
    house.settings("");
    let settings = house.read("owner.toml").replace("probation_s = 0.3", "probation_s = 600");
    house.write("owner.toml", &settings);
    let guardian = house.start();
    house.until("its mind", || house.status()["mind"] == "shell");
    assert_eq!(house.status()["phase"], "probation");
    // Found: "a rollback goes back to 57fb596, the last version that proved itself", of the one that ran and had not.
    let status = said(&house.ask(&["status"]));
    assert!(status.contains("this first version has not proved itself yet"), "{status}");
    guardian.stop();
}

/// Found: `status` showed a mind of yesterday.
#[test]
fn owner_8_no_mind_of_an_earlier_life_is_shown() {
    let house = House::new(
        "think alive; blessed; [ $FERAL_LIFE != 1 ] || exit 3; until [ -e .self/go ]; do beat; sleep 0.1; done; exit 3",
    );
    let settings = house.read("owner.toml").replace("rest_longest_s = 0.4", "rest_longest_s = 600");
    house.write("owner.toml", &settings.replace("rest_s = 0.05", "rest_s = 600"));
    let guardian = house.start();
    house.until("a rest after the first life", || {
        house.status()["phase"] == "resting" && house.deaths().len() == 1
    });
    let status = |house: &House| -> Value {
        serde_json::from_slice(&house.ask(&["status", "--json"]).stdout).unwrap()
    };
    assert_eq!((house.status()["mind"].as_str(), status(&house)["mind"].as_str()), (Some(""), Some("")));
    guardian.stop();
    // As a guardian that was killed leaves it.
    let yesterday = house.status();
    let mut written = yesterday.clone();
    written["mind"] = "a mind of yesterday".into();
    written["guardian_pid"] = 1.into();
    house.write(".self/guardian.json", &written.to_string());
    assert_eq!(status(&house)["mind"], "");
    assert!(!said(&house.ask(&["status"])).contains("yesterday"));
    // And as the next one finds it, before it has said anything itself.
    house.write(".self/guardian/lock", "1");
    let held = fs::File::open(house.path(".self/guardian/lock")).unwrap();
    fs2::FileExt::lock_exclusive(&held).unwrap();
    written["guardian_pid"] = 2.into();
    house.write(".self/guardian.json", &written.to_string());
    let said = said(&house.ask(&["status"]));
    assert!(said.contains("starting") && !said.contains("yesterday"), "{said}");
}
