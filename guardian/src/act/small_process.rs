//! The process that keeps the repository small, a stage of the guardian's own program: now and then, beside a life.
//!
//! Invariant: the loop never waits for it, it has an end of its own, and no failure of it stops anything.

use crate::act::executor::Executor;
use crate::git::{open, small};
use crate::processes::trusted::{self, Trusted};
use anyhow::Result;
use house::bounds::{TOLD_CHARS, brief};
use house::clock::Millis;
use house::{House, files, terminal};
use nix::sys::wait::WaitStatus;
use nix::unistd::{Pid, alarm};

/// The first argument by which the guardian's program knows that it is to be this stage.
pub const STAGE: &str = "keep-small";
/// Longest time it takes, in seconds; then the kernel ends it, and the next one goes on.
const END_S: u32 = 900;
/// Time after a start until the first: a first build has the machine to itself.
const FIRST_MS: Millis = 10 * 60_000;

/// The process, and when the next is due.
#[derive(Default)]
pub struct SmallProcess {
    pub pid: Option<Pid>,
    due: Option<Millis>,
}

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

impl Executor {
    /// At each look: starts it where it is due and a creature lives.
    pub fn tend_small(&mut self) {
        let now = self.clock.now();
        let every = self.limits.git_small_ms;
        let due = *self.small.due.get_or_insert(now + every.min(FIRST_MS));
        if now < due || self.small.pid.is_some() || self.life.is_none() || self.build.is_some() {
            return;
        }
        self.small.due = Some(now + every);
        let start = || -> Result<Pid> {
            let args = vec![STAGE.to_owned(), self.limits.git_loose.to_string()];
            let log = Some(files::create(&self.house.small_log())?);
            let program = "/proc/self/exe".into();
            trusted::start(&self.house, Trusted { program, args, log, yields: true, ..Trusted::default() })
        };
        match start() {
            Ok(pid) => self.small.pid = Some(pid),
            Err(error) => tracing::warn!("the repository is not kept small: {error:#}"),
        }
    }

    pub fn small_ended(&mut self, pid: Pid, status: WaitStatus) {
        if self.small.pid.take_if(|small| *small == pid).is_none() {
            return;
        }
        let said = files::tail(&self.house.small_log(), 4_096);
        let said = brief(said.trim().lines().last().unwrap_or_default(), TOLD_CHARS);
        if !matches!(status, WaitStatus::Exited(_, 0)) {
            tracing::warn!(?status, "the repository was not made smaller: {said}");
        } else if !said.is_empty() {
            self.report.say(&format!("the repository is kept small: {said}"));
        }
    }
}
