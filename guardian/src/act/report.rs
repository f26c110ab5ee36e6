//! What people see: a screen at a terminal, plain log lines elsewhere, `guardian.json` for programs.
//!
//! Invariant: no failure here stops the guardian: a closed terminal is no error.

use crate::act::executor::Executor;
use crate::act::first_minutes::{NAMES, Progress, bar};
use crate::decide::vocabulary::{Exam, Pending, Phase, Want};
use crate::limits::DOCUMENT_BYTES;
use crate::stall;
use house::clock::{self, Millis};
use house::moments::span;
use house::terminal::{self, Row, Screen, typed};
use house::{bounds, broker_page, files, printable, records};
use serde_json::{Value, json};
use std::time::Duration;

/// Time between two frames of the build bar.
const FRAME_MS: Millis = 150;

pub struct Report {
    pub(super) screen: Screen,
    /// The most crates the build under way can come to, and when it began.
    building: Option<(usize, Millis)>,
    /// The last warning, so that it is not repeated.
    said: String,
    facts_shown: bool,
}

impl Report {
    pub fn open() -> Self {
        Self { screen: Screen::open(), building: None, said: String::new(), facts_shown: false }
    }

    pub fn say(&mut self, text: &str) {
        if self.screen.is_terminal() { self.tell("guardian", "1", text) } else { tracing::info!("{text}") }
    }

    pub fn warn(&mut self, text: &str) {
        if self.screen.is_terminal() { self.tell("warning", "33", text) } else { tracing::warn!("{text}") }
    }

    pub(super) fn tell(&mut self, tag: &'static str, paint: &'static str, text: &str) {
        self.screen.show(&Row::now(tag, paint, &printable::without_codes(text)));
    }

    /// Warns, unless the last warning was the same.
    pub fn once(&mut self, text: &str) {
        if self.said != text {
            self.said = text.to_owned();
            self.warn(text);
        }
    }

    pub fn build_begins(&mut self, commit: &str, packages: usize, now: Millis) {
        if self.screen.is_terminal() {
            self.building = Some((packages, now));
        } else {
            tracing::info!(%commit, "building the creature; the first build takes some minutes");
        }
    }

    pub fn build_frame_ms(&self) -> Option<Millis> {
        self.building.as_ref().map(|_| FRAME_MS)
    }

    pub fn building(&mut self, done: usize, last: &str, now: Millis) {
        let Some((most, began)) = self.building else { return };
        let bar = bar(&Progress { done, most, last, passed_ms: now.saturating_sub(began) });
        self.screen.frame(&bar.each_ref().map(String::as_str));
    }

    pub fn build_over(&mut self) {
        if self.building.take().is_some() {
            self.screen.clear_frame();
        }
    }

    pub fn lives(&mut self, life: u64, commit: &str, kept: bool, safe: bool) {
        self.said.clear();
        let how = if kept { "from its kept binary" } else { "by cargo run" };
        let safe = if safe { ", in safe mode: no memory, no tools but talking" } else { "" };
        self.say(&format!("life {life} begins at {commit}, {how}{safe}"));
    }

    pub fn commit(&mut self, who: &str, commit: &str, summary: &str, stat: (usize, usize, usize)) {
        let (files, added, removed) = stat;
        self.say(&format!("commit {commit} by {who}: {summary} ({files} files, +{added} -{removed})"));
    }

    pub fn death(&mut self, end: &Value) {
        let [ended, cause, blame] = ["ended", "cause", "blame"].map(|name| records::text(end, name));
        let life = end.get("life").and_then(Value::as_u64).unwrap_or_default();
        self.warn(&format!("life {life} ended: {} ({cause}; blamed on {blame})", ended.replace('_', " ")));
        let tail = records::text(end, "log_tail").lines().rev().take(6).collect::<Vec<_>>();
        for line in tail.into_iter().rev() {
            self.warn(&format!("  | {line}"));
        }
    }

    /// `is_asked`: the owner ordered it.
    pub fn fall(&mut self, message: &str, is_asked: bool, fallen: Option<&str>, rescued: Option<&str>) {
        let kept = fallen.map(|name| format!("; what fell is kept as {name}")).unwrap_or_default();
        let work = rescued.map(|name| format!("; unfinished edits as {name}")).unwrap_or_default();
        let told = format!("{}{kept}{work}", message.trim_start_matches("guardian: "));
        if is_asked { self.say(&told) } else { self.warn(&told) }
    }
}

impl Executor {
    /// The first screen, shown once the first creature of this run beats.
    pub fn show_facts(&mut self) {
        let said = !self.mind().is_empty() || matches!(self.decided.phase, Phase::Settled { .. });
        if !self.report.screen.is_terminal() || self.report.facts_shown || !said {
            return;
        }
        self.report.facts_shown = true;
        let last_good = files::tail(&self.house.last_good(), 64);
        let short = |commit: &str| commit.chars().take(7).collect::<String>();
        let branch = self.repo.branch().unwrap_or_default();
        let mind = if self.mind().is_empty() { "not said yet" } else { self.mind() };
        let told = self.broker.told();
        let facts = [
            ("life", format!("{} at {} on {branch}", self.state.life, short(&self.state.commit))),
            ("last_good", short(&last_good)),
            ("mind", mind.to_owned()),
            ("mistake", self.mistakes()),
            // Before the first life of all the opening screen told them.
            ("walls", if self.state.life > 1 { self.walls.level.told() } else { String::new() }),
        ];
        let steer = match self.console.has_window() {
            // All commands stand in its /help.
            true => vec![("stop", "Ctrl-C here".to_owned())],
            false => vec![
                ("steer", format!("edit PURPOSE.md, or: {}", typed("say 'a word to it'"))),
                ("observe", format!("here, or: {}", typed("window"))),
                ("history", typed("history")),
                ("undo", typed("rollback")),
                ("stop", format!("Ctrl-C here, or: {}", typed("stop"))),
            ],
        };
        let more = steer.into_iter().chain([("next", self.next_built())]);
        let facts = facts.into_iter().chain(broker_page::lines(&self.house, Some(&told))).chain(more);
        self.report.screen.gap();
        let facts = facts.filter(|(_, text)| !text.is_empty());
        facts.for_each(|(name, text)| terminal::beside("1", &format!("  {name}"), NAMES, &text));
        self.report.screen.gap();
        self.show_memory();
    }

    /// Writes `guardian.json`, for the creature and for readers.
    pub fn publish(&mut self) {
        if self.state.order_under_way == "pause" && self.decided.phase == Phase::Paused {
            self.state.order_came_to(true, format!("paused; nothing lives until `{}`", typed("resume")));
        }
        if let Err(error) = self.write_published() {
            self.owe(&error);
        }
    }

    pub fn write_published(&self) -> anyhow::Result<()> {
        let alive = self.life.as_ref().filter(|life| life.exited.is_none());
        let proves_nothing = self.decided.record.safe.is_some() || self.decided.stands_in();
        let blessed = matches!(self.decided.phase, Phase::Settled { .. }) && !proves_nothing;
        let last_good =
            self.repo.rungs().ok().and_then(|rungs| Some(rungs.last()?.version.commit.to_string()));
        let gone = self.decided.phase == Phase::Done;
        let document = json!({
            "version": 1, "at": clock::stamp(), "guardian_pid": (!gone).then(std::process::id),
            "creature_pid": alive.map(|life| life.tree.pid.as_raw()), "phase": phase_name(&self.decided.phase),
            "want": match self.decided.record.want { Want::Keep => "keep", Want::Pause => "pause", Want::Leave => "leave" },
            "life": self.state.life, "commit": self.state.commit, "tree": self.state.tree, "blessed": blessed, "unproven": self.broker.tokens.unproven,
            "safe": self.decided.record.safe.is_some(), "last_good": last_good, "mind": self.mind(),
            "note": self.note(), "broker": self.broker.told(), "walls": self.walls.level.summary(), "wall_features": self.walls.level.as_json(), "born": self.state.born.as_ref().map(|summary| json!({"summary": summary})),
            "longest_gap_ms": stall::longest_gap_ms(), "longest_step_ms": stall::longest_step_ms(),
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

    /// The model the running life has named; empty until then.
    fn mind(&self) -> &str {
        let lives = self.life.as_ref().is_some_and(|life| life.exited.is_none());
        if lives { &self.heart.claim.mind } else { "" }
    }

    fn note(&self) -> String {
        let falling = self.state.falling.as_ref().filter(|falling| !falling.hindrance.is_empty());
        let falling = falling.filter(|_| matches!(self.decided.record.pending, Some(Pending::Fall(_))));
        let hindrance = falling.map(|falling| format!("not put back yet: {}", falling.hindrance));
        let parts = [Some(self.phase_note()), hindrance, Some(self.mistakes())];
        let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        parts.join("; ")
    }

    /// What is not followed of the owner's settings and purpose, and why.
    fn mistakes(&self) -> String {
        let all = [&self.mistake, &self.purpose_unread, &self.heart.claim.odd].map(String::as_str);
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
            Phase::Resting { .. } if !self.edits_told.is_empty() => {
                format!("nothing is started: {}", self.edits_told)
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
