//! The broker as a process: built, checked, started, and started again when it ends or the owner's settings change.
//!
//! Invariant: the broker's end is never blamed on the creature, and the sweep after a life spares it.
//! Invariant: the guardian keeps the listening socket open, so connections wait while the broker is away.
//! When to start and end it is decided in `revival`.

use crate::act::console_process;
use crate::act::executor::Executor;
use crate::act::jobs::{Job, Task};
use crate::act::made::Made;
use crate::act::reload::Watch;
use crate::act::tokens::Tokens;
use crate::decide::revival::{Act, Event, Revival};
use crate::decide::vocabulary::Phase;
use crate::processes::child::Door;
use crate::processes::trusted::{self, Trusted};
use anyhow::{Context, Result};
use house::clock::Millis;
use house::files::{self, Mark};
use house::{House, records};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use walls::network::Network;

/// Name of the broker's program, in the guardian's own folder.
pub const NAME: &str = "broker";
/// Longest wait for the first life's heartbeat before the owner's programs are built.
const BUILT_BY_MS: Millis = 10_000;

pub struct BrokerProcess {
    /// The socket on which the creature reaches the broker.
    pub listener: TcpListener,
    port: u16,
    /// Path of the broker's program, whether it is there or not.
    pub program: PathBuf,
    /// Cargo profile and target folder to build it with; `None` unless the guardian itself runs from the house's
    /// `target/`.
    pub made: Option<Made>,
    /// Locked while the broker lives, which alone inherits it.
    lock: File,
    /// Packages this guardian has yet to build, the next one last; each once.
    pub to_build: Vec<&'static str>,
    /// When the broker was wanted first.
    called: Millis,
    pub tokens: Tokens,
    pub revival: Revival,
    pub pid: Option<Pid>,
    pub job: Option<Job>,
    /// Watches the files the broker is configured by.
    pub watch: Watch,
    /// The owner's settings changed while a job was running: they are checked after it.
    pub unjudged: bool,
    pub asks_mark: Option<Mark>,
    /// Ids of the asks that wait; each of them has been announced.
    pub asks: BTreeSet<String>,
    pub restarts: u64,
    /// What is wrong with the broker, in a line for people; else empty.
    pub trouble: String,
}

impl BrokerProcess {
    /// Finds the broker's program, ends a former guardian's broker, and makes the broker's folder private.
    pub fn open(house: &House, network: &Network) -> Result<Self> {
        let me = std::env::current_exe().context("failed to find our own program")?;
        let folder = me.parent().unwrap_or(Path::new("/"));
        let made = Made::me(house);
        // The console is soon built, and shows what happens while the broker is.
        let to_build = if made.is_some() { vec![NAME, console_process::NAME] } else { vec![] };
        fs::create_dir_all(house.broker()).and_then(|()| {
            let closed = fs::Permissions::from_mode(0o700);
            fs::set_permissions(house.broker(), closed)
        })?;
        let path = house.broker_lock();
        let lock = files::open_lock(&path);
        let lock = lock.with_context(|| format!("failed to open {}", path.display()))?;
        for _ in 0..300 {
            if fs2::FileExt::try_lock_exclusive(&lock).is_ok() {
                break;
            }
            trusted::end_holders(&path, NAME);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let listener = network.listener.try_clone().context("failed to keep the door open")?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener,
            port: network.port,
            program: folder.join(NAME),
            made,
            lock,
            to_build,
            called: 0,
            tokens: Tokens::default(),
            revival: Revival::default(),
            pid: None,
            job: None,
            watch: Watch::new(house),
            unjudged: false,
            asks_mark: None,
            asks: BTreeSet::new(),
            restarts: 0,
            trouble: String::new(),
        })
    }

    /// Whether there is a broker or will be: it runs, will be started, or is or will be built.
    pub fn hoped_for(&self) -> bool {
        self.revival.presence != crate::decide::revival::Presence::Without
            || self.job.as_ref().is_some_and(|job| job.builds(NAME))
            || self.to_build.contains(&NAME)
    }

    /// Whether there is no program yet, and it will be built.
    pub fn is_to_come(&self) -> bool {
        !self.program.is_file() && self.to_build.contains(&NAME)
    }

    /// Whether somebody waits at the door: of a build, cargo that has to fetch something.
    fn is_called(&self) -> bool {
        let mut door = [PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
        poll(&mut door, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
    }

    pub fn deadline(&self) -> Option<Millis> {
        self.revival.deadline().into_iter().chain(self.watch.due()).min()
    }

    /// Processes that no sweep may end; whatever they started is theirs to end.
    pub fn spared(&self) -> impl Iterator<Item = Pid> {
        self.pid.into_iter().chain(self.job.as_ref().map(|job| job.pid))
    }

    /// Port and a fresh token, for a life or, without a number, for a build.
    pub fn door(&mut self, house: &House, life: Option<u64>) -> Result<Option<Door>> {
        if !self.hoped_for() {
            return Ok(None);
        }
        Ok(Some(Door { port: self.port, token: self.tokens.fresh(house, life)? }))
    }

    /// `fetched`: what was fetched before there was a broker.
    fn start(&mut self, house: &House, fetched: &Option<String>) -> Result<Pid> {
        let log = files::append(&house.broker_log())?;
        let start = Trusted {
            program: self.program.clone(),
            args: vec!["--house".into(), house.root().display().to_string()],
            extra: fetched
                .iter()
                .map(|fetched| ("FERAL_FETCHED", fetched.clone()))
                .chain([("FERAL_BROKER_FD", "3".into())])
                .collect(),
            log: Some(log),
            third: Some(self.listener.as_raw_fd()),
            fourth: Some(self.lock.as_raw_fd()),
            has_terminal: false,
            yields: false,
        };
        let pid = trusted::start(house, start)?;
        // A later guardian finds the process by this number, should it outlive this guardian.
        let _ = files::overwrite(&self.lock, pid.to_string().as_bytes());
        Ok(pid)
    }

    /// Closes connections at once when no broker will come to answer them.
    pub fn turn_away(&self) {
        while !self.hoped_for() && self.listener.accept().is_ok() {}
    }

    /// The broker's part of `guardian.json`.
    pub fn told(&self) -> Value {
        json!({
            "running": self.pid.is_some(), "pid": self.pid.map(Pid::as_raw),
            "port": self.hoped_for().then_some(self.port), "restarts": self.restarts,
            "asks_waiting": self.asks.len(), "note": self.note(),
        })
    }

    /// The broker's state in a line.
    pub fn note(&self) -> String {
        match (&self.job, self.pid) {
            _ if !self.trouble.is_empty() => self.trouble.clone(),
            (_, Some(_)) => "holds keys, budget and permission".into(),
            (Some(job), None) if job.builds(NAME) => "being built".into(),
            _ if self.is_to_come() => "built as soon as the creature lives".into(),
            _ if self.hoped_for() => "starting".into(),
            _ => format!("there is no {}: the creature has no way out", self.program.display()),
        }
    }
}

/// Path of the broker's program, in the guardian's own folder.
pub fn program() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.with_file_name(NAME))
}

impl Executor {
    /// The broker's first start: at once if its program is there, else after it is built.
    pub fn call_broker(&mut self) {
        self.broker.called = self.clock.now();
        if self.broker.program.is_file() || !self.broker.hoped_for() {
            self.broker_found();
        }
    }

    /// Builds console and broker; a running broker is replaced if its program has changed. This waits for the first
    /// life's heartbeat, or `BUILT_BY_MS` where nothing of the creature's is built: a compiler running beside would
    /// delay that life's birth. Where the creature's build has to fetch something, the broker is built first.
    pub fn build_programs(&mut self) {
        if self.broker.job.is_some() || self.broker.to_build.is_empty() {
            return;
        }
        let beats = matches!(self.decided.phase, Phase::Probation { .. } | Phase::Settled { .. });
        let late = self.build.is_none() && self.clock.now() > self.broker.called + BUILT_BY_MS;
        if self.broker.is_to_come() && self.broker.is_called() {
            self.broker.to_build.retain(|package| *package != NAME);
            self.build_program(NAME);
        } else if (beats || late)
            && let Some(package) = self.broker.to_build.pop()
        {
            self.build_program(package);
        }
    }

    fn build_program(&mut self, package: &'static str) {
        let broker = &mut self.broker;
        match broker.build(&self.house, package, true) {
            Ok(Some(pid)) => {
                let task = Task::Build { package, was: files::mark(&broker.program) };
                broker.job = Some(Job { pid, task, since: self.clock.now() });
                self.publish();
            }
            Ok(None) => {}
            Err(error) => {
                self.report.warn(&broker.not_built(&error));
                if package == NAME && !broker.program.is_file() {
                    self.broker_found();
                }
            }
        }
    }

    pub fn broker_found(&mut self) {
        let there = self.broker.program.is_file();
        if there && self.broker.trouble.is_empty() {
            return self.broker_steps(Event::Found);
        }
        let note = self.broker.note();
        self.report.warn(&format!("{note}. The creature lives without a model, services and web"));
        records::tell(&self.house, "broker_missing", json!({"cause": note}));
    }

    pub fn broker_steps(&mut self, event: Event) {
        let now = self.clock.now();
        let mut event = Some(event);
        while let Some(told) = event.take() {
            match self.broker.revival.step(now, told) {
                Some(Act::Start) => event = Some(self.start_broker()),
                Some(Act::Terminate) => self.broker.pid.iter().for_each(|pid| trusted::terminate(*pid)),
                Some(Act::Kill) => self.broker.pid.iter().for_each(|pid| trusted::kill(*pid)),
                None => {}
            }
        }
    }

    fn start_broker(&mut self) -> Event {
        match self.broker.start(&self.house, &self.state.fetched) {
            Ok(pid) => {
                self.broker.pid = Some(pid);
                self.broker.trouble.clear();
                self.publish();
                Event::Started
            }
            Err(error) => {
                let told = format!("{error:#}");
                self.report.once(&format!("{told}; trying again"));
                self.broker.trouble = told;
                Event::NotStarted
            }
        }
    }

    /// Handles the end of a process if it is the broker's or a job's.
    pub fn broker_ended(&mut self, pid: Pid, status: WaitStatus) {
        if self.broker.pid == Some(pid) {
            self.broker.pid = None;
            self.broker.restarts += 1;
            trusted::kill(pid);
            let asked =
                !matches!(self.broker.revival.presence, crate::decide::revival::Presence::Running { .. });
            if !asked {
                let cause = crate::act::ends::describe(status);
                let said = files::tail(&self.house.broker_log(), 1_024);
                let said = house::printable::spelled(said.lines().last().unwrap_or_default());
                self.broker.trouble = format!("the broker ended ({cause}) and is started again");
                self.report.once(&format!("{}; {said}", self.broker.trouble));
                records::tell(&self.house, "broker_ended", json!({"cause": cause, "said": said}));
            }
            self.broker_steps(Event::Ended);
            self.publish();
        } else if let Some(job) = self.broker.job.take_if(|job| job.pid == pid) {
            self.job_ended(job, status);
        }
    }
}
