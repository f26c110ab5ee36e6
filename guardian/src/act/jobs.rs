//! Short-lived processes for the owner's programs: builds of broker and console, and `broker --check` of the settings.

use crate::act::broker_process::{BrokerProcess, NAME};
use crate::act::build;
use crate::act::executor::Executor;
use crate::act::reload::Watch;
use crate::decide::revival::Event;
use crate::processes::trusted::{self, Trusted};
use anyhow::{Context, Result};
use house::House;
use house::bounds::{TOLD_CHARS, brief};
use house::clock::Millis;
use house::files::{self, Mark};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

/// Exit status of `broker --check` for a mistake in the owner's settings.
const MISTAKE: i32 = 2;

/// A short-lived process for the broker.
pub struct Job {
    pub pid: Pid,
    pub task: Task,
    pub since: Millis,
}

impl Job {
    pub fn builds(&self, wanted: &str) -> bool {
        matches!(self.task, Task::Build { package, .. } if package == wanted)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Builds the package's program; `was` is the mark of the broker's program before.
    Build { package: &'static str, was: Option<Mark> },
    /// Fetches the creature's crates before its first build; how many were missing.
    Fetch { missing: usize },
    /// Has the broker check changed settings.
    Check,
}

impl BrokerProcess {
    pub fn build(&self, house: &House, package: &str, yields: bool) -> Result<Option<Pid>> {
        let Some(made) = &self.made else { return Ok(None) };
        let path = if package == NAME { house.broker_build_log() } else { house.console_build_log() };
        let log = files::create(&path).with_context(|| format!("failed to create {}", path.display()))?;
        let (program, args) = (build::cargo(), made.args(package));
        trusted::start(house, Trusted { program, args, log: Some(log), yields, ..Trusted::default() })
            .map(Some)
    }

    /// A sentence for people: without cargo the existing program is used.
    pub fn not_built(&self, error: &anyhow::Error) -> String {
        let there = if self.program.is_file() { "the one that is there is used" } else { "there is none" };
        format!("the broker cannot be brought up to date, {there}: {error:#}")
    }

    fn check(&self, house: &House) -> Result<Pid> {
        let path = house.broker_check_log();
        let log = files::create(&path).with_context(|| format!("failed to create {}", path.display()))?;
        let args = vec!["--check".into(), "--house".into(), house.root().display().to_string()];
        trusted::start(
            house,
            Trusted { program: self.program.clone(), args, log: Some(log), ..Trusted::default() },
        )
    }

    /// Whether there are changed settings to check.
    pub fn has_news(&mut self, house: &House, now: Millis) -> bool {
        self.watch.changed(house, now) || (!self.is_busy() && std::mem::take(&mut self.unjudged))
    }

    /// Whether a check of settings has to wait: for the current job, or for the program.
    pub fn is_busy(&self) -> bool {
        self.job.is_some() || self.is_to_come()
    }

    /// Starts a check, or notes that one is due later. False: there is no broker program to ask.
    pub fn begin_check(&mut self, house: &House, since: Millis) -> Result<bool> {
        self.unjudged = self.is_busy();
        if self.unjudged {
            return Ok(true);
        }
        if !self.program.is_file() || !self.hoped_for() {
            return Ok(false);
        }
        let pid = self.check(house)?;
        self.job = Some(Job { pid, task: Task::Check, since });
        Ok(true)
    }

    /// Checks `owner.toml` before anything else is started. If the existing program finds a mistake, or there is
    /// none, the broker is built first. The error is the owner's mistake; `Err(None)` means that `go_on` ended the
    /// wait.
    pub fn prove(
        &mut self,
        house: &House,
        mut say: impl FnMut(&str),
        mut go_on: impl FnMut() -> bool,
    ) -> Result<(), Option<String>> {
        if !house.owner_settings().exists()
            || (self.program.is_file() && self.judge(house, &mut go_on).is_ok())
        {
            return Ok(());
        }
        let (mut looks, mut told) = (0, false);
        let mut patience = || {
            looks += 1;
            if looks > 500 && !std::mem::replace(&mut told, true) {
                say(
                    "bringing the broker up to date, for owner.toml is its to judge; see .self/log/broker-build.log",
                );
            }
            go_on()
        };
        self.to_build.retain(|package| *package != NAME);
        match self.build(house, NAME, false) {
            Ok(Some(pid)) => match trusted::wait(pid, &mut patience) {
                Some(WaitStatus::Exited(_, 0)) => {}
                Some(_) => self.trouble = does_not_build(house),
                None => {
                    trusted::kill(pid);
                    return Err(None);
                }
            },
            Ok(None) => {}
            Err(error) => say(&self.not_built(&error)),
        }
        if !self.program.is_file() || !self.trouble.is_empty() {
            return Ok(());
        }
        self.judge(house, &mut go_on)
    }

    /// Checks `owner.toml` with the existing program; later changes to it are noticed by the new watch.
    fn judge(&mut self, house: &House, mut go_on: impl FnMut() -> bool) -> Result<(), Option<String>> {
        self.watch = Watch::new(house);
        match self.check(house).map(|pid| (pid, trusted::wait(pid, &mut go_on))) {
            Ok((_, Some(WaitStatus::Exited(_, MISTAKE)))) => Err(Some(checked(house))),
            Ok((pid, None)) => {
                trusted::kill(pid);
                Err(None)
            }
            Ok(_) => Ok(()),
            Err(error) => {
                self.trouble = format!("{error:#}");
                Ok(())
            }
        }
    }
}

/// The last line `broker --check` printed.
fn checked(house: &House) -> String {
    let text = files::tail(&house.broker_check_log(), 4_096);
    brief(text.trim().lines().last().unwrap_or("it does not say why").trim(), TOLD_CHARS)
}

fn does_not_build(house: &House) -> String {
    let text = files::tail(&house.broker_build_log(), 64 << 10);
    let first = text.lines().find(|line| line.starts_with("error")).unwrap_or("cargo does not say why");
    format!("the broker does not build: {}; see .self/log/broker-build.log", brief(first, TOLD_CHARS))
}

impl Executor {
    pub fn job_ended(&mut self, job: Job, status: WaitStatus) {
        let good = matches!(status, WaitStatus::Exited(_, 0));
        match job.task {
            Task::Build { package, .. } if package != NAME => {
                if !good {
                    let path = ".self/log/console-build.log";
                    self.report
                        .warn(&format!("the {package} does not build, so no feed is shown here; see {path}"));
                }
            }
            Task::Build { was, .. } => {
                let seconds = self.clock.now().saturating_sub(job.since) / 1_000;
                if good && seconds > 1 {
                    let first = if was.is_none() { ": models and the web are within reach" } else { "" };
                    self.report.say(&format!("the broker is built, {seconds} s{first}"));
                }
                match (good, was) {
                    (true, Some(_)) if was == files::mark(&self.broker.program) => {}
                    (true, Some(_)) => self.broker_steps(Event::Reload),
                    (false, Some(_)) => {
                        let why = does_not_build(&self.house);
                        self.report.warn(&format!("{why}. The one that was there goes on"));
                    }
                    (_, None) => {
                        if !good {
                            self.broker.trouble = does_not_build(&self.house);
                        }
                        self.broker_found();
                    }
                }
                self.publish();
            }
            Task::Fetch { missing } => self.fetched(missing, good),
            Task::Check if good => self.take_over(),
            Task::Check => self.keep_settings(&checked(&self.house)),
        }
    }
}
