//! Hands of ours: built where `owner.toml` names them, their failures told, and the broker begun anew with another program.

use crate::broker_process::{copies_it, own_target};
use std::fs;
use std::process::Command;
use trials::{Guardian, House, SOUND};

const NAMED: &str = "[mcp.mail]\nhand = \"mail\"\n";

/// A house that names the hand, with a broker, and a cargo that does this where the hand is to be built.
fn house(builds: &str) -> (House, Command) {
    let house = House::new(SOUND);
    house.settings(NAMED);
    let command = own_target(&house, &copies_it("0"));
    let cargo = house.folder.path().join("cargo");
    let others = fs::read_to_string(&cargo).unwrap();
    let hand = format!(
        "#!/bin/sh\ncase \"$*\" in *--package*mail*--manifest-path*hands/Cargo.toml)\n\
         echo mail >> .self/workspace/built; {builds}; exit 0;; esac\n"
    );
    fs::write(&cargo, others.replacen("#!/bin/sh\n", &hand, 1)).unwrap();
    (house, command)
}

fn told(house: &House) -> String {
    house.broker()["hands"]["mail"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_hand_is_built_when_it_is_named_and_the_broker_begins_anew_with_it() {
    let waits = "until test -e .self/workspace/build_now; do sleep 0.05; done; \
                 mkdir -p target/hands/debug; echo program > target/hands/debug/feral-mail";
    let (house, mut command) = house(waits);
    house.settings("");
    let guardian = Guardian::new(command.spawn().unwrap(), &house);
    house.until_broker(None);
    assert_eq!(house.broker()["hands"], serde_json::json!({}), "no hand is named");
    house.settings(NAMED);
    house.until("the hand's build", || told(&house) == "the hand mail is still being built");
    house.until_broker(None);
    let before = house.broker()["pid"].clone();
    house.write(".self/workspace/build_now", "");
    house.until("its end", || told(&house).is_empty());
    house.until("another broker", || house.broker()["running"] == true && house.broker()["pid"] != before);
    // Built again with the next change of settings; the same program is left alone.
    let builds = || house.read(".self/workspace/built").matches("mail").count();
    assert_eq!(builds(), 1);
    house.settings(&format!("{NAMED}per_hour = 7\n"));
    house.until("a build", || builds() == 2);
    guardian.stop();
    assert_eq!(house.leftovers(), Vec::<i32>::new());
}

#[test]
fn a_hand_that_does_not_build_is_told_of_and_the_rest_lives() {
    let (house, mut command) = house("echo 'error: no such crate' >&2; exit 101");
    let guardian = Guardian::new(command.spawn().unwrap(), &house);
    let why = "the hand mail does not build: error: no such crate; see .self/log/hand-mail-build.log";
    house.until("the failure", || told(&house) == why);
    house.until_broker(None);
    house.until("it in the log", || fs::read_to_string(&guardian.log).unwrap().contains(why));
    assert!(house.deaths().is_empty());
    guardian.stop();
}
