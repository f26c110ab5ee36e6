//! The executor: all that carrying out a decision takes, and the state it is told by; each kind of act has a file of its own.
//!
//! Invariant: it decides nothing: what happened goes to the policy by `hear`, and what is done comes from there.

use crate::act::binaries::Binaries;
use crate::act::broker_process::BrokerProcess;
use crate::act::build::Build;
use crate::act::console_process::ConsoleProcess;
use crate::act::exam::Exam;
use crate::act::heartbeat::{self, Heartbeat};
use crate::act::report::Report;
use crate::act::requests;
use crate::act::state::State;
use crate::decide::policy::Policy;
use crate::decide::vocabulary::{Event, Pending};
use crate::git::repo::{Repo, Version};
use crate::limits::Limits;
use crate::processes::child::{Bond, Tree};
use crate::processes::{hunt, prepare};
use crate::settings::Settings;
use anyhow::Result;
use house::clock::{Clock, Millis};
use house::files::{self, Mark};
use house::{House, interrupt};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use std::collections::VecDeque;
use std::path::PathBuf;
use walls::Walls;

/// What the policy decided is carried out here: everything it takes, from the repository to the screen.
pub struct Executor {
    pub(crate) house: House,
    pub(crate) limits: Limits,
    /// As they were at start; `limits` may have been replaced since.
    pub(crate) settings: Settings,
    /// What is wrong with the owner's settings now, while older ones go on.
    pub(crate) mistake: String,
    /// Why `PURPOSE.md` as it is now does not count; empty while it does.
    pub(crate) purpose_unread: String,
    pub(crate) broker: BrokerProcess,
    pub(crate) walls: Walls,
    pub(crate) clock: Clock,
    pub(crate) repo: Repo,
    pub(crate) state: State,
    /// The policy as its last step left it: read here, stepped by the loop alone.
    pub(crate) decided: Policy,
    /// What came of it, for the policy to hear.
    pub(crate) heard: VecDeque<Event>,
    pub(crate) binaries: Binaries,
    pub(crate) report: Report,
    pub(crate) console: ConsoleProcess,
    pub(crate) bond: Bond,
    pub(crate) heart: Heartbeat,
    pub(crate) life: Option<Life>,
    pub(crate) build: Option<Build>,
    /// The tests beside a newborn.
    pub(crate) exam: Option<Exam>,
    /// What the last survey found, and so what the next life runs.
    pub(crate) version: Option<Version>,
    /// Tree and binary of the last build that succeeded.
    pub(crate) built: Option<(String, PathBuf)>,
    /// How the last life or build ended, for its burial.
    pub(crate) end: End,
    pub(crate) request_seen: Option<Mark>,
    pub(crate) order_seen: Option<Mark>,
    /// State or `guardian.json` could not be written when they should have been.
    pub(crate) owes: bool,
    /// When the size of the build folder is looked at again.
    pub(crate) target_look: Millis,
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

impl Executor {
    /// Something happened that the policy has to hear of.
    pub fn hear(&mut self, event: Event) {
        self.heard.push_back(event);
    }

    /// Saves the state. Without disk the house goes on; what it owes is saved with the next change.
    pub fn save(&mut self) {
        self.state.record = self.decided.record.clone();
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

    pub fn pay(&mut self) {
        if self.owes && self.state.save(&self.house).is_ok() && self.write_published().is_ok() {
            self.owes = false;
            self.report.say("what could not be written is written now");
        }
    }

    /// A purpose that cannot be read is said once, and stands in the status until it can.
    pub fn look_at_purpose(&mut self) {
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
    pub fn thought_written(&mut self) -> bool {
        let life_number = self.state.life;
        let Some(life) = &mut self.life else { return false };
        if !life.thought {
            let text = files::tail(&self.house.memory(), house::files::SMALL_FILE_BYTES);
            life.thought = text.lines().rev().any(|line| heartbeat::is_thought_of(line, life_number));
        }
        life.thought
    }

    /// Turns claimed count once memory or bookkeeping has changed since the last that did.
    pub fn turns_written(&mut self, claimed: u64) -> u64 {
        let records = [self.house.memory(), self.house.bookkeeping()].map(|path| files::mark(&path));
        let Some(life) = &mut self.life else { return 0 };
        if claimed > life.turned.1 && records != life.turned.0 {
            life.turned = (records, claimed);
        }
        life.turned.1
    }

    pub fn show(&mut self) {
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

    pub fn leave(&mut self) -> Result<()> {
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
        let dirty = dirty.filter(|_| !self.decided.record.untidy);
        self.state.left = dirty.map(|dirty| requests::fingerprint(&self.house, &dirty));
        self.save();
        self.publish();
        self.report.say("left; nothing is running. `cargo run -p guardian` goes on from here");
        Ok(())
    }
}
