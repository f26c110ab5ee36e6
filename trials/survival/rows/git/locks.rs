//! Locks of git's: left by the dead, of the wrong kind, and held by an owner whose editor is open.

use super::{GIT, git, reborn};
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use std::fs;
use std::process::{Command, Stdio};
use trials::House;

const LEFT: &str = "left by a git that was killed";
const NEXT_RUNG: &str = "refs/guardian/good/000001.lock";

pub const ROWS: &[Row] = &[
    Row::new(GIT, "stale index.lock", "a lock of the index that nobody holds, before a self-edit is committed", |trial| {
        stale(trial, &["index.lock"]);
    })
    .quick()
    .twice(),
    Row::new(
        GIT,
        "stale ref locks",
        "locks of HEAD, of the branch, of packed-refs and of the next rung that nobody holds, before a self-edit",
        |trial| stale(trial, &["HEAD.lock", "refs/heads/main.lock", "packed-refs.lock", NEXT_RUNG]),
    )
    .quick()
    .twice(),
    Row::new(
        GIT,
        "locks that are no files",
        "folders in place of the locks of the index, of the branch and of the next rung, before a self-edit",
        folders,
    )
    .twice(),
    Row::new(
        GIT,
        "a commit with its editor open",
        "the owner writes the message of `git commit -a`, which locks the index, while a self-edit is committed",
        editor,
    ),
];

fn stale(trial: &mut Trial, locks: &[&str]) {
    left_behind(trial, locks, |house, lock| {
        house.write(&format!(".git/{lock}"), LEFT);
    });
    trial.note(format!("{} locks moved aside", locks.len()));
}

fn folders(trial: &mut Trial) {
    let locks = ["index.lock", "refs/heads/main.lock", NEXT_RUNG];
    left_behind(trial, &locks, |house, lock| house.write(&format!(".git/{lock}/inner"), LEFT));
    trial.note(format!("{} folders moved aside", locks.len()));
}

fn left_behind(trial: &mut Trial, locks: &[&str], leave: fn(&House, &str)) {
    trial.shell_becomes("think reborn; live");
    trial.begin();
    trial.inject(|trial| locks.iter().for_each(|lock| leave(trial.house(), lock)));
    reborn(trial);
    let house = trial.house();
    for lock in locks {
        assert!(!house.path(&format!(".git/{lock}")).exists(), "{lock} is still there");
        assert!(was_kept(house, lock), "{lock} was not kept");
    }
    assert_eq!(house.git(&["rev-parse", "refs/guardian/good/000001"]), house.git(&["rev-parse", "HEAD"]));
    let behind = house.git(&["diff", "--cached", "--name-only", "--", "creature", "self"]);
    assert_eq!(behind, "", "the owner's index was not brought along");
}

fn was_kept(house: &House, lock: &str) -> bool {
    let ending = format!("-{}", lock.replace('/', "-"));
    let kept = fs::read_dir(house.path(".self/guardian/kept")).into_iter().flatten().flatten();
    kept.filter(|entry| entry.file_name().to_string_lossy().ends_with(&ending)).any(|entry| {
        let file = if entry.path().is_dir() { entry.path().join("inner") } else { entry.path() };
        fs::read_to_string(file).is_ok_and(|text| text == LEFT)
    })
}

fn editor(trial: &mut Trial) {
    trial.shell_becomes("think reborn; live");
    trial.begin();
    let outside = trial.house().folder.path().to_path_buf();
    let (open, done) = (outside.join("open"), outside.join("done"));
    // It ends with the test's own folder, should the row fail.
    let script = format!(
        "#!/bin/sh\ntouch {}\nuntil [ -e {} ] || [ ! -e {} ]; do sleep 0.05; done\necho mine > \"$1\"\n",
        open.display(),
        done.display(),
        open.display()
    );
    let editor = outside.join("editor");
    fs::write(&editor, script).unwrap();
    let mut commit = Command::new("git");
    commit.args(["commit", "-q", "-a"]).current_dir(&trial.house().root).stderr(Stdio::null());
    let mut commit = commit.env("GIT_EDITOR", format!("sh {}", editor.display())).spawn().unwrap();
    trial.until("the editor", |_| open.exists());
    assert!(trial.house().path(".git/index.lock").exists(), "git holds the index by its lock");
    trial.inject(|_| {});
    reborn(trial);
    // The next life is another occasion to take the lock for a stale one.
    trial.kill_creature();
    trial.until("the next life", |house| house.told("life").len() >= 3);
    let house = trial.house();
    assert!(house.path(".git/index.lock").exists(), "the owner's lock was taken");
    fs::write(done, "").unwrap();
    let status = commit.wait().unwrap();
    // HEAD has moved on under the editor, so git refuses by itself; nothing of it is lost, and a second try is good.
    if !status.success() {
        assert!(
            git(house, &["commit", "-q", "-a", "-m", "mine"]).status.success(),
            "the owner cannot commit"
        );
    }
    assert!(house.git(&["log", "--format=%s"]).contains("mine"));
    trial.kill_creature();
    trial.recovers_as("another life", |status| {
        status["blessed"] == true && status["life"].as_u64() >= Some(4)
    });
    let behind = trial.house().git(&["diff", "--cached", "--name-only", "--", "creature", "self"]);
    assert_eq!(behind, "", "the owner's index was not brought along");
}
