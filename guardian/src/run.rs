//! The one loop: gather what happened, step the policy, save, perform; and again.
//!
//! Invariant: a changed record is on disk before the actions it stands for are performed.
//! Invariant: nothing here waits for the creature.

use crate::act::binaries::Binaries;
use crate::act::broker_process::BrokerProcess;
use crate::act::build::Build;
use crate::act::console_process::ConsoleProcess;
use crate::act::exam::Exam;
use crate::act::heartbeat;
use crate::act::heartbeat::Heartbeat;
use crate::act::report::Report;
use crate::act::requests;
use crate::act::state::State;
use crate::decide::policy::Policy;
use crate::decide::vocabulary::{Action, Event, Pending, Phase};
use crate::git::repo::{Repo, Version};
use crate::limits::Limits;
use crate::processes::child::{Bond, Tree};
use crate::processes::{hunt, prepare};
use crate::settings::Settings;
use anyhow::{Context, Result};
use house::clock::{Clock, Millis};
use house::files::{self, Mark};
use house::{House, interrupt};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;
use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use walls::Walls;

/// How often a tree that will not die is looked at again.
const SWEEP_MS: Millis = 50;

pub struct Guardian {
    pub house: House,
    pub limits: Limits,
    /// As they were at start; `limits` may have been replaced since.
    pub settings: Settings,
    /// What is wrong with the owner's settings now, while older ones go on.
    pub mistake: String,
    /// Why `PURPOSE.md` as it is now does not count; empty while it does.
    pub purpose_unread: String,
    pub broker: BrokerProcess,
    pub walls: Walls,
    pub clock: Clock,
    pub repo: Repo,
    pub state: State,
    pub policy: Policy,
    pub binaries: Binaries,
    pub report: Report,
    pub console: ConsoleProcess,
    pub bond: Bond,
    pub heart: Heartbeat,
    pub life: Option<Life>,
    pub build: Option<Build>,
    /// The tests beside a newborn.
    pub exam: Option<Exam>,
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
    pub tree: Tree,
    pub began: Millis,
    pub memory_kills: u64,
    pub exited: Option<WaitStatus>,
    /// Since when a file it may write to is known to be moved or removed under it.
    pub bereft: Option<Millis>,
    /// A thought of this life was seen in memory.
    pub thought: bool,
    /// Memory and bookkeeping when turns last counted, and how many they were: one that left no record is only a claim.
    pub turned: ([Option<Mark>; 2], u64),
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
    interrupt::listen()?;
    let wanted = [SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1];
    SignalDelivery::with_pipe(read, write, SignalOnly, wanted).context("failed to listen for signals")
}

impl Guardian {
    /// Keeps a creature until the owner asks to leave.
    pub fn run(&mut self) -> Result<()> {
        self.call_broker();
        self.happen(Event::Tick);
        while self.policy.phase != Phase::Done {
            self.wait();
            interrupt::heard();
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
            self.tend_broker();
            // Always, not only when something is due: a policy that is not told the time takes silence for its own lateness.
            self.happen(Event::Tick);
            self.pay();
            self.show();
        }
        self.leave()
    }

    fn wait(&mut self) {
        let now = self.clock.now();
        let busy = self.life.is_some() || self.build.is_some() || self.broker.hoped_for();
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
        until = until.min(self.broker.deadline().unwrap_or(until));
        let timeout = i32::try_from(until.saturating_sub(now)).unwrap_or(i32::MAX);
        let listener = (!self.broker.hoped_for()).then_some(self.broker.listener.as_fd());
        let heard = [Some(self.signals.get_read().as_fd()), listener].into_iter().flatten();
        let mut descriptors: Vec<PollFd> = heard.map(|heard| PollFd::new(heard, PollFlags::POLLIN)).collect();
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
            if !self.policy.examines() {
                self.end_exam();
            }
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

    /// Looks at the files others write: heartbeat, requests, orders.
    fn look(&mut self) {
        if self.life.is_some() && self.policy.alive() {
            self.bound_logs();
            self.end_the_bereft();
            self.look_at_purpose();
            let claimed = (self.heart.claim.mind.clone(), self.heart.claim.odd.clone());
            if let Some(claim) = self.heart.look(self.state.life) {
                let (turns, thoughts) = (claim.turns, claim.thoughts);
                let thought = thoughts > 0 && self.thought_written();
                let turns = self.turns_written(turns);
                self.happen(Event::Beat { turns, thought });
                if (&self.heart.claim.mind, &self.heart.claim.odd) != (&claimed.0, &claimed.1) {
                    self.publish();
                }
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

    /// A purpose that cannot be read is said once, and stands in the status until it can.
    fn look_at_purpose(&mut self) {
        let unread =
            prepare::copy_purpose(&self.house).err().map(|why| format!("{why:#}")).unwrap_or_default();
        if unread == self.purpose_unread {
            return;
        }
        self.purpose_unread = unread;
        if !self.purpose_unread.is_empty() {
            self.report.warn(&format!("{}; what it said before counts until then", self.purpose_unread));
        }
        self.publish();
    }

    /// A claim of thoughts counts once memory holds one of this life.
    fn thought_written(&mut self) -> bool {
        let life_number = self.state.life;
        let Some(life) = &mut self.life else { return false };
        if !life.thought {
            let text = files::tail(&self.house.memory(), house::files::SMALL_FILE_BYTES);
            life.thought = text.lines().rev().any(|line| heartbeat::is_thought_of(line, life_number));
        }
        life.thought
    }

    /// Turns claimed count once memory or bookkeeping has changed since the last that did.
    fn turns_written(&mut self, claimed: u64) -> u64 {
        let records = [self.house.memory(), self.house.bookkeeping()].map(|path| files::mark(&path));
        let Some(life) = &mut self.life else { return 0 };
        if claimed > life.turned.1 && records != life.turned.0 {
            life.turned = (records, claimed);
        }
        life.turned.1
    }

    fn show(&mut self) {
        if let Some(build) = &mut self.build {
            build.follow(&self.house);
            if !build.beside {
                self.report.building(build.told.crates, self.clock.now());
            }
        }
        self.exam.iter_mut().for_each(|exam| exam.follow(&self.house));
        if self.life.is_some() {
            self.tend_console();
        }
    }

    fn leave(&mut self) -> Result<()> {
        let spared: Vec<Pid> = self.trusted().collect();
        if let Some(build) = self.build.take() {
            build.tree.end(&spared, &mut Vec::new());
        }
        hunt::sweep(&spared, &mut Vec::new());
        self.end_trusted();
        hunt::sweep(&[], &mut Vec::new());
        interrupt::heard();
        // What cannot be looked at now is taken at the next start for what a creature left, as after a kill.
        let dirty = self.repo.head().and_then(|head| self.repo.dirty(head)).ok();
        let dirty = dirty.filter(|_| !self.policy.record.untidy);
        self.state.left = dirty.map(|dirty| requests::fingerprint(&self.house, &dirty));
        self.save();
        self.publish();
        self.report.say("left; nothing is running. `cargo run -p guardian` goes on from here");
        Ok(())
    }
}
