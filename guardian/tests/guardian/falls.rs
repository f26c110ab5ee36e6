//! Falls that cannot be carried out: the next rung is taken, or what is kept runs until the way is free.

use std::process::Command;
use trials::{House, SOUND, becomes, said};

fn mount(args: &[&str], house: &House) {
    let folder = house.path("creature");
    let mut command = Command::new(args[0]);
    command.args(&args[1..]).arg(&folder);
    if args.contains(&"--bind") {
        command.arg(&folder);
    }
    assert!(command.status().unwrap().success(), "{args:?}");
}

/// Nothing can be written below `creature/`, and it cannot be moved: a read-only mount, a disk that fails.
#[test]
fn while_nothing_can_be_put_back_a_kept_binary_lives_and_then_it_is_done() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let house = House::new(&becomes("until test -e .self/locked; do sleep 0.05; done; exit 7"));
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until("the second life", || house.told("life").len() == 2);
    mount(&["mount", "--bind"], &house);
    mount(&["mount", "-o", "remount,bind,ro"], &house);
    house.write(".self/locked", "");
    house.until("what is kept to live", || {
        house.told("life").last().is_some_and(|life| life["commit"] == first && life["kept_binary"] == true)
    });
    house.until("its thought", || house.status()["phase"] == "settled");
    assert!(house.told("fall").is_empty(), "nothing was put back");
    assert_eq!(house.status()["blessed"], false, "what only stands in may not be reborn");
    assert!(house.status()["note"].as_str().unwrap().contains("stands in"), "{}", house.status()["note"]);
    mount(&["umount", "-l"], &house);
    house.until("the fall", || house.told("fall").len() == 1);
    assert_eq!(house.told("fall")[0]["to_commit"], first);
    house.until("a trusted life", || house.status()["blessed"] == true);
    guardian.stop();
}

/// A rung with what no folder can hold: another repository by its commit alone, as the owner may have committed it.
#[test]
fn a_rung_that_cannot_be_put_back_gives_way_to_the_next() {
    let house = House::new(&becomes("until test -e .self/locked; do sleep 0.05; done; exit 7"));
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until("the second life", || house.told("life").len() == 2);
    // By an index of its own: the guardian brings the owner's along.
    let git = |args: &[&str]| {
        let index = house.folder.path().join("index");
        let output =
            Command::new("git").args(args).env("GIT_INDEX_FILE", index).current_dir(&house.root).output();
        String::from_utf8(output.unwrap().stdout).unwrap().trim().to_owned()
    };
    git(&["read-tree", "HEAD"]);
    git(&["update-index", "--add", "--cacheinfo", &format!("160000,{first},creature/elsewhere")]);
    let tree = git(&["write-tree"]);
    let strange = house.git(&["commit-tree", &tree, "-p", "HEAD", "-m", "with a repository of its own"]);
    house.git(&["update-ref", "refs/guardian/good/000001", &strange]);
    house.write(".self/locked", "");
    house.until("the fall", || house.told("fall").len() == 1);
    assert_eq!(house.told("fall")[0]["to_commit"], first, "the one below that can be had");
    house.until("a trusted life", || house.status()["blessed"] == true);
    guardian.stop();
}

/// Found: a version that the owner named was put back a second later, since lives before it had gone without a blessing.
#[test]
fn what_the_owner_goes_back_to_after_a_loop_of_loops_lives() {
    let house = House::new(SOUND);
    let guardian = house.start();
    house.until_blessed(&house.git(&["rev-parse", "HEAD"]));
    guardian.stop();
    let slow = house.read("owner.toml").replace("probation_s = 0.3", "probation_s = 600");
    house.write("owner.toml", &(slow + "lives_unblessed = 3\n"));
    house.write_life("think second; live");
    let second = house.commit("second");
    let tree = |commit: &str| house.git(&["rev-parse", &format!("{commit}:creature")]);
    let guardian = house.start();
    while house.told("fall").is_empty() {
        house.until("a life", || house.status()["phase"] == "probation" || !house.told("fall").is_empty());
        for order in ["pause", "resume"] {
            house.ask(&[order]);
        }
    }
    let fall = house.told("fall")[0].clone();
    // Found: "after 0 deaths".
    let why = fall["told"].as_str().unwrap_or_default();
    assert!(
        fall["cause"] == "loop_of_loops" && why.ends_with("after 3 lives in a row that were not blessed"),
        "{fall}"
    );
    let output = house.ask(&["rollback", &second]);
    assert!(output.status.success(), "{}", said(&output));
    house.until("a life of it or a fall", || {
        house.status()["phase"] == "probation"
            && house.status()["creature_pid"].is_number()
            && house.told("fall").len() >= 2
    });
    assert_eq!(tree("HEAD"), tree(&second), "{:?}", house.told("fall"));
    assert_eq!(house.told("fall").len(), 2, "{:?}", house.told("fall"));
    guardian.stop();
}
