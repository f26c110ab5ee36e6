//! Machines as their owners have them: configurations above the house, inherited signals, clones of other kinds, umasks.

use crate::asks::said;
use crate::disk::Disk;
use guardian::act::made::Made;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use trials::{House, SOUND};

/// The guardian as a shell starts it after another command.
fn after(house: &House, before: &str) -> Command {
    let plain = house.command(&[]);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{before}; exec \"$0\"")]).arg(plain.get_program()).current_dir(&house.root);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Found: cargo reads the configuration in each folder above the house, the sandbox refused it, and no build ever ended well.
#[test]
fn a_cargo_configuration_above_the_house_stands_in_no_ones_way_and_is_not_seen() {
    let house = House::new(
        "cat ../.cargo/config.toml > .self/workspace/seen 2>&1 && echo read >> .self/workspace/seen; think alive; blessed; live",
    );
    let above = house.root.parent().unwrap().join(".cargo/config.toml");
    fs::create_dir_all(above.parent().unwrap()).unwrap();
    fs::write(
        &above,
        "[build]\nrustc-wrapper = \"/nowhere/wrapper\"\n[net]\nretry = 7\n[registry]\ntoken = \"secret\"\n",
    )
    .unwrap();
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    let features = &house.status()["wall_features"];
    if features["view"] == "own mounts" {
        assert_eq!(house.read(".self/workspace/seen"), "read\n", "it can be read, and is empty");
    }
    // What is of use and no secret stands in the creature's own cargo home.
    let log = fs::read_to_string(&guardian.log).unwrap();
    guardian.stop();
    let own = house.read("target/creature/cargo-home/config.toml");
    assert!(own.contains("retry = 7") && !own.contains("wrapper") && !own.contains("secret"), "{own}");
    assert!(log.contains("build.rustc-wrapper of your cargo configuration"), "told once: {}", log);
}

/// Found: `nohup` was undone, for the guardian listened to the signal all the same.
#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    let house = House::new(SOUND);
    let command = after(&house, "trap '' HUP");
    let guardian = house.start_by(command);
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.signal("-HUP");
    // It hears what comes after: so it has passed that signal over.
    let before = house.status()["life"].clone();
    house.say("still there?");
    let status = house.ask(&["status"]);
    assert!(status.status.success(), "{}", said(&status));
    assert_eq!(house.status()["life"], before);
    assert_eq!(house.status()["want"], "keep");
    guardian.stop();
}

/// Found: a clone by `--filter=blob:none` could not be opened, and the doctor called it no repository.
#[test]
fn a_partial_clone_is_a_house() {
    let house = House::new(SOUND);
    house.git(&["config", "core.repositoryformatversion", "1"]);
    house.git(&["config", "extensions.partialClone", "origin"]);
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
}

#[test]
fn a_repository_of_a_kind_that_cannot_be_opened_is_refused_with_what_undoes_it() {
    let house = House::new(SOUND);
    house.git(&["config", "core.repositoryformatversion", "1"]);
    house.git(&["config", "extensions.refStorage", "reftable"]);
    for words in [&[][..], &["doctor"]] {
        let output = house.command(words).output().unwrap();
        assert!(!output.status.success(), "{words:?}");
        assert!(
            said(&output).contains("git refs migrate --ref-format=files"),
            "{words:?}: {}",
            said(&output)
        );
    }
}

/// Found: with a umask of 000 any user of the machine could write orders.
#[test]
fn a_umask_that_opens_everything_opens_nothing_of_the_houses_state() {
    let house = House::new(SOUND);
    let command = after(&house, "umask 000");
    let guardian = house.start_by(command);
    house.until("a blessing", || house.status()["blessed"] == true);
    guardian.stop();
    for path in [".self/guardian", ".self/guardian.json", ".self/history.jsonl", ".self/log"] {
        let mode = fs::metadata(house.path(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o022, 0, "{path}: {mode:o}");
    }
}

/// Found: with `CARGO_TARGET_DIR` set or a triple configured, no broker was ever built.
#[test]
fn a_program_is_known_by_its_sources_wherever_it_was_built() {
    let house = House::new(SOUND);
    let at = tempfile::tempdir().unwrap();
    let here = house::House::new(&house.root);
    let program = |folder: &str, sources: &str| {
        let folder = at.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("guardian");
        fs::write(program.with_extension("d"), format!("{}: {sources}\n", program.display())).unwrap();
        program
    };
    fs::write(at.path().join(".rustc_info.json"), "{}").unwrap();
    let ours = house.root.join("guardian/src/main.rs").display().to_string();
    let made = Made::of(&here, &program("debug", &ours)).unwrap();
    assert_eq!((made.profile.as_str(), made.target.as_path(), made.triple), ("dev", at.path(), None));
    let made = Made::of(&here, &program("riscv64-a-triple/release", &ours)).unwrap();
    assert_eq!((made.profile.as_str(), made.target.as_path()), ("release", at.path()));
    assert!(
        made.args("broker").join(" ").ends_with("--target riscv64-a-triple"),
        "{:?}",
        made.args("broker")
    );
    assert_eq!(Made::of(&here, &program("other", "/elsewhere/guardian/src/main.rs")), None);
}

/// Found: two work trees of one repository shared a ladder, and a fall put back the creature of the other house.
#[test]
fn two_work_trees_of_one_repository_are_two_houses() {
    let house = House::new(SOUND);
    let guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    let second = house.folder.path().join("second");
    house.git(&["worktree", "add", "-q", "-b", "second", second.to_str().unwrap()]);
    fs::copy(house.path("owner.toml"), second.join("owner.toml")).unwrap();
    let changed = fs::read_to_string(second.join("creature/creature.sh")).unwrap() + "\n# the second's own\n";
    fs::write(second.join("creature/creature.sh"), changed).unwrap();
    let commits = "git commit -qam second && git rev-parse HEAD";
    let commit = Command::new("sh").args(["-c", commits]).current_dir(&second).output().unwrap();
    let commit = String::from_utf8(commit.stdout).unwrap().trim().to_owned();
    let mut command = house.command(&[]);
    command.current_dir(&second);
    let other = house.start_by(command);
    let status = || -> serde_json::Value {
        let page = fs::read(second.join(".self/guardian.json")).unwrap_or_default();
        serde_json::from_slice(&page).unwrap_or_default()
    };
    house.until("a blessing there", || status()["blessed"] == true && status()["last_good"] == commit);
    other.stop();
    guardian.stop();
    let rungs = |root: &std::path::Path| {
        let repo = guardian::git::repo::Repo::open(&house::House::new(root)).unwrap();
        let rungs = repo.rungs().unwrap();
        rungs.iter().map(|rung| rung.version.commit.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(rungs(&second).last(), Some(&commit));
    assert!(!rungs(&house.root).contains(&commit), "the first house has its own ladder");
}

/// Found: with no inode left the page told of a dead creature as alive, the doctor called the disk fine, and `stop` failed.
#[test]
fn a_disk_on_which_no_file_can_be_made_is_told_as_full_and_stop_works() {
    let Some(disk) = Disk::new(&["-N", "4000"]) else {
        eprintln!("skipped: no disk of its own can be had here");
        return;
    };
    let house = House::new_in(&disk.at(), SOUND);
    let mut guardian = house.start();
    house.until("a blessing", || house.status()["blessed"] == true);
    let dead = house.status()["creature_pid"].clone();
    let fill = disk.at().join("fill");
    fs::create_dir(&fill).unwrap();
    while fs::write(fill.join(fs::read_dir(&fill).unwrap().count().to_string()), "").is_ok() {}
    assert!(Command::new("kill").args(["-KILL", &dead.to_string()]).status().unwrap().success());
    house.until("the death to be told", || house.status()["creature_pid"] != dead);
    let doctor = house.ask(&["doctor"]);
    assert!(said(&doctor).contains("0 MiB free") && !doctor.status.success(), "{}", said(&doctor));
    let stopped = house.ask(&["stop"]);
    assert!(stopped.status.success(), "{}", said(&stopped));
    assert_eq!(guardian.wait(), 0);
    assert_eq!(house.told("fall").len(), 0, "nothing is put back for it");
    fs::remove_dir_all(&fill).unwrap();
    let guardian = house.start();
    house.until("a life", || house.status()["blessed"] == true);
    guardian.stop();
}
