//! A real guardian between a creature and its owner: orders, refusals, edits, the index, garbage in files.

use crate::marks;
use std::fs;
use std::process::Command;
use trials::{House, SOUND};

#[test]
fn two_at_once_is_refused_with_the_pid_and_status_100() {
    let house = House::new(SOUND);
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    let second = house.ask(&[]);
    assert_eq!(second.status.code(), Some(100));
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains(&guardian.pid().to_string()), "{said}");
    assert_eq!(said.lines().count(), 1, "one clear line: {said}");
    guardian.stop();
}

#[test]
fn refusals_are_one_line_and_status_100() {
    let nowhere = tempfile::tempdir().unwrap();
    let program = House::new(SOUND);
    let run = |folder: &std::path::Path| {
        let mut command = Command::new(program.program());
        let output = command.current_dir(folder).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run(nowhere.path());
    assert_eq!(code, Some(100));
    assert!(said.contains("not in a git repository"), "{said}");

    let house = House::new(SOUND);
    house.write("creature/new.txt", "an edit of the owner's");
    let (code, said) = run(&house.root);
    assert_eq!(code, Some(100));
    assert!(said.contains("new.txt") && said.contains("yours") && said.contains("git clean"), "{said}");
    fs::remove_file(house.path("creature/new.txt")).unwrap();

    house.git(&["checkout", "-q", "-b", "side"]);
    house.write("README.md", "side\n");
    house.commit("side");
    house.git(&["checkout", "-q", "main"]);
    house.write("README.md", "main\n");
    house.commit("main");
    Command::new("git").args(["merge", "side"]).current_dir(&house.root).output().unwrap();
    let (code, said) = run(&house.root);
    assert_eq!(code, Some(100));
    assert!(said.contains("merge"), "{said}");

    let house = House::new(SOUND);
    house.write("owner.toml", "[limits]\nbeat_s = 3\nbaet_s = 3\n");
    let (code, said) = run(&house.root);
    assert_eq!(code, Some(100));
    assert!(said.contains("owner.toml, line 3") && said.contains("baet_s"), "{said}");
}

#[test]
fn owner_edits_while_nothing_lives_are_waited_for_never_touched() {
    let house = House::new(SOUND);
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    assert!(house.ask(&["pause"]).status.success());
    house.until("the pause", || house.status()["phase"] == "paused");
    house.write("creature/mine.txt", "the owner's own work\n");
    assert!(house.ask(&["resume"]).status.success());
    house.until("to be told", || fs::read_to_string(&guardian.log).unwrap().contains("uncommitted edits"));
    assert_eq!(house.read("creature/mine.txt"), "the owner's own work\n");
    let commit = house.commit("mine");
    house.until_blessed(&commit);
    guardian.stop();
}

#[test]
fn a_commit_request_is_answered_and_leaves_the_owners_index_alone() {
    let house = House::new(
        "think x; blessed; echo note >> self/diary.md; ask commit 'a diary line' c; think asked; live",
    );
    house.write("README.md", "staged by the owner\n");
    house.git(&["add", "README.md"]);
    let guardian = house.start();
    house.until("an answer", || house.status()["answers"][0]["ok"] == true);
    assert_eq!(house.git(&["log", "-1", "--format=%s"]), "self: a diary line");
    assert_eq!(house.git(&["diff", "--cached", "--name-only"]), "README.md", "still staged, still alone");
    assert_eq!(house.git(&["show", "HEAD:README.md"]), "A house.");
    assert_eq!(house.git(&["diff", "--name-only"]), "");
    guardian.stop();
}

#[test]
fn garbage_in_the_guardians_own_state_is_kept_aside_and_rebuilt() {
    let house = House::new(SOUND);
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until_blessed(&first);
    guardian.stop();
    for garbage in ["", "garbage", "{\"version\":1,\"checksum\":\"0\",\"body\":\"{}\"}"] {
        house.write(".self/guardian/state.json", garbage);
        let lives = house.told("life").len();
        let guardian = house.start();
        house.until("the next life", || house.told("life").len() > lives);
        guardian.stop();
    }
    assert!(fs::read_dir(house.path(".self/guardian/kept")).unwrap().count() >= 3);
    let numbers: Vec<u64> = house.told("life").iter().map(|life| life["life"].as_u64().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "no life is counted twice: {numbers:?}");
}

/// Found the hard way: a dependency's `rust-toolchain.toml` had rustup replace the owner's toolchain in mid-life.
#[test]
fn a_dependencys_toolchain_file_neither_chooses_nor_installs_one() {
    let house = House::new(
        "env > .self/mind/environment.new; mv .self/mind/environment.new .self/mind/environment; think x; live",
    );
    house.write("creature/build.sh", "env > .self/mind/build-environment\n");
    house.commit("shows its environment");
    let mut command = house.command(&[]);
    command
        .env("RUSTUP_TOOLCHAIN", "chosen-by-the-owner")
        .env("RUSTUP_AUTO_INSTALL", "1")
        .env("SECRET_KEY", "x");
    let guardian = trials::Guardian::new(command.spawn().unwrap(), &house);
    house.until("a life", || house.path(".self/mind/environment").exists());
    for name in [".self/mind/environment", ".self/mind/build-environment"] {
        let seen = house.read(name);
        assert!(seen.contains("RUSTUP_TOOLCHAIN=chosen-by-the-owner\n"), "{name}: {seen}");
        assert!(seen.contains("RUSTUP_AUTO_INSTALL=0\n"), "{name}: {seen}");
        assert!(!seen.contains("SECRET_KEY"), "{name}: {seen}");
    }
    guardian.stop();
    let by_path =
        processes::child::toolchain(None, Some("/any/.rustup/toolchains/1.95-x86/bin/cargo".into()));
    assert_eq!(by_path.as_deref(), Some("1.95-x86"));
    assert_eq!(processes::child::toolchain(None, Some("/usr/bin/cargo".into())), None);
}

/// Found on a full disk: `guardian.json` told of the life before, also once there was space again.
#[test]
fn where_no_file_can_be_made_the_page_is_written_over() {
    let house = House::new("think x; live");
    let first = house.git(&["rev-parse", "HEAD"]);
    let guardian = house.start();
    house.until_blessed(&first);
    // Nothing can be made there any more, as on a full disk. None but root can have it so.
    let state = house.path(".self");
    let Some(full) = marks::Fixed::new(&state) else { return };
    let creature = house.status()["creature_pid"].to_string();
    Command::new("kill").args(["-KILL", &creature]).status().unwrap();
    house.until("the next life", || house.told("life").len() == 2);
    house.until("it to be told", || house.status()["life"] == 2);
    drop(full);
    house.until("another thought", || house.thoughts().len() == 2);
    assert_eq!(house.status()["life"], 2);
    guardian.stop();
}

/// Found by attack: a first lock file, which cargo completed in its build, was taken for an edit of the owner's, and the
/// guardian waited for him to settle it.
#[test]
fn a_lock_file_that_cargo_completes_keeps_nobody_waiting() {
    let house = House::new(SOUND);
    house.write("creature/build.sh", "echo '[[package]]' >> creature/Cargo.lock");
    house.commit("the lock file lacks what cargo adds");
    let guardian = house.start();
    house.until("a life", || !house.thoughts().is_empty());
    let kept = house.git(&["for-each-ref", "--format=%(refname)", "refs/guardian/rescued/"]);
    assert_eq!(house.git(&["status", "--porcelain", "creature"]), "");
    assert_eq!(kept.lines().count(), 1, "what cargo made is kept");
    guardian.stop();
}

/// Found by attack: the same wait was "resting 0 s" in the status.
#[test]
fn while_the_owners_edits_are_waited_for_the_status_says_so() {
    let house = House::new(SOUND);
    let guardian = house.start();
    house.until("a life", || !house.thoughts().is_empty());
    assert!(house.ask(&["pause"]).status.success());
    house.write("creature/new.txt", "an edit of the owner's");
    assert!(house.ask(&["resume"]).status.success());
    house.until("the note", || {
        let note = house.status()["note"].to_string();
        note.contains("nothing is started") && note.contains("new.txt") && !note.contains("resting")
    });
    let lives = house.told("life").len();
    fs::remove_file(house.path("creature/new.txt")).unwrap();
    house.until("the next life", || house.told("life").len() > lives);
    house.until("the note to end", || !house.status()["note"].to_string().contains("nothing is started"));
    guardian.stop();
}
