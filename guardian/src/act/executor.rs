//! The executor: everything needed to carry out the policy's actions, and the guardian's state; a file for each kind of action.
//!
//! Invariant: the executor decides nothing: events go to the policy by `hear`, actions come from it.

use crate::act::binaries::Binaries;
use crate::act::build::Build;
use crate::act::conduct::Watched;
use crate::act::daemons::keep::Daemons;
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
use house::{House, interrupt, records};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use std::collections::VecDeque;
use std::path::PathBuf;
use walls::Walls;

/// Carries out the policy's actions; holds everything they need, from the repository to the screen.
pub struct Executor {
    pub(crate) house: House,
    pub(crate) limits: Limits,
    /// Settings at start; only `limits`, `notices` and the settings' text are replaced while the guardian runs.
    pub(crate) settings: Settings,
    /// What is wrong with the owner's changed settings while the older ones stay in force; else empty.
    pub(crate) mistake: String,
    /// Why `PURPOSE.md` cannot be read now; else empty.
    pub(crate) purpose_unread: String,
    /// What to do about the owner's edits while nothing is started over them; else empty.
    pub(crate) edits_told: String,
    pub(crate) walls: Walls,
    pub(crate) clock: Clock,
    pub(crate) repo: Repo,
    pub(crate) state: State,
    /// A copy of the policy after its last step, for reading; only the loop steps the policy.
    pub(crate) decided: Policy,
    /// Events for the policy to hear.
    pub(crate) heard: VecDeque<Event>,
    pub(crate) binaries: Binaries,
    pub(crate) report: Report,
    pub(crate) daemons: Daemons,
    pub(crate) bond: Bond,
    pub(crate) heart: Heartbeat,
    pub(crate) life: Option<Life>,
    pub(crate) build: Option<Build>,
    /// The tests beside a first life.
    pub(crate) exam: Option<Exam>,
    /// The version found by the last survey, which the next life runs.
    pub(crate) version: Option<Version>,
    /// Creature tree and binary of the last successful build.
    pub(crate) built: Option<(String, PathBuf)>,
    /// How the last life or build ended, for its record.
    pub(crate) end: End,
    pub(crate) request_seen: Option<Mark>,
    pub(crate) order_seen: Option<Mark>,
    /// Whether a life has ended since `clear_planted` was last called.
    pub(crate) may_be_planted: bool,
    /// Whether state or `guardian.json` could not be written.
    pub(crate) owes: bool,
    /// When the size of the build folder is measured next.
    pub(crate) target_look: Millis,
}

/// A creature's process, from its start until its whole tree has ended.
pub struct Life {
    pub tree: Tree,
    pub began: Millis,
    pub memory_kills: u64,
    pub exited: Option<WaitStatus>,
    /// Since when a file the life may write to is known to be moved or removed.
    pub bereft: Option<Millis>,
    /// Whether a thought of this life was seen in memory.
    pub thought: bool,
    /// Marks of memory and bookkeeping when turns counted last, and how many: a claimed turn without a record does
    /// not count.
    pub turned: ([Option<Mark>; 2], u64),
    /// What it does, as others see it.
    pub watched: Watched,
}

/// The end of a life or build, with its evidence.
#[derive(Clone, Debug, Default)]
pub struct End {
    pub cause: String,
    pub lived_ms: Millis,
    pub log_tail: String,
}

impl Executor {
    /// Queues an event for the policy.
    pub fn hear(&mut self, event: Event) {
        self.heard.push_back(event);
    }

    /// Saves the state. If that fails the guardian goes on, and the next save includes this change.
    pub fn save(&mut self) {
        self.state.record = self.decided.record.clone();
        // One write ends the rollback for policy and executor: with two, a kill between them would lose another rung.
        if !matches!(self.state.record.pending, Some(Pending::Fall(_))) {
            self.state.falling = None;
        }
        self.state.anchor = self.clock.anchor();
        if let Err(error) = self.state.save(&self.house) {
            self.owe(&error);
        }
    }

    /// Notes, and logs once, that something could not be written; `pay` tries again at each look.
    pub fn owe(&mut self, error: &anyhow::Error) {
        if !std::mem::replace(&mut self.owes, true) {
            tracing::error!("{error:#}; until there is space again a killed guardian would forget this step");
        }
    }

    pub fn pay(&mut self) {
        records::pay();
        if self.owes && self.state.save(&self.house).is_ok() && self.write_published().is_ok() {
            self.owes = false;
            self.report.say("what could not be written is written now");
        }
    }

    /// Warns once that the purpose cannot be read; the status shows it until it can.
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

    /// Whether memory holds a thought of this life: the heartbeat's claim alone does not count.
    pub fn thought_written(&mut self) -> bool {
        let life_number = self.state.life;
        let Some(life) = &mut self.life else { return false };
        if !life.thought {
            let text = files::tail(&self.house.memory(), house::files::SMALL_FILE_BYTES);
            life.thought = text.lines().rev().any(|line| heartbeat::is_thought_of(line, life_number));
        }
        life.thought
    }

    /// Counts claimed turns only when memory or bookkeeping has changed since turns counted last.
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
                self.report.building(build.told.crates, &build.told.last, self.clock.now());
            }
        }
        self.exam.iter_mut().for_each(|exam| exam.follow(&self.house));
    }

    pub fn leave(&mut self) -> Result<()> {
        let spared: Vec<Pid> = self.daemons.spared().collect();
        if let Some(build) = self.build.take() {
            build.tree.end(&spared, &mut Vec::new());
        }
        hunt::sweep(&spared, &mut Vec::new());
        self.daemons.end();
        hunt::sweep(&[], &mut Vec::new());
        interrupt::heard();
        self.clear_planted();
        // If this cannot be compared now, the next start treats changes as the creature's, as after a kill.
        let dirty = self.repo.head().and_then(|head| self.repo.dirty(head)).ok();
        let dirty = dirty.filter(|_| !self.decided.record.untidy);
        self.state.left = dirty.map(|dirty| requests::fingerprint(&self.house, &dirty));
        self.save();
        self.publish();
        self.report.say("left; nothing is running. `cargo run -p guardian` goes on from here");
        Ok(())
    }
}
