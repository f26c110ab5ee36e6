//! The daemon that keeps the repository small: a stage of the guardian's own program, now and then, beside a life.
//!
//! Invariant: the loop never waits for it, it has an end of its own, and no failure of it stops anything.

use crate::act::around::Around;
use anyhow::Result;
use house::bounds::{TOLD_CHARS, brief};
use house::{House, files, terminal};
use nix::sys::wait::WaitStatus;
use nix::unistd::{Pid, alarm};
use processes::trusted::{self, Trusted};
use repo::{open, small};

/// The first argument by which the guardian's program knows that it is to be this stage.
pub const STAGE: &str = "keep-small";
/// Longest time it takes, in seconds; then the kernel ends it, and the next one goes on.
const END_S: u32 = 900;

/// The stage: `keep-small LOOSE`, in the house's root. Says what it gained, if anything.
pub fn stage(loose: &str) -> Result<u8> {
    alarm::set(END_S);
    let house = House::new(&std::env::current_dir()?);
    let gained = small::keep(&open::opened(&house)?, loose.parse()?)?;
    if gained != small::Gained::default() {
        let small::Gained { objects, packs, refs } = gained;
        terminal::line(&format!("{objects} loose objects, {packs} packs and {refs} loose refs were packed"));
    }
    Ok(0)
}

pub fn start(around: &mut Around) -> Result<Pid> {
    let args = vec![STAGE.to_owned(), around.limits.git_loose.to_string()];
    let log = Some(files::create(&around.house.small_log())?);
    let program = "/proc/self/exe".into();
    trusted::start(&around.house, Trusted { program, args, log, yields: true, ..Trusted::default() })
}

pub fn ended(around: &mut Around, status: WaitStatus) {
    let said = files::tail(&around.house.small_log(), 4_096);
    let said = brief(said.trim().lines().last().unwrap_or_default(), TOLD_CHARS);
    if !matches!(status, WaitStatus::Exited(_, 0)) {
        tracing::warn!(?status, "the repository was not made smaller: {said}");
    } else if !said.is_empty() {
        around.report.say(&format!("the repository is kept small: {said}"));
    }
}
