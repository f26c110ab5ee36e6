//! Jobs for the owner's daemons: builds of their programs, one fetch, and `broker --check`, each a process with an end.

use crate::limits::Limits;
use anyhow::{Context, Result};
use house::bounds::{TOLD_CHARS, brief};
use house::clock::Millis;
use house::files::{self, Mark};
use house::{House, moments};
use nix::unistd::Pid;
use processes::made::{Made, beside, cargo, hand};
use processes::trusted::{self, Trusted};
use std::path::PathBuf;
use std::time::Duration;

/// A package of which a program is made: a daemon's, of the stable workspace, or a hand's, which the broker starts.
pub struct Package {
    pub name: &'static str,
    pub is_hand: bool,
    /// The path of the log of its builds.
    log: fn(&House) -> PathBuf,
    /// Sentence for people: what is missing without it.
    pub without: &'static str,
}

pub const CONSOLE: Package = Package {
    name: "console",
    is_hand: false,
    log: House::console_build_log,
    without: "No window, feed or notice is shown here",
};
pub const BROKER: Package = Package {
    name: "broker",
    is_hand: false,
    log: House::broker_build_log,
    without: "The creature lives without a model, services and web",
};
/// Built where `owner.toml` opens the page beyond this machine.
pub const PHONE_PAGE: Package = Package {
    name: house::beyond::PROGRAM,
    is_hand: false,
    log: House::phone_page_build_log,
    without: "Your page is not open beyond this machine",
};
/// In the order in which they are built: the console is soon built, and shows what happens while the broker is.
pub const PACKAGES: [&Package; 2] = [&CONSOLE, &BROKER];
/// Built where `owner.toml` names a channel.
pub const CHANNELS: Package = Package {
    name: "channels",
    is_hand: false,
    log: House::channels_build_log,
    without: "You are heard at this machine alone",
};
/// Built where `owner.toml` names them.
pub const HANDS: [&Package; 2] = [
    &Package {
        name: "mail",
        is_hand: true,
        log: |house| house.hand_build_log("mail"),
        without: "The creature cannot reach the mailbox",
    },
    &Package {
        name: "wallet",
        is_hand: true,
        log: |house| house.hand_build_log("wallet"),
        without: "The creature cannot pay",
    },
];

impl Package {
    /// The path of its program, whether it is there or not.
    pub fn program(&self) -> PathBuf {
        let program = if self.is_hand { hand(self.name) } else { beside(self.name) };
        program.unwrap_or_else(|| self.name.into())
    }

    /// Starts cargo, to make its program as this process's was made.
    pub fn build(&self, house: &House, made: &Made, yields: bool) -> Result<Pid> {
        let path = (self.log)(house);
        let log = files::create(&path).with_context(|| format!("failed to create {}", path.display()))?;
        let (program, args) =
            (cargo(), if self.is_hand { made.hand_args(self.name) } else { made.args(self.name) });
        trusted::start(house, Trusted { program, args, log: Some(log), yields, ..Trusted::default() })
    }

    fn told(&self) -> String {
        match self.name {
            _ if self.is_hand => format!("the hand {}", self.name),
            name if name == CHANNELS.name => format!("the program of the {name}"),
            name => format!("the {name}"),
        }
    }

    /// A sentence for people: without cargo the existing program is used.
    pub fn not_built(&self, error: &anyhow::Error) -> String {
        let there = if self.program().is_file() { "the one that is there is used" } else { "there is none" };
        format!("{} cannot be brought up to date, {there}: {error:#}", self.told())
    }

    /// Why its build failed, in a sentence; `overdue`: it was ended after so long.
    pub fn does_not_build(&self, house: &House, overdue: Option<Millis>) -> String {
        let log = (self.log)(house);
        let text = files::tail(&log, 64 << 10);
        let first = text.lines().find(|line| line.starts_with("error")).unwrap_or("cargo does not say why");
        let why = match overdue {
            Some(most) => format!("its build was ended after {}", moments::span(Duration::from_millis(most))),
            None => brief(first, TOLD_CHARS),
        };
        let log = log.strip_prefix(house.root()).unwrap_or(&log).display();
        format!("{} does not build: {why}; see {log}", self.told())
    }
}

#[derive(Clone, Copy)]
pub enum Task {
    /// Builds a package's program; `was` is the mark of the program before.
    Build { package: &'static Package, was: Option<Mark> },
    /// Fetches the creature's crates before its first build; how many were missing.
    Fetch { missing: usize },
    /// Has the broker check changed settings.
    Check,
}

/// Longest time of a fetch: the broker then fetches the missing crates.
const FETCH_MS: Millis = 120_000;
/// Longest time of a check of settings.
const CHECK_MS: Millis = 120_000;

impl Task {
    /// Returns the longest time it may take.
    pub fn longest_ms(&self, limits: &Limits) -> Millis {
        match self {
            Task::Build { .. } => limits.build_ms,
            Task::Fetch { .. } => FETCH_MS.min(limits.build_ms / 2),
            Task::Check => CHECK_MS.min(limits.build_ms),
        }
    }
}

/// A short-lived process for the daemons.
pub struct Job {
    pub pid: Pid,
    pub task: Task,
    pub since: Millis,
    /// The time after which it was ended, where it was.
    pub overdue: Option<Millis>,
}

impl Job {
    pub fn new(pid: Pid, task: Task, since: Millis) -> Self {
        Self { pid, task, since, overdue: None }
    }

    pub fn builds(&self, wanted: &Package) -> bool {
        matches!(self.task, Task::Build { package, .. } if package.name == wanted.name)
    }

    /// Whether the program of this package is only now being made: what lies there may be half of it.
    pub fn makes(&self, wanted: &Package) -> bool {
        matches!(self.task, Task::Build { package, was: None } if package.name == wanted.name)
    }

    /// Ends it where it has run too long, or where a fetch is waited for no more.
    pub fn tend(&mut self, limits: &Limits, now: Millis, is_waited_for: bool) {
        let longest = self.task.longest_ms(limits);
        let is_over = now > self.since + longest;
        if is_over {
            self.overdue = Some(longest);
        }
        if is_over || matches!(self.task, Task::Fetch { .. }) && !is_waited_for {
            trusted::kill(self.pid);
        }
    }
}
