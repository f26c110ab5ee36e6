//! Ends of lives and builds, and of the guardian: once all processes are gone, the evidence is collected and the blame decided.

use crate::act::build::Build;
use crate::act::executor::{End, Executor};
use crate::act::living::Life;
use crate::act::{controls, quotas, requests};
use crate::decide::blame::{self, Control, Judgement};
use crate::decide::vocabulary::{Blame, Event, Phase};
use crate::limits::LOG_TAIL_BYTES;
use anyhow::Result;
use house::{bounds, clock, files, interrupt};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use processes::child::{Occupant, Tree};
use processes::exits::{describe, memory_kills, signal};
use processes::hunt;
use repo::fit;
use serde_json::{Value, json};

impl Executor {
    /// Collects the exits of the creature and of builds.
    pub fn collect(&mut self) {
        let mut ended = hunt::reap();
        self.note_ends(&ended);
        let spare = self.spared();
        if let Some(Life { tree, exited: Some(status), .. }) = &self.living.life {
            let status = *status;
            ended.clear();
            let gone = tree.finish(&spare, &mut ended);
            self.note_ends(&ended);
            if gone {
                self.life_ended(status);
            }
        }
    }

    /// Processes that the sweep after a life spares: a build or tests beside it, and the owner's.
    pub fn spared(&self) -> Vec<Pid> {
        self.builder.running().chain(self.daemons.spared()).collect()
    }

    pub fn note_ends(&mut self, ended: &[(Pid, WaitStatus)]) {
        for (pid, status) in ended {
            if let Some(life) = self.living.life.as_mut().filter(|life| life.tree.pid == *pid) {
                life.exited = Some(life.tree.outcome(*status));
                // Processes the life left behind must not reach the broker.
                self.daemons.own.broker.tokens.revoke(&self.house, Occupant::Life);
            }
            if let Some(mut build) = self.builder.build.take_if(|build| build.tree.pid == *pid) {
                self.daemons.own.broker.tokens.revoke(&self.house, Occupant::Build);
                let status = build.tree.outcome(*status);
                self.build_ended(build, status);
            }
            if let Some(exam) = self.builder.exam.take_if(|exam| exam.tree.pid == *pid) {
                self.daemons.own.broker.tokens.revoke(&self.house, Occupant::Build);
                self.exam_ended(exam, *status);
            }
            self.with_daemons(|daemons, around| daemons.ended(*pid, *status, around));
        }
    }

    fn life_ended(&mut self, status: WaitStatus) {
        let phase = &self.decided.phase;
        let is_unborn = matches!(phase, Phase::Booting { .. })
            || matches!(phase, Phase::Probation { watch, .. } if watch.is_unborn());
        let claimed = self.living.heart.look(self.state.life).map(|claim| claim.turns).filter(|_| is_unborn);
        let unseen = claimed.map(|turns| self.living.turns_written(&self.house, turns));
        let Some(life) = self.living.life.take() else { return };
        // Only a new commit's first life is told which self-edit it came of.
        self.state.born = None;
        self.ladder.may_be_planted = true;
        // A heartbeat written just before the end still makes this a crash, not a stillbirth, and a turn in it a life; it
        // earns no trust.
        if let Some(turns) = unseen {
            self.hear(Event::Beat { turns, thought: false });
        }
        let evidence = blame::Evidence {
            signal: signal(status),
            memory_kills: memory_kills().saturating_sub(life.memory_kills),
            free_mib: quotas::tried_mib(&self.house),
            floor_mib: self.limits.disk_free_mib,
            overdue: matches!(self.decided.phase, Phase::Stopping { .. }),
            sheltered: self.living.walls.shelter(),
            folder_gone: life.bereft.is_some(),
        };
        let rebirth = matches!(status, WaitStatus::Exited(_, 0))
            && requests::read(&self.house).ok().flatten().is_some_and(|request| {
                request.is_rebirth_of(self.state.life) && request.id != self.state.request
            });
        self.end = End {
            cause: describe(status),
            lived_ms: self.clock.now().saturating_sub(life.began),
            log_tail: files::tail(&self.house.life_log(self.state.life), LOG_TAIL_BYTES),
        };
        self.hear(Event::Exited { blame: blame::death(&evidence), rebirth });
    }

    fn build_ended(&mut self, mut build: Build, status: WaitStatus) {
        // Processes a build script left running could influence a control run.
        self.finish_beside(&build.tree);
        if let Some(control) = build.asked.take() {
            build.answered(&self.house, control, status);
            return self.judge(build);
        }
        self.report.build_over();
        let clean = match self.ladder.is_clean() {
            // The comparison was interrupted, so it is unknown which source was built: build again.
            Err(_) if !build.beside => return self.hear(Event::Interrupted),
            clean => matches!(clean, Ok(Some(true))) || (!build.beside && self.put_lock_back()),
        };
        match build.finish(&self.house, status) {
            // The binary counts for the commit only if `creature/` was unchanged; a creature running beside may be
            // editing it.
            Some(path) if clean => {
                self.ladder.binaries.note(&path);
                self.builder.built = Some((build.of, path));
                if !build.beside {
                    self.hear(Event::BuildSucceeded);
                }
            }
            Some(_) if build.beside => {}
            Some(_) => {
                let name = self.ladder.first_dirty();
                let name = name.display();
                self.end = End {
                    cause: format!("creature/{name} changed while it was being built"),
                    ..End::default()
                };
                self.hear(Event::BuildFailed(Blame::Owner));
            }
            None if build.beside => {
                tracing::warn!("the blessed binary runs, but its source does not build now");
            }
            None => {
                let measured = &mut build.failure.measured;
                measured.signal = signal(status);
                measured.memory_kills = memory_kills().saturating_sub(build.memory_kills);
                measured.floor_mib = self.limits.disk_free_mib;
                build.failure.same_recipe = self.ladder.was_built_so(&build.of);
                self.judge(build);
            }
        }
    }

    /// Whether `creature/` is as committed once the lock file is put back, where that alone differs: cargo completes it
    /// by itself. What it made is kept under a ref.
    fn put_lock_back(&mut self) -> bool {
        self.ladder.is_lock_dirty() && self.tidy().is_ok() && matches!(self.ladder.is_clean(), Ok(Some(true)))
    }

    /// Ends processes that a build or tests left behind. Where they cannot be told from a running life's, only their
    /// process group is ended, and the rest together with that life.
    pub fn finish_beside(&mut self, tree: &Tree) {
        let mut ended = Vec::new();
        tree.finish(&self.spared_with_life(), &mut ended);
        self.note_ends(&ended);
    }

    /// Ends a build or tests at once, and revokes their token.
    pub fn end_beside(&mut self, tree: &Tree) {
        let mut ended = Vec::new();
        tree.end(&self.spared_with_life(), &mut ended);
        self.daemons.own.broker.tokens.revoke(&self.house, Occupant::Build);
        self.note_ends(&ended);
    }

    fn spared_with_life(&self) -> Vec<Pid> {
        self.living.life.iter().map(|life| life.tree.pid).chain(self.spared()).collect()
    }

    /// Blames a failed build; if that needs a control run, starts it, and is called again with its answer.
    fn judge(&mut self, mut build: Build) {
        build.failure.measured.folder_gone |= build.folder_gone(&self.house);
        let fault = match blame::build(&build.failure) {
            Judgement::Blamed(fault) => fault,
            Judgement::Ask(control) => match self.ask(&mut build, control) {
                Ok(()) => return self.builder.build = Some(build),
                Err(_) if build.folder_gone(&self.house) => Blame::Owner,
                Err(error) => {
                    tracing::warn!("{error:#}; whose fault a failed build is stays open");
                    Blame::Toolchain
                }
            },
        };
        controls::clear(&self.house);
        let gone = build.failure.measured.folder_gone;
        let cause = if gone { "its target folder was deleted" } else { "it does not build" };
        let log_tail = build.output.chars().take(LOG_TAIL_BYTES as usize).collect();
        self.end = End { cause: cause.into(), lived_ms: 0, log_tail };
        self.hear(Event::BuildFailed(fault));
    }

    fn ask(&mut self, build: &mut Build, control: Control) -> anyhow::Result<()> {
        let door = self.daemons.door(&self.house, None)?;
        build.ask(&self.house, &self.living, door, control)
    }

    /// Ends everything, and leaves what the next start goes on from.
    pub fn leave(&mut self) -> Result<()> {
        let spared: Vec<Pid> = self.daemons.spared().collect();
        if let Some(build) = self.builder.build.take() {
            build.tree.end(&spared, &mut Vec::new());
        }
        hunt::sweep(&spared, &mut Vec::new());
        self.daemons.end();
        hunt::sweep(&[], &mut Vec::new());
        interrupt::heard();
        self.ladder.clear_planted(&mut self.report);
        // If this cannot be compared now, the next start treats changes as the creature's, as after a kill.
        let dirty = self.ladder.repo.head().and_then(|head| self.ladder.repo.dirty(head)).ok();
        let dirty = dirty.filter(|_| !self.decided.record.untidy);
        self.state.left = dirty.map(|dirty| fit::fingerprint(&self.house, &dirty));
        self.save();
        self.publish();
        self.report.say("left; nothing is running. `cargo run -p guardian` goes on from here");
        Ok(())
    }
}

/// The record of an end, for the next life and for readers.
pub fn end(life: u64, commit: &str, ended: Value, blame: Value, end: &End) -> Value {
    json!({
        "at": clock::stamp(), "life": life, "commit": commit, "ended": ended,
        "cause": bounds::brief(&end.cause, bounds::TOLD_CHARS), "blame": blame,
        "lived_s": end.lived_ms as f64 / 1_000.0, "log_tail": end.log_tail,
    })
}
