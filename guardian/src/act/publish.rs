//! Publishes what stands, `guardian.json`: for the creature, for readers and for programs.

use crate::act::executor::Executor;
use crate::decide::vocabulary::{Exam, Pending, Phase, Want};
use crate::limits::DOCUMENT_BYTES;
use crate::steward;
use heart::wire::Record;
use house::clock::{self, Millis};
use house::moments::span;
use house::terminal::typed;
use house::{bounds, files};
use serde_json::json;
use std::time::Duration;

impl Executor {
    /// Writes `guardian.json`, for the creature and for readers.
    pub fn publish(&mut self) {
        if self.state.order_under_way == "pause" && self.decided.phase == Phase::Paused {
            self.state.order_came_to(true, format!("paused; nothing lives until `{}`", typed("resume")));
        }
        // The heart before the page: what is told as blessed can stand in, whenever this is killed.
        let life = self.living.life.as_ref().filter(|life| life.exited.is_none());
        steward::records(self.record(), self.state.life, life.map_or(0, |life| life.tree.pid.as_raw()));
        if let Err(error) = self.write_published() {
            self.owe(&error);
        }
    }

    /// Returns what a blessed version needs to run without this steward.
    fn record(&self) -> Record {
        let (blessed, condemned) = self.ladder.on_record();
        let (grace_ms, parked_ms) = (self.limits.grace_ms, self.limits.parked_ms);
        Record { walls: self.settings.asked.clone(), grace_ms, parked_ms, blessed, condemned }
    }

    pub fn write_published(&self) -> anyhow::Result<()> {
        let alive = self.living.life.as_ref().filter(|life| life.exited.is_none());
        let proves_nothing = self.decided.record.safe.is_some() || self.decided.stands_in();
        let blessed = matches!(self.decided.phase, Phase::Settled { .. }) && !proves_nothing;
        let last_good =
            self.ladder.repo.rungs().ok().and_then(|rungs| Some(rungs.last()?.version.commit.to_string()));
        let gone = self.decided.phase == Phase::Done;
        let document = json!({
            "version": 1, "at": clock::stamp(), "guardian_pid": (!gone).then(steward::heart_pid),
            "creature_pid": alive.map(|life| life.tree.pid.as_raw()), "phase": phase_name(&self.decided.phase),
            "want": match self.decided.record.want { Want::Keep => "keep", Want::Pause => "pause", Want::Leave => "leave" },
            "life": self.state.life, "commit": self.state.commit, "tree": self.state.tree, "blessed": blessed, "unproven": self.daemons.own.broker.tokens.unproven,
            "safe": self.decided.record.safe.is_some(), "last_good": last_good, "mind": self.living.mind(),
            "note": self.note(), "broker": self.daemons.broker_told(), "walls": self.living.walls.level.summary(), "wall_features": self.living.walls.level.as_json(), "born": self.state.born.as_ref().map(|summary| json!({"summary": summary})),
            "longest_gap_ms": steward::longest_gap_ms(), "longest_step_ms": steward::longest_step_ms(),
            "order": self.state.order, "order_outcome": self.state.order_outcome, "ends": self.state.ends, "falls": self.state.falls, "answers": self.state.answers,
        });
        let text = bounds::fitted(document, DOCUMENT_BYTES, |document| format!("{document:#}\n"));
        let path = self.house.published();
        let written = files::replace_unsynced(&path, text.as_bytes());
        // Anything in the file's place, such as a folder, is moved aside. Where no new file can be made, the page is written
        // over: better torn for a moment than a dead creature told as alive.
        let written = written.or_else(|_| files::replace(&path, text.as_bytes()));
        written.or_else(|error| files::write_over(&path, text.as_bytes()).map_err(|_| error))
    }

    fn note(&self) -> String {
        let falling = self.state.falling.as_ref().filter(|falling| !falling.hindrance.is_empty());
        let falling = falling.filter(|_| matches!(self.decided.record.pending, Some(Pending::Fall(_))));
        let hindrance = falling.map(|falling| format!("not put back yet: {}", falling.hindrance));
        let parts = [Some(self.phase_note()), hindrance, Some(self.mistakes())];
        let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        parts.join("; ")
    }

    /// Lists the mistakes for which the owner's settings or purpose are not followed.
    pub fn mistakes(&self) -> String {
        let report = &self.report;
        let all = [&report.mistake, &report.unhanded, &report.purpose_unread, &self.living.heart.claim.odd]
            .map(String::as_str);
        let all: Vec<&str> = all.into_iter().filter(|mistake| !mistake.is_empty()).collect();
        all.join("; ")
    }

    fn phase_note(&self) -> String {
        let now = self.clock.now();
        let wait = |until: Millis| span(Duration::from_millis(until.saturating_sub(now)));
        match &self.decided.phase {
            Phase::Building { .. } => "building the creature".into(),
            Phase::Booting { .. } => "waiting for the first beat".into(),
            Phase::Probation { exam: Exam::Runs { .. }, .. } => "alive, its tests run".into(),
            Phase::Probation { exam: Exam::Waits { until }, .. } => {
                format!("alive, not yet trusted; its tests run again in {}", wait(*until))
            }
            Phase::Probation { .. } => "alive, not yet trusted".into(),
            Phase::Settled { .. } if self.decided.record.safe.is_some() => "alive in safe mode".into(),
            Phase::Settled { .. } if self.decided.stands_in() => {
                "a kept binary stands in until creature/ can be put back".into()
            }
            Phase::Settled { .. } => "alive and trusted".into(),
            Phase::Stopping { .. } => "ending this life".into(),
            Phase::RollingBack => "putting the creature back".into(),
            Phase::Resting { .. } if !self.report.edits_told.is_empty() => {
                format!("nothing is started: {}", self.report.edits_told)
            }
            Phase::Resting { until } => format!("resting {} before the next life", wait(*until)),
            Phase::Parked { until } => format!("parked: nothing lives; trying again in {}", wait(*until)),
            Phase::Paused => format!("paused by the owner; `{}` goes on", typed("resume")),
            Phase::Done => "not running".into(),
        }
    }
}

pub fn phase_name(phase: &Phase) -> &'static str {
    match phase {
        Phase::Building { .. } => "building",
        Phase::Booting { .. } => "booting",
        Phase::Probation { .. } => "probation",
        Phase::Settled { .. } => "settled",
        Phase::Stopping { .. } => "stopping",
        Phase::RollingBack => "rolling_back",
        Phase::Resting { .. } => "resting",
        Phase::Parked { .. } => "parked",
        Phase::Paused => "paused",
        Phase::Done => "done",
    }
}
