//! Machines as their owners have them: each a condition, a real start in it, and what is seen of it.
//!
//! One table, `all`: `scripts/trials machines` runs it and writes `trials/MACHINES.md`, the console's tests hold it.

mod cargo;
pub mod conditions;
mod git;
mod kernel;
mod mounts;
mod network;
mod page;
mod starts;

pub use page::write;

use crate::{House, said};
use std::process::Command;

/// A machine, and how a house fares on it.
#[derive(Clone, Copy)]
pub struct Machine {
    /// As the test of it is called.
    pub name: &'static str,
    pub condition: &'static str,
    pub ends: Ends,
    run: fn() -> Seen,
}

/// How a start in a condition ends.
#[derive(Clone, Copy)]
pub enum Ends {
    Works,
    /// A creature lives, without these walls; the remedy is told.
    Lacks(&'static str),
    /// Nothing is started; the remedy is told.
    Refuses,
    /// It is told with its remedy, and a creature lives as soon as that is done.
    Waits,
}

/// What came of a start.
pub enum Seen {
    /// The house's own sentence, or what is so.
    So(String),
    /// The condition cannot be made here: why.
    NotHere(String),
}

impl Machine {
    const fn new(name: &'static str, condition: &'static str, ends: Ends, run: fn() -> Seen) -> Self {
        Self { name, condition, ends, run }
    }

    /// Starts a house in the condition; fails where it does not end as it is said.
    pub fn start(&self) -> Seen {
        (self.run)()
    }
}

/// Every machine.
pub fn all() -> impl Iterator<Item = &'static Machine> {
    let all = [
        starts::MACHINES,
        git::MACHINES,
        mounts::MACHINES,
        network::MACHINES,
        kernel::MACHINES,
        cargo::MACHINES,
    ];
    all.into_iter().flatten()
}

/// Holds one of them, as a test.
pub fn hold(name: &str) {
    let machine = all().find(|machine| machine.name == name).expect("a machine of the table");
    if let Seen::NotHere(why) = machine.start() {
        eprintln!("skipped: {why}");
    }
}

/// What a start says that is refused; one that is not is ended, and fails.
fn refusal(house: &House, command: Command) -> String {
    let mut guardian = house.start_by(command);
    let status = guardian.wait();
    let log = std::fs::read_to_string(&guardian.log).unwrap();
    assert_eq!(status, 100, "{log}");
    log
}

/// What holds without a word of the house's.
fn so(what: &str) -> Seen {
    Seen::So(what.to_owned())
}

fn not_here(why: &str) -> Seen {
    Seen::NotHere(why.to_owned())
}

/// The first line that has all of these in it, without the time and level before it, and with what follows indented, as the
/// doctor's remedies do; fails where there is none.
fn line(text: &str, parts: &[&str]) -> String {
    let mut lines = text.lines().skip_while(|line| !parts.iter().all(|part| line.contains(part)));
    let found = lines.next().unwrap_or_else(|| panic!("no line has {parts:?}:\n{text}"));
    let found = found.split_once("WARN ").map_or(found, |(_, said)| said).trim();
    let mut said = found.trim_start_matches("guardian: ").to_owned();
    for more in lines.take_while(|line| line.starts_with("     ")) {
        said.push_str(": ");
        said.push_str(more.trim());
    }
    said
}
