//! Ends of lives and builds, and of the guardian: once all processes are gone, the evidence is collected and the blame decided.

use crate::act::around::Around;
use crate::act::build::Build;
use crate::act::executor::{End, Executor};
use crate::act::{controls, quotas, requests};
use crate::decide::blame::{self, Control, Judgement};
use crate::decide::vocabulary::{Blame, Death, Event, Phase, Why};
use crate::limits::LOG_TAIL_BYTES;
use anyhow::Result;
use house::moments::span;
use house::{bounds, clock, files, interrupt, records};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use processes::child::{Occupant, Tree};
use processes::exits::{describe, memory_kills, signal};
use processes::hunt;
use repo::{Version, fit};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

impl Executor {
    /// Collects the exits of the creature and of builds.
    pub fn collect(&mut self) {
        let mut ended = hunt::reap();
        self.note_ends(&ended);
        let spare = self.spared();
        if let Some(life) = &self.living.life
            && let Some(status) = life.exited
        {
            ended.clear();
            let gone = life.tree.finish(&spare, &mut ended);
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
                self.daemons.own.broker.tokens.revoke(&self.around.house, Occupant::Life);
            }
            if let Some(mut build) = self.builder.build.take_if(|build| build.tree.pid == *pid) {
                self.daemons.own.broker.tokens.revoke(&self.around.house, Occupant::Build);
                let status = build.tree.outcome(*status);
                self.build_ended(build, status);
            }
            if let Some(exam) = self.builder.exam.take_if(|exam| exam.tree.pid == *pid) {
                self.daemons.own.broker.tokens.revoke(&self.around.house, Occupant::Build);
                self.exam_ended(exam, *status);
            }
            self.daemons.ended(*pid, *status, &mut self.around);
        }
    }

    fn life_ended(&mut self, status: WaitStatus) {
        let phase = &self.around.decided.phase;
        let is_unborn = matches!(phase, Phase::Booting { .. })
            || matches!(phase, Phase::Probation { watch, .. } if watch.is_unborn());
        let claimed =
            self.living.heart.look(self.around.state.life).map(|claim| claim.turns).filter(|_| is_unborn);
        let unseen = claimed.map(|turns| self.living.turns_written(&self.around.house, turns));
        let Some(life) = self.living.life.take() else { return };
        // Only a new commit's first life is told which self-edit it came of.
        self.around.state.born = None;
        self.ladder.may_be_planted = true;
        // A heartbeat written just before the end still makes this a crash, not a stillbirth, and a turn in it a life; it
        // earns no trust.
        if let Some(turns) = unseen {
            self.heard.push_back(Event::Beat { turns, thought: false });
        }
        let evidence = blame::Evidence {
            signal: signal(status),
            memory_kills: memory_kills().saturating_sub(life.memory_kills),
            free_mib: quotas::tried_mib(&self.around.house),
            floor_mib: self.around.limits.disk_free_mib,
            overdue: matches!(self.around.decided.phase, Phase::Stopping { .. }),
            sheltered: self.living.walled.walls.shelter(),
            folder_gone: life.bereft.is_some(),
        };
        let rebirth = matches!(status, WaitStatus::Exited(_, 0))
            && requests::read(&self.around.house).ok().flatten().is_some_and(|request| {
                request.is_rebirth_of(self.around.state.life) && request.id != self.around.state.request
            });
        self.end = End {
            cause: self.cause(status),
            lived_ms: self.around.now().saturating_sub(life.began),
            log_tail: files::tail(&self.around.house.life_log(self.around.state.life), LOG_TAIL_BYTES),
        };
        self.heard.push_back(Event::Exited { blame: blame::death(&evidence), rebirth });
    }

    /// Says what a life ended of: of the silence it was ended for, else as the kernel tells it.
    fn cause(&self, status: WaitStatus) -> String {
        let Phase::Stopping { why: Why::Death(death), .. } = &self.around.decided.phase else {
            return describe(status);
        };
        let limits = &self.around.limits;
        let lasted = |ms| span(Duration::from_millis(ms));
        if *death == Death::Stillborn {
            return format!("no beat within {} of its start", lasted(limits.boot_ms));
        }
        let [beat, turn] = [limits.beat_ms, limits.standstill_ms].map(lasted);
        format!("no beat for {beat}, or no turn finished for {turn}")
    }

    fn build_ended(&mut self, mut build: Build, status: WaitStatus) {
        let _about = build.span.clone().entered();
        // Processes a build script left running could influence a control run.
        self.finish_beside(&build.tree);
        if let Some(control) = build.asked.take() {
            build.answered(&self.around.house, control, status);
            return self.judge(build);
        }
        self.around.report.build_over();
        let mut dirty = self.ladder.dirty();
        // Cargo completes a lock file by itself; what it made is kept under a ref.
        let is_lock = dirty.as_ref().is_ok_and(|dirty| dirty.iter().eq([Path::new("Cargo.lock")]));
        if is_lock && !build.beside && self.ladder.tidy(&mut self.around).is_ok() {
            dirty = self.ladder.dirty();
        }
        let dirty = match dirty {
            // The comparison was interrupted, so it is unknown which source was built: build again.
            Err(_) if !build.beside => return self.heard.push_back(Event::Interrupted),
            dirty => dirty.unwrap_or_else(|_| vec![PathBuf::new()]),
        };
        match build.finish(&self.around.house, status) {
            // The binary counts for the commit only if `creature/` was unchanged; a creature running beside may be
            // editing it.
            Some(path) if dirty.is_empty() => {
                self.ladder.binaries.note(&build.of, path);
                if !build.beside {
                    self.heard.push_back(Event::BuildSucceeded);
                }
            }
            Some(_) if build.beside => {}
            Some(_) => {
                let name = dirty.first().map(|path| path.display().to_string()).unwrap_or_default();
                let cause = format!("creature/{name} changed while it was being built");
                self.end = End { cause, ..End::default() };
                self.heard.push_back(Event::BuildFailed(Blame::Owner));
            }
            None if build.beside => {
                tracing::warn!("the blessed binary runs, but its source does not build now");
            }
            None => {
                let measured = &mut build.failure.measured;
                measured.signal = signal(status);
                measured.memory_kills = memory_kills().saturating_sub(build.memory_kills);
                measured.floor_mib = self.around.limits.disk_free_mib;
                build.failure.same_recipe = self.ladder.was_built_so(&build.of);
                self.judge(build);
            }
        }
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
        self.daemons.own.broker.tokens.revoke(&self.around.house, Occupant::Build);
        self.note_ends(&ended);
    }

    fn spared_with_life(&self) -> Vec<Pid> {
        self.living.life.iter().map(|life| life.tree.pid).chain(self.spared()).collect()
    }

    /// Blames a failed build; if that needs a control run, starts it, and is called again with its answer.
    fn judge(&mut self, mut build: Build) {
        build.failure.measured.folder_gone |= build.folder_gone(&self.around.house);
        let fault = match blame::build(&build.failure) {
            Judgement::Blamed(fault) => fault,
            Judgement::Ask(control) => match self.ask(&mut build, control) {
                Ok(()) => return self.builder.build = Some(build),
                Err(_) if build.folder_gone(&self.around.house) => Blame::Owner,
                Err(error) => {
                    tracing::warn!("{error:#}; whose fault a failed build is stays open");
                    Blame::Toolchain
                }
            },
        };
        controls::clear(&self.around.house);
        let gone = build.failure.measured.folder_gone;
        let cause = if gone { "its target folder was deleted" } else { "it does not build" };
        let log_tail = build.output.chars().take(LOG_TAIL_BYTES as usize).collect();
        self.end = End { cause: cause.into(), lived_ms: 0, log_tail };
        self.heard.push_back(Event::BuildFailed(fault));
    }

    fn ask(&mut self, build: &mut Build, control: Control) -> anyhow::Result<()> {
        let door = self.daemons.door(&self.around.house, None)?;
        build.ask(&self.around.house, &self.living.walled, door, control)
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
        self.ladder.may_be_planted = true;
        self.ladder.clear_planted(&mut self.around.report);
        // If this cannot be compared now, the next start treats changes as the creature's, as after a kill.
        let dirty = self.ladder.repo.head().and_then(|head| self.ladder.repo.dirty(head)).ok();
        let dirty = dirty.filter(|_| !self.around.decided.record.untidy);
        self.around.state.left = dirty.map(|dirty| fit::fingerprint(&self.around.house, &dirty));
        self.around.save();
        self.publish();
        self.around.report.say("left; nothing is running. `cargo run -p guardian` goes on from here");
        Ok(())
    }
}

/// Writes down the end of a life or build, and tells the owner.
pub fn bury(around: &mut Around, version: Option<Version>, end: &End, death: Death, blame: Blame) {
    let life = around.state.life + u64::from(death == Death::BuildFailed);
    let end = json!({
        "at": clock::stamp(), "life": life,
        "commit": version.map(|version| version.commit.to_string()).unwrap_or_default(), "ended": death,
        "cause": bounds::brief(&end.cause, bounds::TOLD_CHARS), "blame": blame,
        "lived_s": end.lived_ms as f64 / 1_000.0, "log_tail": end.log_tail,
    });
    records::bury(&around.house, &end);
    around.report.death(&end);
    if blame == Blame::Disk {
        let free_mib = quotas::tried_mib(&around.house);
        around.report.warn(&quotas::full_disk(free_mib, around.limits.disk_free_mib));
    }
    around.state.tell_end(end);
    around.save();
}
