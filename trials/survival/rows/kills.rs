//! The guardian killed with SIGKILL at each step of commit, bless and rollback: the next start goes on.

use crate::survival::killing::{self, Opened, Scenario};
use crate::survival::matrix::Row;
use crate::survival::whole;
use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use trials::House;

const KILLS: &str = "guardian killed at each step";

pub const ROWS: &[Row] = &[
    Row::new(
        KILLS,
        "of a first life and its blessing",
        "SIGKILL before each step, from the start to the blessing",
        |trial| trial.note(bless().at_each_step(trial.variant.is_sample)),
    )
    .alone()
    .quick(),
    Row::new(KILLS, "of a rebirth", "SIGKILL before each step, from the request to the blessing", |trial| {
        trial.note(rebirth().at_each_step(trial.variant.is_sample));
    })
        .alone()
        .quick(),
    Row::new(
        KILLS,
        "of a rollback after three deaths",
        "SIGKILL before each step, from the third death to the blessing",
        |trial| trial.note(rollback_after_three_deaths().at_each_step(trial.variant.is_sample)),
    )
    .alone()
    .quick(),
    Row::new(
        KILLS,
        "of a rollback by the owner",
        "SIGKILL before each step, from the order to the blessing",
        |trial| trial.note(rollback_by_the_owner().at_each_step(trial.variant.is_sample)),
    )
    .alone()
    .quick(),
    Row::new(
        KILLS,
        "and once more in the recovery",
        "SIGKILL before some steps of each of these, and again before some step of the guardian that comes after",
        |trial| {
            for scenario in [bless(), rebirth(), rollback_after_three_deaths(), rollback_by_the_owner()] {
                trial.note(scenario.at_some_steps_twice());
            }
        },
    )
    .alone(),
];

/// A life that tells when another one runs beside it: the lock is held as long as anything of its tree lives.
const ALONE: &str = "exec 9>>.self/mind/one; flock -n 9 || echo two >> .self/mind/two;";
/// Waits until the test opens the gate, and never again after that.
const WAIT: &str = "[ -e .self/go ] || read go < .self/gate;";
/// Lives on, at less cost than `live`: hundreds of houses share the machine.
const SOUND: &str = "think alive; while :; do beat; sleep 1; done";

/// A house whose limits let a scenario be over soon.
fn house(life: &str) -> House {
    let house = House::new_in(&killing::place(), "think base; live");
    nix::unistd::mkfifo(&house.path(".self/gate"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    house.write_life(&format!("{ALONE} {life}"));
    let settings = house.read("owner.toml").replace("probation_s = 0.3", "probation_s = 0.1");
    house.write("owner.toml", &settings);
    house.commit("quick");
    house
}

/// A house with two rungs, and a second life on top that stands on none yet.
fn with_a_second(life: &str) -> House {
    let house = house(SOUND);
    house.git(&["tag", "base", "HEAD~1"]);
    house.git(&["update-ref", "refs/guardian/good/000000", "base"]);
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until_blessed(&first);
    guardian.stop();
    house.write_life(&format!("{ALONE} {life}"));
    house.commit("second");
    house.git(&["tag", "first", &first]);
    house
}

/// Opens the gate for whoever waits there now or comes later.
fn go(house: &House) -> Opened {
    let mut gate = File::options().read(true).write(true).open(house.path(".self/gate")).unwrap();
    gate.write_all(b"\n").unwrap();
    house.write(".self/go", "");
    Opened { gate: Some(gate), owner: None }
}

fn ends_well(house: &House) -> bool {
    house.status()["blessed"] == true
}

fn bless() -> Scenario {
    Scenario {
        begin: || {
            let house = house(SOUND);
            whole::owner_edits(&house);
            (house, None)
        },
        open: |_| Opened::default(),
        done: ends_well,
        check: |house| {
            whole::ladder_is(house, &["HEAD"]);
            assert_eq!(house.git(&["log", "--format=%s"]), "quick\nfirst");
            assert!(house.told("fall").is_empty());
        },
    }
}

fn rebirth() -> Scenario {
    Scenario {
        begin: || {
            let next = format!("{ALONE} think again; {SOUND}");
            let house = house(&format!(
                "think first; {WAIT} head -n 7 creature/creature.sh > creature/next; \
                 printf \"%s\\n\" \"{next}\" >> creature/next; mv creature/next creature/creature.sh; \
                 echo new > creature/new.txt; ask rebirth \"another life\" r; exit 0"
            ));
            house.git(&["tag", "first"]);
            whole::owner_edits(&house);
            let guardian = house.start();
            house.until_blessed(&house.git(&["rev-parse", "HEAD"]));
            (house, Some(guardian))
        },
        open: go,
        done: |house| ends_well(house) && house.status()["born"]["summary"] == "another life",
        check: |house| {
            assert_eq!(
                house.git(&["log", "--format=%an %s"]),
                "creature self: another life\nowner quick\nowner first"
            );
            assert_eq!(house.git(&["show", "HEAD:creature/new.txt"]), "new");
            whole::ladder_is(house, &["first", "HEAD"]);
            whole::told_once(house, "commit", 1);
            let answers = house.status()["answers"].as_array().unwrap().len();
            assert_eq!(answers, 1, "one answer to one request: {}", house.status()["answers"]);
        },
    }
}

/// Commits, refs, records and the creature after one fall from `second` to `first`.
fn fell_once(house: &House, why: &str) {
    let log = house.git(&["log", "--format=%s"]);
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines[0].starts_with("guardian: put creature back to ") && lines[0].ends_with(why), "{log}");
    assert_eq!(lines[1..], ["second", "quick", "first"], "one commit for one fall");
    assert!(!house.creature_differs_from("first"), "creature/ is the first's");
    whole::ladder_is(house, &["base", "first"]);
    whole::told_once(house, "fall", 1);
    whole::told_once(house, "commit", 1);
    let falls = house.status()["falls"].as_array().unwrap().clone();
    assert_eq!(falls.len(), 1, "{falls:?}");
    let kept = falls[0]["rescued_ref"].as_str().expect("a fall tells where unfinished work is kept");
    assert!(house.git(&["for-each-ref", kept]).len() > 40, "{kept}");
}

fn rollback_after_three_deaths() -> Scenario {
    Scenario {
        begin: || {
            let house = with_a_second(&format!(
                "echo \"*.secret\" > creature/.gitignore; echo \"treasure $FERAL_LIFE\" > creature/deep.secret; \
                 mkdir -p creature/a; echo \"work $FERAL_LIFE\" > creature/a/b; \
                 [ $FERAL_LIFE != 4 ] || {{ {WAIT} }}; exit 7"
            ));
            whole::owner_edits(&house);
            let guardian = house.start();
            house.until("the fourth life", || house.read("creature/a/b") == "work 4\n");
            (house, Some(guardian))
        },
        open: go,
        done: |house| ends_well(house) && !house.told("fall").is_empty(),
        check: |house| {
            fell_once(house, " deaths");
            let fallen = house.git(&["rev-parse", "HEAD~1:creature"]);
            house.git(&["rev-parse", "--verify", &format!("refs/guardian/fallen/{fallen}")]);
            whole::is_kept(house, b"treasure 4\n");
            whole::is_kept(house, b"work 4\n");
        },
    }
}

fn rollback_by_the_owner() -> Scenario {
    Scenario {
        begin: || {
            let house = with_a_second(&format!("think other; echo half > creature/half.txt; {SOUND}"));
            whole::owner_edits(&house);
            let guardian = house.start();
            house.until_blessed(&house.git(&["rev-parse", "HEAD"]));
            house.until("its unfinished work", || house.read("creature/half.txt") == "half\n");
            (house, Some(guardian))
        },
        open: |house| {
            let mut order = house.command(&["rollback"]);
            let owner = order.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            Opened { gate: None, owner: Some(owner) }
        },
        done: |house| ends_well(house) && !house.told("fall").is_empty(),
        check: |house| {
            fell_once(house, " as the owner asked");
            whole::is_kept(house, b"half\n");
            let order: serde_json::Value =
                serde_json::from_str(&house.read(".self/guardian/order.json")).unwrap();
            assert_eq!(house.status()["order"], order["id"], "the owner's order was answered");
        },
    }
}
