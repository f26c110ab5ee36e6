//! Keeps the owner's daemons: builds, starts, watches and ends all of the table by the same steps. When is decided in `revival`.
//!
//! Invariant: nothing here waits for a daemon or a build while the loop runs, and no failure of one stops anything.

use crate::act::around::Around;
use crate::act::daemons::broker::{Broker, checked};
use crate::act::daemons::channels::Channels;
use crate::act::daemons::jobs::{BROKER, Job, PACKAGES, Package, Task};
use crate::act::daemons::notices::Notices;
use crate::act::daemons::table::{
    DAEMONS, Own, Row, THE_BROKER, THE_CHANNELS, THE_NOTICES, THE_PAGE, THE_WINDOW,
};
use crate::act::daemons::window::Window;
use crate::decide::revival::{Act, Event, Presence, Revival};
use crate::decide::vocabulary::Phase;
use crate::limits::Limits;
use crate::settings::Settings;
use anyhow::Result;
use house::clock::Millis;
use house::{House, files};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use processes::exits::is_well;
use processes::made::Made;
use processes::trusted;
use std::collections::BTreeMap;
use walls::network::Network;

/// Longest wait for the first life's heartbeat before the owner's programs are built.
const BUILT_BY_MS: Millis = 10_000;
/// Looks at a daemon that was asked to end with the guardian: two seconds of them.
const END_LOOKS: usize = 1_000;

/// News for the rest of the guardian.
#[derive(Debug, PartialEq, Eq)]
pub enum Came {
    /// The owner's changed settings were checked and are without a mistake, or this is the mistake.
    Judged(Result<(), String>),
    /// The creature's crates are fetched, so many were missing, or could not be.
    Fetched { missing: usize, well: bool },
}

/// A daemon of the table, as it is now.
pub struct Daemon {
    pub row: &'static Row,
    pub revival: Revival,
    pub pid: Option<Pid>,
    /// Whether it was wanted at the last look.
    is_wanted: bool,
}

pub struct Daemons {
    pub all: Vec<Daemon>,
    pub own: Own,
    pub job: Option<Job>,
    /// How this guardian's program was made; `None` unless it runs from the house's `target/`: then nothing is built.
    pub made: Option<Made>,
    /// Packages this guardian has yet to build, the next one first; each once.
    pub to_build: Vec<&'static Package>,
    /// Why the last build of a hand failed, where it did.
    pub troubles: BTreeMap<&'static str, String>,
    /// When the daemons were called first.
    called: Millis,
    /// News that the rest of the guardian has not taken up yet.
    pub came: Vec<Came>,
}

impl Daemons {
    pub fn open(house: &House, network: &Network, limits: &Limits, plain: bool) -> Result<Self> {
        let made = Made::me(house);
        let to_build = made.iter().flat_map(|_| PACKAGES).collect();
        let broker = Broker::open(house, network)?;
        let (window, notices) = (Window::new(house, plain), Notices::default());
        let own = Own { broker, window, notices, channels: Channels::default() };
        let daemon = |row: &'static Row| {
            let revival = Revival::new((row.pace)(limits));
            Daemon { row, revival, pid: None, is_wanted: false }
        };
        let all = DAEMONS.iter().map(daemon).collect();
        Ok(Self {
            all,
            own,
            job: None,
            made,
            to_build,
            troubles: BTreeMap::new(),
            called: 0,
            came: Vec::new(),
        })
    }

    /// Starts the daemons for the first time: those that need no build begin at once.
    pub fn call(&mut self, around: &mut Around) {
        self.called = around.now();
        self.want_named(around);
        if self.own.broker.program.is_file() || !self.broker_is_hoped_for() {
            self.broker_found(around);
        }
        self.tend(around);
    }

    /// Hears, builds, starts and ends the daemons that are due, checks changed settings, announces new asks; called at
    /// each look.
    pub fn tend(&mut self, around: &mut Around) {
        self.turn_away();
        let is_waited_for = matches!(around.decided.phase, Phase::Building { .. });
        self.job.iter_mut().for_each(|job| job.tend(&around.limits, around.now(), is_waited_for));
        self.build_next(around);
        for line in self.own.notices.lines() {
            around.report.notices(&line);
        }
        for at in 0..self.all.len() {
            self.tend_one(at, around);
        }
        self.look_at_settings(around);
        self.own.broker.look_at_asks(around);
    }

    fn tend_one(&mut self, at: usize, around: &mut Around) {
        let Some(daemon) = self.all.get_mut(at) else { return };
        let row = daemon.row;
        daemon.revival.pace = (row.pace)(&around.limits);
        daemon.is_wanted = (row.is_wanted)(&self.own, around);
        if let Some(silent) = daemon.pid.filter(|_| (row.is_silent)(&mut self.own, around)) {
            trusted::kill(silent);
        }
        let makes = |package| self.job.as_ref().is_some_and(|job| job.makes(package));
        let is_there = || row.package.is_none_or(|of| of.program().is_file() && !makes(of));
        let event = match daemon.revival.presence {
            Presence::Without if daemon.is_wanted && is_there() => Event::Found,
            Presence::Due { .. } if !daemon.is_wanted => return,
            Presence::Without | Presence::Due { .. } => Event::Tick,
            Presence::Running { .. } | Presence::Ending { .. } => Event::Tick,
        };
        self.step(at, event, around);
    }

    /// Takes changed settings to who is configured by them.
    pub fn settings_changed(&mut self, around: &mut Around, former: &Settings) {
        self.want_named(around);
        self.step(THE_BROKER, Event::Reload, around);
        let now = &around.settings;
        let configured = [
            (THE_NOTICES, now.notices != former.notices, now.notices.wanted()),
            (THE_PAGE, now.page != former.page, now.page.listen.is_some()),
            // Whatever changed: their secrets may have, and their connections end with the broker's.
            (THE_CHANNELS, true, now.has_channels),
        ];
        for (at, is_changed, is_wanted) in configured {
            if is_changed {
                self.step(at, if is_wanted { Event::Reload } else { Event::Dropped }, around);
            }
        }
    }

    pub(super) fn step(&mut self, at: usize, event: Event, around: &mut Around) {
        let Some(daemon) = self.all.get_mut(at) else { return };
        let mut event = Some(event);
        while let Some(told) = event.take() {
            match daemon.revival.step(around.now(), told) {
                Some(Act::Start) => match (daemon.row.start)(&mut self.own, around) {
                    Ok(pid) => {
                        daemon.pid = Some(pid);
                        event = Some(Event::Started);
                        around.is_news = true;
                    }
                    Err(error) => {
                        around.report.once(&format!("{}: {error:#}; trying again", daemon.row.name));
                        event = Some(Event::NotStarted);
                    }
                },
                Some(Act::Terminate) => daemon.pid.iter().for_each(|pid| trusted::terminate(*pid)),
                Some(Act::Kill) => daemon.pid.iter().for_each(|pid| trusted::kill(*pid)),
                None => {}
            }
        }
    }

    /// Handles the end of a process if it is a daemon's or a job's.
    pub fn ended(&mut self, pid: Pid, status: WaitStatus, around: &mut Around) {
        if let Some(at) = self.all.iter().position(|daemon| daemon.pid == Some(pid)) {
            self.daemon_ended(at, status, around);
        } else if let Some(job) = self.job.take_if(|job| job.pid == pid) {
            self.job_ended(job, status, around);
        }
    }

    fn daemon_ended(&mut self, at: usize, status: WaitStatus, around: &mut Around) {
        let Some(daemon) = self.all.get_mut(at) else { return };
        if let Some(pid) = daemon.pid.take() {
            // What it started and left in its group ends with it.
            let _ = killpg(pid, Signal::SIGKILL);
        }
        let asked = !matches!(daemon.revival.presence, Presence::Running { .. });
        let at_once = (daemon.row.ended)(&mut self.own, around, status, asked);
        self.step(at, Event::Ended, around);
        if at_once {
            self.step(at, Event::Reload, around);
        }
        around.is_news = true;
    }

    /// Builds the next package. This waits for the first life's heartbeat, or `BUILT_BY_MS` where nothing of the
    /// creature's is built: a compiler running beside would delay that life's birth. Where the creature's build has to
    /// fetch something, the broker is built first.
    fn build_next(&mut self, around: &mut Around) {
        if self.job.is_some() || self.to_build.is_empty() {
            return;
        }
        let beats = matches!(around.decided.phase, Phase::Probation { .. } | Phase::Settled { .. });
        let late = !around.builds && around.now() > self.called + BUILT_BY_MS;
        let sooner = self.to_build.iter().position(|package| package.name == BROKER.name);
        let sooner = sooner.filter(|_| self.broker_is_to_come() && self.own.broker.is_called());
        if let Some(at) = sooner.or((beats || late).then_some(0)) {
            let package = self.to_build.remove(at);
            self.build(package, around);
        }
    }

    fn build(&mut self, package: &'static Package, around: &mut Around) {
        let Some(made) = &self.made else { return };
        match package.build(&around.house, made, true) {
            Ok(pid) => {
                let task = Task::Build { package, was: files::mark(&package.program()) };
                self.job = Some(Job::new(pid, task, around.now()));
                around.is_news = true;
            }
            Err(error) => {
                let why = package.not_built(&error);
                around.report.warn(&why);
                self.troubles.insert(package.name, why);
                if package.name == BROKER.name && !package.program().is_file() {
                    self.broker_found(around);
                }
            }
        }
    }

    fn job_ended(&mut self, job: Job, status: WaitStatus, around: &mut Around) {
        let well = is_well(status) && job.overdue.is_none();
        match job.task {
            Task::Build { package, was } => self.built(package, was, &job, well, around),
            Task::Fetch { missing } => self.came.push(Came::Fetched { missing, well }),
            Task::Check if job.overdue.is_some() => {
                let told =
                    "the broker does not come to an end with judging it; see .self/log/broker-check.log";
                self.came.push(Came::Judged(Err(told.to_owned())));
            }
            Task::Check if well => self.came.push(Came::Judged(Ok(()))),
            Task::Check => self.came.push(Came::Judged(Err(checked(&around.house)))),
        }
    }

    fn built(
        &mut self,
        package: &'static Package,
        was: Option<files::Mark>,
        job: &Job,
        well: bool,
        around: &mut Around,
    ) {
        let (seconds, is_broker) =
            (around.now().saturating_sub(job.since) / 1_000, package.name == BROKER.name);
        if well && is_broker && seconds > 1 {
            let first = if was.is_none() { ": models and the web are within reach" } else { "" };
            around.report.say(&format!("the broker is built, {seconds} s{first}"));
        }
        let failed = (!well).then(|| package.does_not_build(&around.house, job.overdue));
        match &failed {
            Some(why) => self.troubles.insert(package.name, why.clone()),
            None => self.troubles.remove(package.name),
        };
        match (failed, was) {
            // The broker runs a hand's program, and begins anew with another one.
            (None, _) if package.is_hand && was != files::mark(&package.program()) => {
                self.step(THE_BROKER, Event::Reload, around);
            }
            (None, Some(_)) if was != files::mark(&package.program()) => {
                let is_made_anew = |daemon: &Daemon| {
                    daemon.row.is_swapped && daemon.row.package.is_some_and(|of| of.name == package.name)
                };
                for at in 0..self.all.len() {
                    if self.all.get(at).is_some_and(is_made_anew) {
                        self.step(at, Event::Reload, around);
                    }
                }
            }
            (Some(why), Some(_)) => around.report.warn(&format!("{why}. The one that was there goes on")),
            (failed, None) if is_broker => {
                self.own.broker.trouble = failed.unwrap_or_default();
                self.broker_found(around);
            }
            (Some(why), None) => around.report.warn(&format!("{why}. {}", package.without)),
            (None, _) => {}
        }
        around.is_news = true;
    }

    /// Whether there is anything to look at between two events.
    pub fn is_busy(&self) -> bool {
        self.job.is_some() || self.broker_is_hoped_for()
    }

    /// Returns the time of the next look at the latest.
    pub fn deadline(&self) -> Option<Millis> {
        let counts = |daemon: &&Daemon| daemon.is_wanted || daemon.revival.running();
        let due = self.all.iter().filter(counts).filter_map(|daemon| daemon.revival.deadline());
        due.chain(self.own.broker.watch.due()).min()
    }

    /// Returns the owner's processes, which no sweep may end; they end their own children.
    pub fn spared(&self) -> impl Iterator<Item = Pid> {
        self.all.iter().filter_map(|daemon| daemon.pid).chain(self.job.as_ref().map(|job| job.pid))
    }

    /// Asks all to end once no creature lives, and kills those that do not in time.
    pub fn end(&mut self) {
        for pid in self.spared().collect::<Vec<_>>() {
            trusted::terminate(pid);
            let mut looks = 0;
            let gone = trusted::wait(pid, || {
                looks += 1;
                looks < END_LOOKS
            });
            if gone.is_none() {
                trusted::kill(pid);
            }
        }
        let had_window = self.all.get(THE_WINDOW).is_some_and(|window| window.pid.is_some());
        self.all.iter_mut().for_each(|daemon| daemon.pid = None);
        if had_window {
            self.own.window.take_terminal_back();
        }
        self.own.broker.trouble = "not running".into();
    }
}
