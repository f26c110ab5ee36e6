//! The heart's loop: hears the owner, the steward and the kernel, has `course` decide, and acts.
//!
//! Invariant: one thread, which waits for nothing but events: no disk, no reader of the terminal, no child.

use crate::course::{Course, Does, Gone, Heard, Keeper, Phase};
use crate::held::{IDLE_LOOK_MS, LOOK_MS};
use crate::keeper::{self, Process};
use crate::kept::{Kept, Plan};
use crate::resident::{self, Pages};
use crate::watchdog::Watchdog;
use crate::wire::Said;
use crate::{LEAVE, aside, order};
use anyhow::{Context, Result};
use ground::clock::{Millis, running_ms};
use ground::{House, hunt, interrupt};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use std::fs::File;
use std::os::fd::AsFd;

/// Time between two sweeps for what is left of a tree.
const SWEEP_MS: Millis = 20;
/// Time a stand-in runs where no steward has said it.
const PARKED_MS: Millis = 10 * 60_000;
/// Time between two tries to write the state, or to read an order.
const RETRY_MS: Millis = 2_000;

struct Heart {
    house: House,
    plain: bool,
    course: Course,
    kept: Kept,
    /// When the state is written again, where it could not be.
    owes_at: Option<Millis>,
    /// The writer of the state that was not waited for to its end.
    writer: Option<Pid>,
    process: Option<Process>,
    look_at: Millis,
    /// Whether the running keeper has said a word: from then on a signal does not end it.
    heard: bool,
    /// Until its first steward has begun: what was run by then stays in memory.
    pages: Option<Pages>,
    order: bool,
    /// When the order that waits in its file is read, where it may be one to stop; and its reader, as the writer above.
    reads_at: Option<Millis>,
    reader: Option<Pid>,
    watchdog: Watchdog,
    /// Longest time between two waits for events.
    gap_ms: Millis,
}

/// Keeps lives until the owner wants to leave; returns the program's exit code. `_lock`: the house's, held meanwhile.
pub fn run(house: &House, plain: bool, _lock: File) -> Result<u8> {
    // Heard whatever the guardian was told to ignore: children that end, and the words of its own processes.
    for own in [Signal::SIGCHLD, Signal::SIGUSR1, LEAVE] {
        // SAFETY: the signal's default; no handler runs.
        #[allow(unsafe_code)]
        unsafe {
            signal(own, SigHandler::SigDfl)?;
        }
    }
    let wanted = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGUSR1, Signal::SIGCHLD];
    let numbers = interrupt::wanted(&wanted.map(|signal| signal as i32));
    let wanted: SigSet = wanted.into_iter().filter(|signal| numbers.contains(&(*signal as i32))).collect();
    wanted.thread_block().context("failed to hold signals back")?;
    let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
    let signals = SignalFd::with_flags(&wanted, flags).context("failed to listen for signals")?;
    resident::give_back();
    resident::rehearse();
    let pages = Pages::open();
    hunt::adopt_orphans()?;
    // Other processes may not inspect this one.
    prctl::set_dumpable(false)?;
    let (kept, moved) = Kept::load(house);
    moved.iter().for_each(|told| aside::say(told));
    let mut course = Course::new(PARKED_MS);
    if let Some(record) = &kept.record {
        course.goes_by(record);
    }
    let mut heart = Heart {
        house: house.clone(),
        plain,
        course,
        kept,
        owes_at: None,
        writer: None,
        process: None,
        look_at: Millis::MAX,
        heard: false,
        pages,
        order: false,
        reads_at: None,
        reader: None,
        watchdog: Watchdog::from_environment(),
        gap_ms: 0,
    };
    heart.go_round(&signals)
}

impl Heart {
    fn go_round(&mut self, signals: &SignalFd) -> Result<u8> {
        loop {
            let woke = running_ms();
            self.happen(Heard::Tick);
            self.sweep();
            if self.owes_at.is_some_and(|at| at <= woke) {
                self.save();
            }
            if self.reads_at.is_some_and(|at| at <= woke) {
                self.read_order(true);
            }
            self.watchdog.feed(woke);
            if let Phase::Left(code) = self.course.phase {
                return Ok(code);
            }
            self.note_gap(running_ms().saturating_sub(woke));
            self.wait(signals);
            let heard = self.process.as_ref().map(|process| process.line.hear()).unwrap_or_default();
            heard.into_iter().for_each(|said| self.hear(said));
            while let Ok(Some(signal)) = signals.read_signal() {
                self.take(signal.ssi_signo as i32);
            }
            self.collect();
            self.look();
        }
    }

    fn wait(&self, signals: &SignalFd) {
        let now = running_ms();
        let sweep = (self.course.kills(now) || self.is_over()).then_some(now + SWEEP_MS);
        let course = self.course.due().filter(|_| sweep.is_none());
        let due = [course, self.watchdog.due(), self.owes_at, self.reads_at, sweep];
        let looks = self.process.as_ref().map(|_| self.look_at);
        let until = due.into_iter().flatten().chain(looks).min().unwrap_or(Millis::MAX);
        let timeout = i32::try_from(until.saturating_sub(now)).unwrap_or(i32::MAX);
        let line = self.process.as_ref().map(|process| process.line.as_fd());
        let heard = [Some(signals.as_fd()), line].into_iter().flatten();
        let mut heard: Vec<PollFd> = heard.map(|heard| PollFd::new(heard, PollFlags::POLLIN)).collect();
        // After an interrupted or failed poll the loop only looks earlier.
        let _ = poll(&mut heard, PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX));
    }

    /// Has the course decide what follows from an event, and does it.
    fn happen(&mut self, heard: Heard) {
        let does = self.course.step(running_ms(), heard);
        does.into_iter().for_each(|does| self.carry_out(does));
    }

    fn carry_out(&mut self, does: Does) {
        match does {
            Does::Start(keeper, why) => self.start(keeper, why.as_deref()),
            Does::PassOn => self.process.iter().for_each(Process::pass_on_leave),
            Does::Ask => self.process.iter().for_each(Process::ask),
            Does::Tell { line, stands } => {
                aside::say(&line);
                if stands {
                    self.kept.told = line;
                    self.save();
                }
            }
            Does::Ready => self.watchdog.ready(),
        }
    }

    fn start(&mut self, keeper: Keeper, why: Option<&str>) {
        let started = match keeper {
            Keeper::Steward => keeper::steward(&self.house, self.plain, self.kept.life, why),
            Keeper::StandIn => {
                self.kept.life += 1;
                self.save();
                let plan = Plan::of(&self.kept).and_then(|plan| serde_json::to_string(&plan).ok());
                keeper::stand_in(&self.house, &plan.unwrap_or_default())
            }
        };
        (self.heard, self.look_at) = (false, running_ms() + LOOK_MS);
        match started {
            Ok(process) => self.process = Some(process),
            Err(error) => self.happen(Heard::Failed(format!("{error:#}"))),
        }
    }

    fn hear(&mut self, said: Said) {
        if !std::mem::replace(&mut self.heard, true)
            && let Some(process) = &self.process
        {
            process.line.tell_gap(self.gap_ms);
            if std::mem::take(&mut self.order) {
                process.pass_on_order();
            }
        }
        match &said {
            Said::Record(record) => {
                self.course.goes_by(record);
                self.change(|kept| kept.record = Some(record.clone()));
            }
            Said::Life { number, pid } => {
                let stand_in = if self.course.keeps(Keeper::StandIn) { *pid } else { 0 };
                self.change(|kept| (kept.life, kept.stand_in) = (kept.life.max(*number), stand_in));
            }
            Said::Ready if self.course.keeps(Keeper::Steward) => self.change(|kept| kept.told.clear()),
            Said::Waits { .. } => {
                if let (Some(pages), Some(process)) = (self.pages.take(), &self.process) {
                    process.look();
                    pages.keep();
                }
            }
            Said::Round { .. } | Said::On | Said::Ready => {}
        }
        self.happen(Heard::Said(said));
        let every = if self.course.held.waits { IDLE_LOOK_MS } else { LOOK_MS };
        self.look_at = running_ms() + every;
    }

    fn change(&mut self, change: impl FnOnce(&mut Kept)) {
        let before = self.kept.clone();
        change(&mut self.kept);
        if self.kept != before {
            self.save();
        }
    }

    fn save(&mut self) {
        self.owes_at = (!self.kept.save(&self.house, &mut self.writer)).then(|| running_ms() + RETRY_MS);
    }

    /// Takes a signal: of the owner's, or of a child that ended, which is collected below.
    fn take(&mut self, signal: i32) {
        match Signal::try_from(signal) {
            Ok(Signal::SIGUSR1) => {
                match (&self.process, self.heard) {
                    (Some(process), true) => process.pass_on_order(),
                    _ => self.order = true,
                }
                self.read_order(false);
            }
            Ok(Signal::SIGINT | Signal::SIGTERM | Signal::SIGHUP) => self.leaves(false),
            _ => {}
        }
    }

    /// Reads the order in its file, until it is known whether it is one to stop: a machine may be short of processes, a
    /// disk slow.
    fn read_order(&mut self, again: bool) {
        let stops = aside::work(&mut self.reader, || order::is_to_stop(&self.house));
        self.reads_at = stops.is_none().then(|| running_ms() + RETRY_MS);
        // A steward that began meanwhile passes over it.
        if stops == Some(true) && !(again && self.course.knows) {
            self.leaves(!again);
        }
    }

    fn leaves(&mut self, ordered: bool) {
        self.happen(Heard::Leave { ordered });
        self.look_at = self.look_at.min(running_ms() + LOOK_MS);
    }

    /// Collects what ended; of the keeper it is heard.
    fn collect(&mut self) {
        let mut ended = Vec::new();
        hunt::reap_into(&mut ended);
        for (pid, status) in ended {
            // Its number may come to be another child's.
            let _ = [&mut self.writer, &mut self.reader].map(|fork| fork.take_if(|fork| *fork == pid));
            let Some(process) = self.process.take_if(|process| process.pid == pid) else { continue };
            // It may have spoken just before its end.
            process.line.hear().into_iter().for_each(|said| self.hear(said));
            let gone = if let WaitStatus::Exited(_, code) = status {
                Gone::Exited(u8::try_from(code).unwrap_or(1))
            } else if let WaitStatus::Signaled(_, signal, _) = status {
                Gone::Killed(signal.as_str().into())
            } else {
                Gone::Killed(format!("{status:?}"))
            };
            self.happen(Heard::Gone(gone));
        }
    }

    /// Kills what is left of a tree that is to end, once it is time.
    fn sweep(&mut self) {
        let kills = self.course.kills(running_ms());
        if kills && hunt::kill_all_below() || self.is_over() && hunt::reap_into(&mut Vec::new()) {
            self.process = None;
            self.change(|kept| kept.stand_in = 0);
            self.happen(Heard::Swept);
        }
    }

    /// Whether the keeper is gone, and what it started may be ending by itself.
    fn is_over(&self) -> bool {
        self.process.is_none() && matches!(self.course.phase, Phase::Ends { .. })
    }

    /// Looks at a keeper that has said nothing for a while.
    fn look(&mut self) {
        let now = running_ms();
        let Some(process) = self.process.as_ref().filter(|_| now >= self.look_at) else { return };
        let look = process.look();
        self.happen(Heard::Looked(look));
        let every = if self.course.held.waits { IDLE_LOOK_MS } else { LOOK_MS };
        self.look_at = now + every;
    }

    fn note_gap(&mut self, gap_ms: Millis) {
        if gap_ms > self.gap_ms {
            self.gap_ms = gap_ms;
            self.process.iter().filter(|_| self.heard).for_each(|process| _ = process.line.tell_gap(gap_ms));
        }
    }
}
