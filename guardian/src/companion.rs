//! The broker as a plain companion: brought up to date, checked, started, started anew when it ends or the owner's word changes.
//!
//! Invariant: its end is never the creature's fault, and no sweep after a life takes it along.
//! Invariant: the door stays open here for our whole life, so connections wait while it is away.
//! When to start and end it is decided in `revival`.

use crate::bounds::{TOLD_CHARS, brief};
use crate::child::Door;
use crate::files::{self, Mark};
use crate::house::House;
use crate::limits::Millis;
use crate::reload::Watch;
use crate::revival::{Act, Event, Revival};
use crate::run::Guardian;
use crate::tokens::Tokens;
use crate::trusted::{self, Trusted};
use crate::walls::network::Network;
use crate::{build, child, records};
use anyhow::{Context, Result};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Its program, beside ours.
pub const NAME: &str = "broker";
/// Exit status of `broker --check` for a mistake of the owner's.
const MISTAKE: i32 = 2;

pub struct Companion {
    /// Where the creature meets it.
    pub listener: TcpListener,
    port: u16,
    /// Where its program is or will be.
    program: PathBuf,
    /// The cargo profile and target folder it is built into: only where we run from the house's own.
    made: Option<(String, PathBuf)>,
    /// Held while it lives; inherited by it alone.
    lock: File,
    tokens: Tokens,
    revival: Revival,
    pub pid: Option<Pid>,
    errand: Option<Errand>,
    /// Over what it runs by.
    pub watch: Watch,
    /// What the owner changed while an errand was under way waits for its end.
    unjudged: bool,
    pub asks_mark: Option<Mark>,
    pub asks_waiting: usize,
    pub restarts: u64,
    /// One line for people, where something is wrong with it.
    pub trouble: String,
}

/// A short-lived process on the broker's behalf.
struct Errand {
    pid: Pid,
    kind: Kind,
    since: Millis,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Brings its program up to date.
    Build,
    /// Judges what the owner changed.
    Check,
}

impl Companion {
    /// Looks where the program is, ends a former one, and opens the folder that is closed to the creature.
    pub fn open(house: &House, network: &Network) -> Result<Self> {
        let me = std::env::current_exe().context("failed to find our own program")?;
        let folder = me.parent().unwrap_or(Path::new("/"));
        let profile = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let target = folder.parent().unwrap_or(folder).to_owned();
        let made = (target == house.root().join("target")).then_some((profile, target));
        fs::create_dir_all(house.broker()).and_then(|()| {
            let closed = fs::Permissions::from_mode(0o700);
            fs::set_permissions(house.broker(), closed)
        })?;
        let path = house.broker_lock();
        let lock = File::options().create(true).truncate(false).read(true).write(true).open(&path);
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
            tokens: Tokens::default(),
            revival: Revival::default(),
            pid: None,
            errand: None,
            watch: Watch::new(house),
            unjudged: false,
            asks_mark: None,
            asks_waiting: 0,
            restarts: 0,
            trouble: String::new(),
        })
    }

    /// Whether the creature may hope for it: it runs, will run again, or is being built.
    pub fn hoped_for(&self) -> bool {
        self.revival.standing != crate::revival::Standing::Without
            || self.errand.as_ref().is_some_and(|errand| errand.kind == Kind::Build)
    }

    pub fn deadline(&self) -> Option<Millis> {
        self.revival.deadline().into_iter().chain(self.watch.due()).min()
    }

    /// Processes that no sweep may take; what they started is theirs to end.
    pub fn spared(&self) -> impl Iterator<Item = Pid> {
        self.pid.into_iter().chain(self.errand.as_ref().map(|errand| errand.pid))
    }

    /// What opens it to a life or, without a number, to a build.
    pub fn door(&mut self, house: &House, life: Option<u64>) -> Result<Option<Door>> {
        if !self.hoped_for() {
            return Ok(None);
        }
        Ok(Some(Door { port: self.port, token: self.tokens.fresh(house, life)? }))
    }

    fn build(&self, house: &House, yields: bool) -> Result<Option<Pid>> {
        let Some((profile, target)) = &self.made else { return Ok(None) };
        let path = house.broker_build_log();
        let log = files::create(&path).with_context(|| format!("failed to create {}", path.display()))?;
        let profile = if profile == "debug" { "dev" } else { profile };
        let target = target.display().to_string();
        let args = ["build", "--package", NAME, "--profile", profile, "--target-dir", &target];
        let args = args.map(str::to_owned).to_vec();
        let program = build::cargo();
        trusted::start(house, Trusted { program, args, log: Some(log), yields, ..Trusted::default() })
            .map(Some)
    }

    /// Without a cargo the one that is there will do: what is kept runs without a toolchain, and so does this.
    fn not_built(&self, error: &anyhow::Error) -> String {
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

    /// Whether there is something new to judge.
    pub fn has_news(&mut self, house: &House, now: Millis) -> bool {
        self.watch.changed(house, now) || (self.errand.is_none() && std::mem::take(&mut self.unjudged))
    }

    /// Has it judge what changed, now or when it is free; false: there is nobody to ask.
    pub fn begin_check(&mut self, house: &House, since: Millis) -> Result<bool> {
        self.unjudged = self.errand.is_some();
        if self.unjudged {
            return Ok(true);
        }
        if !self.program.is_file() || !self.hoped_for() {
            return Ok(false);
        }
        let pid = self.check(house)?;
        self.errand = Some(Errand { pid, kind: Kind::Check, since });
        Ok(true)
    }

    fn start(&mut self, house: &House) -> Result<Pid> {
        let path = house.broker_log();
        let log = File::options().create(true).append(true).open(&path);
        let log = log.with_context(|| format!("failed to open {}", path.display()))?;
        let start = Trusted {
            program: self.program.clone(),
            args: vec!["--house".into(), house.root().display().to_string()],
            extra: vec![("FERAL_BROKER_FD", "3".into())],
            log: Some(log),
            third: Some(self.listener.as_raw_fd()),
            fourth: Some(self.lock.as_raw_fd()),
            yields: false,
        };
        let pid = trusted::start(house, start)?;
        // Where a later guardian finds it, should it outlive us.
        let _ = files::overwrite(&self.lock, pid.to_string().as_bytes());
        Ok(pid)
    }

    /// Before anything is started: builds it if need be and has it judge `owner.toml`. The owner's mistake, if there is
    /// one; `Err(None)`: it was not waited for any longer.
    pub fn prove(
        &mut self,
        house: &House,
        mut say: impl FnMut(&str),
        mut go_on: impl FnMut() -> bool,
    ) -> Result<(), Option<String>> {
        if !house.owner_settings().exists() {
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
        match self.build(house, false) {
            Ok(Some(pid)) => match trusted::wait(pid, &mut patience) {
                Some(WaitStatus::Exited(_, 0)) => {}
                Some(_) => self.trouble = does_not_build(house),
                None => {
                    child::kill_group(pid);
                    return Err(None);
                }
            },
            Ok(None) => {}
            Err(error) => say(&self.not_built(&error)),
        }
        if !self.program.is_file() || !self.trouble.is_empty() {
            return Ok(());
        }
        // What was checked is what is there now; what changes from here on is looked at again.
        self.watch = Watch::new(house);
        match self.check(house).map(|pid| (pid, trusted::wait(pid, &mut go_on))) {
            Ok((_, Some(WaitStatus::Exited(_, MISTAKE)))) => Err(Some(checked(house))),
            Ok((pid, None)) => {
                child::kill_group(pid);
                Err(None)
            }
            Ok(_) => Ok(()),
            Err(error) => {
                self.trouble = format!("{error:#}");
                Ok(())
            }
        }
    }

    /// Whoever knocks where nobody will come is not kept waiting.
    pub fn turn_away(&self) {
        while !self.hoped_for() && self.listener.accept().is_ok() {}
    }

    /// For `guardian.json`.
    pub fn told(&self) -> Value {
        json!({
            "running": self.pid.is_some(), "pid": self.pid.map(Pid::as_raw),
            "port": self.hoped_for().then_some(self.port), "restarts": self.restarts,
            "asks_waiting": self.asks_waiting, "note": self.note(),
        })
    }

    /// How it is, in a line.
    pub fn note(&self) -> String {
        match (&self.errand, self.pid) {
            _ if !self.trouble.is_empty() => self.trouble.clone(),
            (_, Some(_)) => "holds keys, budget and permission".into(),
            (Some(Errand { kind: Kind::Build, .. }), None) => "being built".into(),
            _ if self.hoped_for() => "starting".into(),
            _ => format!("there is no {}: the creature has no way out", self.program.display()),
        }
    }
}

/// The broker's program, beside ours.
pub fn program() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.with_file_name(NAME))
}

/// The line `broker --check` ended with.
fn checked(house: &House) -> String {
    let text = files::tail(&house.broker_check_log(), 4_096);
    brief(text.trim().lines().last().unwrap_or("it does not say why").trim(), TOLD_CHARS)
}

fn does_not_build(house: &House) -> String {
    let text = files::tail(&house.broker_build_log(), 64 << 10);
    let first = text.lines().find(|line| line.starts_with("error")).unwrap_or("cargo does not say why");
    format!("the broker does not build: {}; see .self/log/broker-build.log", brief(first, TOLD_CHARS))
}

impl Guardian {
    /// The first start: at once where it is there, after its build where it is ours to build.
    pub fn call_broker(&mut self) {
        let companion = &mut self.companion;
        // It was brought up to date together with the check of `owner.toml`, or could not be.
        let proven = self.house.owner_settings().exists();
        if companion.made.is_some() && !proven {
            match companion.build(&self.house, true) {
                Ok(Some(pid)) => {
                    companion.errand = Some(Errand { pid, kind: Kind::Build, since: self.clock.now() });
                    return;
                }
                Ok(None) => {}
                Err(error) => self.report.warn(&companion.not_built(&error)),
            }
        }
        self.broker_found();
    }

    fn broker_found(&mut self) {
        let there = self.companion.program.is_file();
        if there && self.companion.trouble.is_empty() {
            return self.broker_steps(Event::Found);
        }
        let note = self.companion.note();
        self.report.warn(&format!("{note}. The creature lives without a model, services and web"));
        records::tell(&self.house, "broker_missing", json!({"cause": note}));
    }

    pub fn broker_steps(&mut self, event: Event) {
        let now = self.clock.now();
        let mut event = Some(event);
        while let Some(told) = event.take() {
            match self.companion.revival.step(now, told) {
                Some(Act::Start) => event = Some(self.start_broker()),
                Some(Act::Terminate) => self.companion.pid.iter().for_each(|pid| child::terminate(*pid)),
                Some(Act::Kill) => self.companion.pid.iter().for_each(|pid| child::kill_group(*pid)),
                None => {}
            }
        }
    }

    fn start_broker(&mut self) -> Event {
        match self.companion.start(&self.house) {
            Ok(pid) => {
                self.companion.pid = Some(pid);
                self.companion.trouble.clear();
                self.publish();
                Event::Started
            }
            Err(error) => {
                let told = format!("{error:#}");
                self.report.once(&format!("{told}; trying again"));
                self.companion.trouble = told;
                Event::NotStarted
            }
        }
    }

    /// Takes note if one of the processes that ended is the broker's.
    pub fn broker_ended(&mut self, pid: Pid, status: WaitStatus) {
        if self.companion.pid == Some(pid) {
            self.companion.pid = None;
            self.companion.restarts += 1;
            child::kill_group(pid);
            let asked = !matches!(self.companion.revival.standing, crate::revival::Standing::Running { .. });
            if !asked {
                let cause = crate::ends::describe(status);
                let said = files::tail(&self.house.broker_log(), 1_024);
                let said = crate::asks::spelled(said.lines().last().unwrap_or_default());
                self.companion.trouble = format!("the broker ended ({cause}) and is started again");
                self.report.once(&format!("{}; {said}", self.companion.trouble));
                records::tell(&self.house, "broker_ended", json!({"cause": cause, "said": said}));
            }
            self.broker_steps(Event::Ended);
            self.publish();
        } else if let Some(errand) = self.companion.errand.take_if(|errand| errand.pid == pid) {
            self.errand_ended(errand, status);
        }
    }

    fn errand_ended(&mut self, errand: Errand, status: WaitStatus) {
        let good = matches!(status, WaitStatus::Exited(_, 0));
        match errand.kind {
            Kind::Build => {
                let seconds = self.clock.now().saturating_sub(errand.since) / 1_000;
                if !good {
                    self.companion.trouble = does_not_build(&self.house);
                } else if seconds > 1 {
                    self.report.say(&format!("the broker is built, {seconds} s"));
                }
                self.broker_found();
                self.publish();
            }
            Kind::Check if good => self.take_over(),
            Kind::Check => self.keep_settings(&checked(&self.house)),
        }
    }
}
