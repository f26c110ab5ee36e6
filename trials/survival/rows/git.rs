//! Faults of the repository: locks, branches, work under way, treasures, a damaged ladder, rewritten history, hooks.

mod branches;
mod hooks;
mod ladder;
mod locks;
mod treasures;

use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use std::process::{Command, Output};
use trials::House;

const GIT: &str = "git";

const PARTS: [&[Row]; 5] = [locks::ROWS, branches::ROWS, treasures::ROWS, ladder::ROWS, hooks::ROWS];

const COUNT: usize =
    locks::ROWS.len() + branches::ROWS.len() + treasures::ROWS.len() + ladder::ROWS.len() + hooks::ROWS.len();

pub const ROWS: &[Row] = &crate::survival::rows::joined::<COUNT>(&PARTS);

/// Git as the owner runs it, whatever comes of it.
fn git(house: &House, args: &[&str]) -> Output {
    Command::new("git").args(args).current_dir(&house.root).env("GIT_EDITOR", "true").output().unwrap()
}

/// Waits for the life that came of the self-edit, and of no other.
fn reborn(trial: &mut Trial) {
    let has_edited = |house: &House| house.git(&["log", "--format=%s"]).contains("self: another life");
    trial.until("the self-edit to be committed", has_edited);
    trial.recovers_as("the new self", |status| {
        status["blessed"] == true && status["safe"] != true && status["life"].as_u64() >= Some(2)
    });
    assert_eq!(trial.house().told("fall").len(), trial.oracle.falls_before, "it was put back");
}

/// Everything the guardian has said so far.
fn said(house: &House) -> String {
    std::fs::read_to_string(house.folder.path().join("guardian.log")).unwrap_or_default()
}

/// The guardian will not start, and says in one line why.
fn refuses(house: &House, why: &str) {
    let refused = house.ask(&[]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(100), "{told}");
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("guardian: ")).collect();
    assert!(lines.len() == 1 && lines[0].contains(why), "it should say `{why}` in one line: {told}");
}
