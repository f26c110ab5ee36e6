//! The guardian's first process and its steward, as processes: either killed or stopped, and what stands in meanwhile.

use heart::wire::{Record, Version};
use processes::prepare::Asked;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use trials::{Guardian, House, SOUND, living, send};
use walls::Choice;
use walls::spec::Ceilings;

/// Variables of all processes of the house, the creature's among them.
fn environments(house: &House) -> Vec<BTreeSet<String>> {
    let read = |pid: i32| fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let split = |bytes: Vec<u8>| {
        let pairs = bytes.split(|byte| *byte == 0).map(|pair| String::from_utf8_lossy(pair).into_owned());
        pairs.collect()
    };
    house.leftovers().into_iter().map(|pid| split(read(pid))).collect()
}

/// Numbers of the lives that run now.
pub fn lives(house: &House) -> BTreeSet<u64> {
    let number = |pairs: &BTreeSet<String>| {
        pairs.iter().find_map(|pair| pair.strip_prefix("FERAL_LIFE=")?.parse::<u64>().ok())
    };
    environments(house).iter().filter_map(number).collect()
}

fn kill_steward(house: &House, guardian: &Guardian) -> i32 {
    let mut found = None;
    house.until("a steward", || {
        found = guardian.steward();
        found.is_some()
    });
    let pid = found.unwrap();
    send("-KILL", pid);
    pid
}

/// Kills stewards until a stand-in runs.
pub fn until_a_stand_in(house: &House, guardian: &Guardian) {
    house.until("a stand-in", || {
        guardian.steward().into_iter().for_each(|pid| send("-KILL", pid));
        guardian.stand_in().is_some()
    });
}

/// Found: a guardian that crashed took its creature with it, until somebody started it again.
#[test]
fn a_steward_that_is_killed_begins_again_and_never_two_lives_run() {
    let (house, guardian, first) = living(SOUND);
    let (before, steward) = (house.status()["life"].as_u64().unwrap(), kill_steward(&house, &guardian));
    let mut most = 0;
    house.until("the next life", || {
        most = most.max(lives(&house).len());
        let status = house.status();
        status["life"].as_u64() == Some(before + 1) && status["blessed"] == true
    });
    assert_eq!(most, 1, "two lives ran");
    assert_ne!(guardian.steward(), Some(steward));
    let status = house.status();
    assert_eq!((&status["guardian_pid"], &status["commit"]), (&guardian.pid().into(), &first.into()));
    let [begun] = house.told("begun_anew").try_into().unwrap();
    assert!(begun["cause"].as_str().unwrap().contains("SIGKILL"), "{begun}");
    assert!(house.deaths().is_empty(), "nobody is to blame: {:?}", house.deaths());
    assert_eq!(guardian.stop(), 0);
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

/// Found: of 9.7 MiB memory pressure took 7.1, and a killed steward was started again only once a disk had answered five
/// times.
#[test]
fn the_first_process_is_small_and_what_it_runs_stays_in_memory() {
    // Others may not inspect it: as a plain user not even itself.
    crate::plain_user::runs("heart::the_first_process_is_small_and_what_it_runs_stays_in_memory");
    let (house, guardian, _) = living(SOUND);
    let number = |name: &str| -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", guardian.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":"));
        line.unwrap().split_whitespace().next().unwrap().parse().unwrap()
    };
    house.until("its pages to be kept", || number("VmLck") > 0);
    let (kept, most) = (number("VmLck"), 5 << 10);
    assert!(kept <= most && number("VmRSS") <= most, "{kept} of {} KiB", number("VmRSS"));
    // A steward ends, then another is stopped and looked at, and nothing is run that was not kept.
    let (life, steward) = (house.status()["life"].as_u64(), kill_steward(&house, &guardian));
    house.until("the next life", || {
        house.status()["life"].as_u64() > life && house.status()["blessed"] == true
    });
    let next = guardian.steward().unwrap();
    assert_ne!(next, steward);
    send("-STOP", next);
    let woke = number("voluntary_ctxt_switches");
    house.until("a look", || number("voluntary_ctxt_switches") > woke);
    send("-CONT", next);
    assert!(number("VmLck") >= kept, "{} of {kept} KiB are kept", number("VmLck"));
    assert!(number("VmRSS") <= kept + 128, "{} KiB, of which {kept} are kept", number("VmRSS"));
    assert_eq!(guardian.stop(), 0);
}

#[test]
fn a_steward_that_is_stopped_is_waited_for_and_keeps_no_owner_waiting() {
    let (house, mut guardian, _) = living(SOUND);
    let (steward, life) = (guardian.steward().unwrap(), house.status()["life"].clone());
    send("-STOP", steward);
    std::thread::sleep(Duration::from_secs(3));
    send("-CONT", steward);
    house.until("its life to go on", || house.status()["blessed"] == true);
    assert_eq!((guardian.steward(), &house.status()["life"]), (Some(steward), &life));
    send("-STOP", steward);
    guardian.signal("-TERM");
    assert_eq!(guardian.wait(), 0);
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

#[test]
fn after_three_ends_a_blessed_version_stands_in_and_then_the_steward_is_back() {
    let (house, guardian, first) = living(SOUND);
    let settings = house.read("owner.toml").replace("parked_s = 0.5\n", "parked_s = 45\n");
    house.write("owner.toml", &settings);
    drop(guardian);
    let guardian = house.start();
    house.until("the next guardian's life", || {
        house.status()["guardian_pid"] == guardian.pid() && house.status()["blessed"] == true
    });
    let before = house.status()["life"].as_u64().unwrap();
    until_a_stand_in(&house, &guardian);
    // Kept when it is seen: a look while it executes its program finds nothing.
    let mut life = None;
    house.until("its life, in safe mode", || {
        life = environments(&house).into_iter().find(|pairs| pairs.contains("FERAL_SAFE=1"));
        life.is_some()
    });
    let life = life.unwrap();
    assert!(life.contains(&format!("FERAL_COMMIT={first}")), "{life:?}");
    assert!(!life.iter().any(|pair| pair.starts_with("FERAL_BROKER")), "{life:?}");
    let number = life.iter().find_map(|pair| pair.strip_prefix("FERAL_LIFE=")?.parse::<u64>().ok()).unwrap();
    assert!(number > before);
    // It writes where a life may write, and the status says what stands in.
    house.until("its beat", || house.read(".self/heartbeat").contains(&format!("\"life\":{number},")));
    let said = trials::said(&house.ask(&["status"]));
    assert!(said.contains("stands in"), "{said}");
    house.until("the steward", || guardian.steward().is_some());
    house.until("a life of the steward's", || {
        house.status()["blessed"] == true && house.status()["life"].as_u64() > Some(number)
    });
    let said = trials::said(&house.ask(&["status"]));
    assert!(!said.contains("stands in"), "{said}");
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

#[test]
fn stop_ends_a_stand_in() {
    for order in [true, false] {
        let (house, mut guardian, _) = living(SOUND);
        let settings = house.read("owner.toml").replace("parked_s = 0.5\n", "parked_s = 600\n");
        house.write("owner.toml", &settings);
        house.until("the settings to count", || {
            house.read(".self/heart.json").contains("\"parked_ms\":600000")
        });
        until_a_stand_in(&house, &guardian);
        house.until("its life", || !lives(&house).is_empty());
        if order {
            let output = house.ask(&["stop"]);
            assert!(output.status.success(), "{output:?}");
        } else {
            guardian.signal("-INT");
        }
        assert_eq!(guardian.wait(), 0);
        assert_eq!(house.leftovers(), Vec::<i32>::new());
    }
}

/// A kept binary that is not what was blessed runs nowhere; without another there is no stand-in.
#[test]
fn a_binary_that_was_changed_does_not_stand_in() {
    let (house, guardian, _) = living(SOUND);
    let binaries = house.path(".self/guardian/binaries");
    for entry in fs::read_dir(&binaries).unwrap().flatten().filter(|entry| entry.path().extension().is_none())
    {
        fs::write(entry.path(), "#!/bin/sh\ntouch .self/workspace/ran\nsleep 1000\n").unwrap();
        fs::set_permissions(entry.path(), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let log = || fs::read_to_string(&guardian.log).unwrap();
    house.until("nothing to stand in", || {
        guardian.steward().into_iter().for_each(|pid| send("-KILL", pid));
        log().contains("no version can stand in")
    });
    house.until("a life", || house.status()["blessed"] == true);
    assert!(!house.path(".self/workspace/ran").exists(), "it ran");
    guardian.stop();
}

#[test]
fn the_newest_version_on_record_stands_in() {
    let version = |letter: &str| Version {
        tree: letter.repeat(40),
        commit: letter.repeat(40),
        sha256: letter.repeat(64),
    };
    let ceilings = Ceilings { processes: 1, memory_mib: 1, open_files: 1, file_mib: 1 };
    let record = |blessed: &[&str]| Record {
        walls: Asked { choice: Choice::On, more: vec![], ceilings },
        grace_ms: 0,
        parked_ms: 0,
        blessed: blessed.iter().map(|letter| version(letter)).collect(),
    };
    let newest =
        |record: Record| record.newest().map(|version| version.tree.chars().take(1).collect::<String>());
    assert_eq!(newest(record(&["a", "b"])), Some("b".into()));
    assert_eq!(newest(record(&[])), None);
    let mut odd = record(&["a", "b"]);
    odd.blessed[1].tree = "../../../../../bin/sh".into();
    assert_eq!(newest(odd), Some("a".into()), "a name that is none of git's is a path");
    let mut old = serde_json::to_value(record(&["a", "b"])).unwrap();
    old["condemned"] = serde_json::json!(["c"]);
    assert_eq!(
        newest(serde_json::from_value(old).unwrap()),
        Some("b".into()),
        "as an earlier guardian kept it"
    );
}

#[test]
fn a_heart_that_is_killed_takes_everything_with_it() {
    let (house, guardian, _) = living(SOUND);
    let steward = guardian.steward().unwrap();
    guardian.kill_only();
    house.until("all to end", || house.leftovers().is_empty());
    house.until("the steward to end", || !fs::exists(format!("/proc/{steward}")).unwrap());
}

/// Found: a start that was killed while it tried its own kills left a stopped copy of itself that held the house's lock, and no
/// guardian could start there any more.
#[test]
fn a_start_that_is_killed_at_any_moment_leaves_no_lock() {
    let house = House::new(SOUND);
    for moment in 0..150 {
        let guardian = house.start();
        std::thread::sleep(Duration::from_micros(moment * 100));
        guardian.kill_only();
        let is_free = || {
            let lock = fs::File::options().read(true).open(house.path(".self/guardian/lock"));
            lock.map_or(true, |lock| lock.try_lock_shared().is_ok())
        };
        house.until_within(Duration::from_secs(10), "the lock to be free", is_free);
    }
    let guardian = house.start();
    house.until("a life", || house.status()["blessed"] == true);
    assert_eq!(guardian.stop(), 0);
}

#[test]
fn a_state_of_the_hearts_that_is_none_is_set_aside() {
    let state = |life: u64, ms: u64| {
        let asked = serde_json::to_value(house::settings::Settings::default().asked()).unwrap();
        let record = serde_json::json!({"walls": asked, "grace_ms": ms, "parked_ms": ms, "blessed": [], "condemned": []});
        serde_json::json!({"version": 1, "guardian_pid": 1, "told": "", "life": life, "record": record})
            .to_string()
    };
    // Found: numbers that nothing can be added to ended the heart, or every steward it started.
    let numbers = [state(u64::MAX, 0), state(0, u64::MAX)];
    let texts = ["", "{", "[1,2]", "{\"version\":99}", "\u{0}\u{1}\u{2}"].map(String::from);
    for garbage in numbers.into_iter().chain(texts) {
        let house = House::new(SOUND);
        house.write(".self/heart.json", &garbage);
        let guardian = house.start();
        house.until("a life", || house.status()["blessed"] == true);
        assert_eq!(guardian.stop(), 0);
        let kept = fs::read_dir(house.path(".self/guardian/kept")).unwrap().flatten();
        let kept: Vec<_> =
            kept.filter(|entry| entry.file_name().to_string_lossy().contains("heart.json")).collect();
        assert_eq!(kept.len(), 1, "{garbage:?}");
        assert_eq!(fs::read_to_string(kept[0].path()).unwrap(), garbage);
        assert!(house.read(".self/heart.json").contains("\"version\":1"));
    }
}

/// Whoever types the name of a stage is told what to type instead.
#[test]
fn a_stage_by_itself_starts_nothing() {
    let house = House::new(SOUND);
    for stage in [heart::STEWARD, heart::STAND_IN] {
        let root = house.root.to_str().unwrap();
        let args = if stage == heart::STEWARD { vec![stage, root] } else { vec![stage, root, "{}"] };
        let output = house.ask(&args);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(trials::said(&output).contains("only the guardian starts"), "{output:?}");
    }
    assert!(!house.path(".self/guardian.json").exists());
}
