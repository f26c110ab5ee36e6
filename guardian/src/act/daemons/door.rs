//! The creature's way out as it stands: whether there is a broker or will be, what is told of it, and who judges settings.

use crate::act::around::Around;
use crate::act::daemons::broker::{Watch, checked};
use crate::act::daemons::jobs::{BROKER, Job, Task};
use crate::act::daemons::keep::{Came, Daemons};
use crate::act::daemons::table::THE_BROKER;
use crate::decide::revival::{Event, Presence};
use crate::settings;
use anyhow::Result;
use house::{House, records};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use processes::child::Door;
use processes::exits::is_well;
use processes::trusted;
use serde_json::{Value, json};

/// Exit status of `broker --check` for a mistake in the owner's settings.
const MISTAKE: i32 = 2;

impl Daemons {
    /// Whether there is a broker or will be: it runs, will be started, or is or will be built.
    pub fn broker_is_hoped_for(&self) -> bool {
        let presence = self.all.get(THE_BROKER).map(|broker| &broker.revival.presence);
        presence.is_some_and(|presence| *presence != Presence::Without)
            || self.job.as_ref().is_some_and(|job| job.builds(&BROKER))
            || self.is_to_build()
    }

    /// Whether there is no program yet, and it will be built.
    pub fn broker_is_to_come(&self) -> bool {
        !self.own.broker.program.is_file() && self.is_to_build()
    }

    fn is_to_build(&self) -> bool {
        self.to_build.iter().any(|package| package.name == BROKER.name)
    }

    /// Begins the broker that is there, or tells what is missing without it.
    pub fn broker_found(&mut self, around: &mut Around) {
        if self.own.broker.program.is_file() && self.own.broker.trouble.is_empty() {
            self.own.broker.found = true;
            return self.step(THE_BROKER, Event::Found, around);
        }
        let note = self.broker_note();
        around.report.warn(&format!("{note}. {}", BROKER.without));
        records::tell(&around.house, "broker_missing", json!({"cause": note}));
    }

    /// Port and a fresh token, for a life or, without a number, for a build.
    pub fn door(&mut self, house: &House, life: Option<u64>) -> Result<Option<Door>> {
        if !self.broker_is_hoped_for() {
            return Ok(None);
        }
        let broker = &mut self.own.broker;
        Ok(Some(Door { port: broker.port, token: broker.tokens.fresh(house, life)? }))
    }

    /// Closes connections at once when no broker will come to answer them.
    pub fn turn_away(&self) {
        while !self.broker_is_hoped_for() && self.own.broker.listener.accept().is_ok() {}
    }

    fn broker_pid(&self) -> Option<i32> {
        self.all.get(THE_BROKER)?.pid.map(Pid::as_raw)
    }

    /// The broker's part of `guardian.json`.
    pub fn broker_told(&self, around: &Around) -> Value {
        let (pid, broker) = (self.broker_pid(), &self.own.broker);
        json!({
            "running": pid.is_some(), "pid": pid,
            "port": self.broker_is_hoped_for().then_some(broker.port), "restarts": broker.restarts,
            "asks_waiting": broker.asks.len(), "note": self.broker_note(),
            "hands": self.hands_told(around),
        })
    }

    /// The broker's state in a line.
    fn broker_note(&self) -> String {
        let broker = &self.own.broker;
        match (&self.job, self.broker_pid()) {
            _ if !broker.trouble.is_empty() => broker.trouble.clone(),
            (_, Some(_)) => "holds keys, budget and permission".into(),
            (Some(job), None) if job.builds(&BROKER) => "being built".into(),
            _ if self.broker_is_to_come() => "built as soon as the creature lives".into(),
            _ if self.broker_is_hoped_for() => "starting".into(),
            _ => format!("there is no {}: the creature has no way out", broker.program.display()),
        }
    }

    /// Checks changed settings: here at once, then by the broker, in a process of its own.
    pub fn look_at_settings(&mut self, around: &mut Around) {
        // A check has to wait for the current job, and for the program.
        let waits = self.job.is_some() || self.broker_is_to_come();
        let broker = &mut self.own.broker;
        let is_due = !waits && std::mem::take(&mut broker.unjudged);
        if !broker.watch.changed(&around.house, around.now()) && !is_due {
            return;
        }
        let judged = match settings::load(&around.house) {
            Err(mistake) => Err(mistake),
            Ok(_) if waits => {
                broker.unjudged = true;
                if self.broker_is_to_come() {
                    around.report.say(
                        "the owner's settings have changed; the broker judges them as soon as it is built",
                    );
                }
                return;
            }
            // There is no broker to ask.
            Ok(_) if !broker.program.is_file() || !self.broker_is_hoped_for() => Ok(()),
            Ok(_) => match self.own.broker.check(&around.house) {
                Ok(pid) => return self.job = Some(Job::new(pid, Task::Check, around.now())),
                Err(error) => Err(error),
            },
        };
        self.came.push(Came::Judged(judged.map_err(|mistake| format!("{mistake:#}"))));
    }

    /// Checks `owner.toml` before anything else is started. If the existing program finds a mistake, or there is
    /// none, the broker is built first. The error is the owner's mistake; `Err(None)` means that `go_on` ended the
    /// wait.
    pub fn prove(
        &mut self,
        around: &mut Around,
        mut go_on: impl FnMut() -> bool,
    ) -> Result<(), Option<String>> {
        if !around.house.owner_settings().exists() {
            return Ok(());
        }
        if self.own.broker.program.is_file() {
            let judged = self.judge(around, &mut go_on);
            if !matches!(judged, Err(Some(_))) {
                return judged;
            }
        }
        self.to_build.retain(|package| package.name != BROKER.name);
        match self.made.as_ref().map(|made| BROKER.build(&around.house, made, false)) {
            Some(Ok(pid)) => {
                around.report.say(
                    "bringing the broker up to date, for owner.toml is its to judge; see .self/log/broker-build.log",
                );
                let job = Job::new(pid, Task::Build { package: &BROKER, was: None }, around.now());
                let (job, status) = waited(around, job, &mut go_on).ok_or(None)?;
                if !is_well(status) {
                    self.own.broker.trouble = BROKER.does_not_build(&around.house, job.overdue);
                }
            }
            Some(Err(error)) => around.report.say(&BROKER.not_built(&error)),
            None => {}
        }
        if !self.own.broker.program.is_file() || !self.own.broker.trouble.is_empty() {
            return Ok(());
        }
        self.judge(around, &mut go_on)
    }

    /// Checks `owner.toml` with the existing program; later changes to it are noticed by the new watch.
    fn judge(&mut self, around: &Around, go_on: impl FnMut() -> bool) -> Result<(), Option<String>> {
        let broker = &mut self.own.broker;
        broker.watch = Watch::new(&around.house);
        let job = match broker.check(&around.house) {
            Ok(pid) => Job::new(pid, Task::Check, around.now()),
            Err(error) => {
                broker.trouble = format!("{error:#}");
                return Ok(());
            }
        };
        match waited(around, job, go_on).ok_or(None)? {
            (_, WaitStatus::Exited(_, MISTAKE)) => Err(Some(checked(&around.house))),
            _ => Ok(()),
        }
    }
}

/// Waits for a job before the loop runs, no longer than it may take; none where `go_on` ended the wait.
fn waited(around: &Around, mut job: Job, mut go_on: impl FnMut() -> bool) -> Option<(Job, WaitStatus)> {
    let ended = trusted::wait(job.pid, || {
        job.tend(&around.limits, around.now(), true);
        go_on()
    });
    if ended.is_none() {
        trusted::kill(job.pid);
    }
    Some((job, ended?))
}
