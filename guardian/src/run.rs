//! The one loop: gather what happened, step the policy, save, perform; and again.
//!
//! Invariant: a changed record is on disk before the actions it stands for are performed.
//! Invariant: nothing here waits for the creature.

use crate::binaries::Binaries;
use crate::build::{Build, Failed};
use crate::clock::Clock;
use crate::files::Mark;
use crate::heartbeat::Heartbeat;
use crate::house::House;
use crate::limits::{LOG_TAIL_BYTES, Limits, Millis};
use crate::policy::Policy;
use crate::repo::{Repo, Version};
use crate::report::Report;
use crate::state::State;
use crate::vocabulary::{Action, Blame, Event, Pending, Phase};
use crate::walls::Walls;
use crate::{blame, child, files, requests};
use anyhow::{Context, Result};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;
use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// How often a tree that will not die is looked at again.
const SWEEP_MS: Millis = 50;

pub struct Guardian {
    pub house: House,
    pub limits: Limits,
    pub walls: Walls,
    pub clock: Clock,
    pub repo: Repo,
    pub state: State,
    pub policy: Policy,
    pub binaries: Binaries,
    pub report: Report,
    /// Its descriptor is inherited by every descendant.
    pub lock: File,
    pub heart: Heartbeat,
    pub life: Option<Life>,
    pub build: Option<Build>,
    /// What the last survey found, and so what the next life runs.
    pub version: Option<Version>,
    /// Tree and binary of the last build that succeeded.
    pub built: Option<(String, PathBuf)>,
    /// How the last life or build ended, for its burial.
    pub end: End,
    pub request_seen: Option<Mark>,
    pub order_seen: Option<Mark>,
    /// State or `guardian.json` could not be written when they should have been.
    pub owes: bool,
    /// When the size of the build folder is looked at again.
    pub target_look: Millis,
    pub signals: SignalDelivery<UnixStream, SignalOnly>,
}

/// A creature's process from spawn until its whole tree is gone.
pub struct Life {
    pub pid: Pid,
    pub began: Millis,
    pub memory_kills: u64,
    pub exited: Option<WaitStatus>,
    /// The files it was let write to: others of the same name it cannot.
    pub given: Vec<Option<u64>>,
    /// One of them was moved or removed under it.
    pub bereft: bool,
    /// A thought of this life was seen in memory.
    pub thought: bool,
    /// Memory when turns last counted, and how many they were: a turn that left no record is only a claim.
    pub turned: (Option<Mark>, u64),
}

/// The end of a life or build: what is said of it, and its evidence.
#[derive(Clone, Debug, Default)]
pub struct End {
    pub cause: String,
    pub lived_ms: Millis,
    pub log_tail: String,
}

pub fn signals() -> Result<SignalDelivery<UnixStream, SignalOnly>> {
    let (read, write) = UnixStream::pair().context("failed to make a pipe for signals")?;
    let wanted = [SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1];
    SignalDelivery::with_pipe(read, write, SignalOnly, wanted).context("failed to listen for signals")
}

impl Guardian {
    /// Keeps a creature until the owner asks to leave.
    pub fn run(&mut self) -> Result<()> {
        self.happen(Event::Tick);
        while self.policy.phase != Phase::Done {
            self.wait();
            let signals: Vec<i32> = self.signals.pending().collect();
            for signal in signals {
                match signal {
                    SIGINT | SIGTERM | SIGHUP => self.happen(Event::OwnerStop),
                    _ => {}
                }
            }
            self.collect();
            self.end_late_build();
            self.look();
            // Always, not only when something is due: a policy that is not told the time takes silence for its own lateness.
            self.happen(Event::Tick);
            self.pay();
            self.show();
        }
        self.leave()
    }

    fn wait(&mut self) {
        let now = self.clock.now();
        let busy = self.life.is_some() || self.build.is_some();
        let mut until = self.policy.deadline(&self.limits).unwrap_or(now + 3_600_000);
        if busy {
            until = until.min(now + self.limits.look_ms);
        }
        if self.life.as_ref().is_some_and(|life| life.exited.is_some()) {
            until = until.min(now + SWEEP_MS);
        }
        if self.build.is_some() {
            until = until.min(now + self.report.build_frame_ms().unwrap_or(self.limits.look_ms));
        }
        let timeout = i32::try_from(until.saturating_sub(now)).unwrap_or(i32::MAX);
        let mut descriptors = [PollFd::new(self.signals.get_read().as_fd(), PollFlags::POLLIN)];
        // An interrupted or failed poll only means looking earlier.
        let _ = poll(&mut descriptors, PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX));
    }

    /// Steps the policy through an event and whatever follows from it.
    pub fn happen(&mut self, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let before = self.policy.record.clone();
            let tidied = event == Event::Tidied;
            let phase = self.policy.phase.clone();
            if event != Event::Tick && !matches!(event, Event::Beat { .. }) {
                tracing::debug!(?event, ?phase, "step");
            }
            let actions = self.policy.step(&self.limits, self.clock.now(), event);
            // A spawn saves by itself, just before it; that creature/ was found tidy may be forgotten.
            let saved_by_spawn = actions.iter().any(|action| matches!(action, Action::Spawn { .. }));
            if self.policy.record != before && !saved_by_spawn && !tidied {
                self.save();
            }
            for action in actions {
                events.extend(self.perform(action));
            }
            if std::mem::discriminant(&self.policy.phase) != std::mem::discriminant(&phase) {
                self.publish();
            }
        }
    }

    /// Saves the state. Without disk the house goes on; what it owes is saved with the next change.
    pub fn save(&mut self) {
        self.state.record = self.policy.record.clone();
        // Over for the policy and over here by one write: between two, a kill would make it fall one rung further.
        if !matches!(self.state.record.pending, Some(Pending::Fall(_))) {
            self.state.falling = None;
        }
        self.state.anchor = self.clock.anchor();
        if let Err(error) = self.state.save(&self.house) {
            self.owe(&error);
        }
    }

    /// Notes what could not be written, once, and tries again with every look.
    pub fn owe(&mut self, error: &anyhow::Error) {
        if !std::mem::replace(&mut self.owes, true) {
            tracing::error!("{error:#}; until there is space again a killed guardian would forget this step");
        }
    }

    fn pay(&mut self) {
        if self.owes && self.state.save(&self.house).is_ok() && self.write_published().is_ok() {
            self.owes = false;
            self.report.say("what could not be written is written now");
        }
    }

    /// Exits of the creature and of builds.
    fn collect(&mut self) {
        let mut ended = child::reap();
        self.note_ends(&ended);
        let spare = self.build.as_ref().map(|build| build.pid);
        if let Some(Life { pid, exited: Some(status), .. }) = self.life {
            child::kill_group(pid);
            ended.clear();
            let gone = child::sweep(spare, &mut ended);
            self.note_ends(&ended);
            if gone {
                self.life_ended(status);
            }
        }
    }

    fn note_ends(&mut self, ended: &[(Pid, WaitStatus)]) {
        for (pid, status) in ended {
            if let Some(life) = self.life.as_mut().filter(|life| life.pid == *pid) {
                life.exited = Some(*status);
            }
            if let Some(build) = self.build.take_if(|build| build.pid == *pid) {
                self.build_ended(build, *status);
            }
        }
    }

    fn life_ended(&mut self, status: WaitStatus) {
        let Some(life) = self.life.take() else { return };
        // Only the first life of a new commit was born of a self-edit.
        self.state.born = None;
        // A beat that came with the end still tells a crash from a stillbirth; it is too late to earn anything.
        if matches!(self.policy.phase, Phase::Booting { .. }) && self.heart.look(self.state.life).is_some() {
            self.happen(Event::Beat { turns: 0, thought: false });
        }
        let evidence = blame::Evidence {
            signal: signal(status),
            memory_kills: memory_kills().saturating_sub(life.memory_kills),
            free_mib: self.free_mib(),
            floor_mib: self.limits.disk_free_mib,
            overdue: matches!(self.policy.phase, Phase::Stopping { .. }),
            folder_gone: life.bereft,
            ..blame::Evidence::default()
        };
        let rebirth = status == WaitStatus::Exited(life.pid, 0)
            && requests::read(&self.house).ok().flatten().is_some_and(|request| {
                request.is_rebirth_of(self.state.life) && request.id != self.state.request
            });
        self.end = End {
            cause: describe(status),
            lived_ms: self.clock.now().saturating_sub(life.began),
            log_tail: files::tail(&self.house.life_log(self.state.life), LOG_TAIL_BYTES),
        };
        self.happen(Event::Exited { blame: blame::death(&evidence), rebirth });
    }

    fn build_ended(&mut self, build: Build, status: WaitStatus) {
        let (tree, beside) = (build.tree.clone(), build.beside);
        child::kill_group(build.pid);
        let evidence = blame::Evidence {
            signal: signal(status),
            memory_kills: memory_kills().saturating_sub(build.memory_kills),
            free_mib: self.free_mib(),
            floor_mib: self.limits.disk_free_mib,
            ..blame::Evidence::default()
        };
        self.report.build_over();
        let clean = self.version.is_some_and(|version| self.repo.is_at(version));
        match build.finish(&self.house, status) {
            // What was built is the commit only if the tree still is; beside a creature it may well be editing.
            Ok(path) if clean => {
                self.built = Some((tree, path));
                if !beside {
                    self.happen(Event::BuildSucceeded);
                }
            }
            Ok(_) if beside => {}
            Ok(_) => {
                let dirty =
                    self.version.and_then(|version| self.repo.dirty(version).ok()).unwrap_or_default();
                let name = dirty.first().map(|first| first.display().to_string()).unwrap_or_default();
                self.end = End {
                    cause: format!("creature/{name} changed while it was being built"),
                    ..End::default()
                };
                self.happen(Event::BuildFailed(Blame::Owner));
            }
            Err(Failed { output, folder_gone }) => {
                let log_tail = output.chars().take(LOG_TAIL_BYTES as usize).collect();
                let fault = blame::build(&blame::Evidence { output, folder_gone, ..evidence });
                if beside {
                    tracing::warn!(blame = ?fault, "the blessed binary runs, but its source does not build now");
                    return;
                }
                let cause = if folder_gone { "its target folder was deleted" } else { "it does not build" };
                self.end = End { cause: cause.into(), lived_ms: 0, log_tail };
                self.happen(Event::BuildFailed(fault));
            }
        }
    }

    /// A build beside a creature has no phase that would end it, and holds the lock its self-edits wait for.
    fn end_late_build(&mut self) {
        let until =
            self.build.as_ref().filter(|build| build.beside).map(|build| build.since + self.limits.build_ms);
        if until.is_some_and(|until| self.clock.now() >= until) {
            tracing::warn!("the build beside the blessed binary overstayed its deadline and is ended");
            self.perform(Action::StopBuild);
        }
    }

    /// Looks at the files others write: heartbeat, requests, orders.
    fn look(&mut self) {
        if self.life.is_some() && self.policy.alive() {
            self.bound_log();
            if let Some(claim) = self.heart.look(self.state.life) {
                let (turns, thoughts) = (claim.turns, claim.thoughts);
                let thought = thoughts > 0 && self.thought_written();
                let turns = self.turns_written(turns);
                self.happen(Event::Beat { turns, thought });
                self.show_facts();
            }
            let mark = files::mark(&self.house.request());
            if mark.is_some() && mark != self.request_seen {
                self.request_seen = mark;
                self.happen(Event::Request);
            }
        }
        let mark = files::mark(&self.house.order());
        if mark.is_some() && mark != self.order_seen {
            self.order_seen = mark;
            self.obey_order();
        }
    }

    /// A claim of thoughts counts once memory holds one of this life.
    fn thought_written(&mut self) -> bool {
        let life_number = self.state.life;
        let Some(life) = &mut self.life else { return false };
        if !life.thought {
            let text = files::tail(&self.house.memory(), crate::limits::SMALL_FILE_BYTES);
            life.thought = text.lines().rev().any(|line| crate::feed::is_thought_of(line, life_number));
        }
        life.thought
    }

    /// Turns claimed count once memory has changed since the last that did.
    fn turns_written(&mut self, claimed: u64) -> u64 {
        let memory = files::mark(&self.house.memory());
        let Some(life) = &mut self.life else { return 0 };
        if claimed > life.turned.1 && memory != life.turned.0 {
            life.turned = (memory, claimed);
        }
        life.turned.1
    }

    fn free_mib(&self) -> u64 {
        fs2::available_space(self.house.state_folder()).map_or(u64::MAX, |bytes| bytes >> 20)
    }

    fn show(&mut self) {
        if let Some(build) = &mut self.build {
            build.follow();
            if !build.beside {
                self.report.building(build.crates, self.clock.now());
            }
        }
        if self.life.is_some() {
            self.report.follow();
        }
    }

    fn leave(&mut self) -> Result<()> {
        if let Some(build) = self.build.take() {
            child::kill_group(build.pid);
        }
        child::sweep(None, &mut Vec::new());
        self.report.follow();
        let dirty = self.repo.head().and_then(|head| self.repo.dirty(head)).unwrap_or_default();
        let clean_leave = !self.policy.record.untidy;
        self.state.left = clean_leave.then(|| requests::fingerprint(&self.house, &dirty));
        self.save();
        self.publish();
        self.report.say("left; nothing is running. `cargo run -p guardian` goes on from here");
        Ok(())
    }
}

fn signal(status: WaitStatus) -> Option<i32> {
    if let WaitStatus::Signaled(_, signal, _) = status { Some(signal as i32) } else { None }
}

fn describe(status: WaitStatus) -> String {
    if let WaitStatus::Exited(_, code) = status {
        format!("exit status {code}")
    } else if let WaitStatus::Signaled(_, signal, _) = status {
        format!("signal {}", signal.as_str())
    } else {
        format!("{status:?}")
    }
}

/// How often the kernel has killed for want of memory since boot.
pub fn memory_kills() -> u64 {
    let text = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok()).unwrap_or(0)
}
