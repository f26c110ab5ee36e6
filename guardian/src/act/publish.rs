//! Publishes what stands, `guardian.json`: for the creature, for readers and for programs.

use crate::act::around::Around;
use crate::act::executor::Executor;
use crate::act::living::Living;
use crate::decide::vocabulary::{Exam, Pending, Phase};
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
    /// Writes `guardian.json`, for the creature and for readers; tells the heart what a blessed version needs to run
    /// without this steward.
    pub fn publish(&mut self) {
        self.around.is_news = false;
        let (last_good, blessed) = self.ladder.on_record();
        let Around { settings, limits, state, .. } = &self.around;
        let (walls, grace_ms, parked_ms) = (settings.asked.clone(), limits.grace_ms, limits.parked_ms);
        let record = Record { walls, grace_ms, parked_ms, blessed };
        // Told first: what is published as blessed can stand in, even if this steward is killed at once.
        steward::records(record, state.life, self.living.pid().unwrap_or_default());
        if let Err(error) = self.write_published(last_good.as_deref()) {
            self.around.owe(&error);
        }
    }

    pub fn write_published(&self, last_good: Option<&str>) -> anyhow::Result<()> {
        let Around { decided, state, .. } = &self.around;
        let (broker, walls) = (&self.daemons.own.broker, &self.living.walled.walls.level);
        let proves_nothing = decided.record.safe.is_some() || decided.stands_in();
        let blessed = matches!(decided.phase, Phase::Settled { .. }) && !proves_nothing;
        let gone = decided.phase == Phase::Done;
        let mut document = json!({
            "version": 1, "at": clock::stamp(), "guardian_pid": (!gone).then(steward::heart_pid),
            "creature_pid": self.living.pid(), "phase": phase_name(&decided.phase),
            "want": decided.record.want, "life": state.life, "commit": state.commit, "tree": state.tree,
            "blessed": blessed, "unproven": broker.tokens.unproven, "safe": decided.record.safe.is_some(),
            "last_good": last_good, "mind": self.living.mind(), "note": note(&self.around, &self.living),
            "broker": self.daemons.broker_told(&self.around), "walls": walls.summary(), "wall_features": walls.as_json(),
            "born": state.born.as_ref().map(|summary| json!({"summary": summary})),
            "longest_gap_ms": steward::longest_gap_ms(), "longest_step_ms": steward::longest_step_ms(),
            "order": state.order, "order_outcome": state.order_outcome,
            "ends": state.ends, "falls": state.falls, "answers": state.answers,
        });
        let channels = self.daemons.channels_told(&self.around);
        if let Some(fields) = document.as_object_mut().filter(|_| !channels.is_null()) {
            fields.insert("channels".into(), channels);
        }
        let text = bounds::fitted(document, DOCUMENT_BYTES, |document| format!("{document:#}\n"));
        let path = self.around.house.published();
        let written = files::replace_unsynced(&path, text.as_bytes());
        // Anything in the file's place, such as a folder, is moved aside. Where no new file can be made, the page is written
        // over: better torn for a moment than a dead creature told as alive.
        let written = written.or_else(|_| files::replace(&path, text.as_bytes()));
        written.or_else(|error| files::write_over(&path, text.as_bytes()).map_err(|_| error))
    }
}

/// Joins the parts of a sentence that there are.
fn joined<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

fn note(around: &Around, living: &Living) -> String {
    let falls = matches!(around.decided.record.pending, Some(Pending::Fall(_)));
    let hindrance = around.state.falling.iter().filter(|_| falls).map(|falling| &falling.hindrance);
    let hindrance = hindrance.filter(|why| !why.is_empty()).map(|why| format!("not put back yet: {why}"));
    let hindrance: String = hindrance.collect();
    joined([phase_note(around).as_str(), &hindrance, &mistakes(around, living)])
}

/// Lists the mistakes for which the owner's settings or purpose are not followed.
pub fn mistakes(around: &Around, living: &Living) -> String {
    let report = &around.report;
    let all = [&report.mistake, &report.unhanded, &report.purpose_unread, &living.heart.claim.odd];
    joined(all.map(String::as_str))
}

fn phase_note(around: &Around) -> String {
    let wait = |until: Millis| span(Duration::from_millis(until.saturating_sub(around.now())));
    match &around.decided.phase {
        Phase::Building { .. } => "building the creature".into(),
        Phase::Booting { .. } => "waiting for the first beat".into(),
        Phase::Probation { exam: Exam::Runs { .. }, .. } => "alive, its tests run".into(),
        Phase::Probation { exam: Exam::Waits { until }, .. } => {
            format!("alive, not yet trusted; its tests run again in {}", wait(*until))
        }
        Phase::Probation { .. } => "alive, not yet trusted".into(),
        Phase::Settled { .. } if around.decided.record.safe.is_some() => "alive in safe mode".into(),
        Phase::Settled { .. } if around.decided.stands_in() => {
            "a kept binary stands in until creature/ can be put back".into()
        }
        Phase::Settled { .. } => "alive and trusted".into(),
        Phase::Stopping { .. } => "ending this life".into(),
        Phase::RollingBack => "putting the creature back".into(),
        Phase::Resting { .. } if !around.report.edits_told.is_empty() => {
            format!("nothing is started: {}", around.report.edits_told)
        }
        Phase::Resting { until } => format!("resting {} before the next life", wait(*until)),
        Phase::Parked { until } => format!("parked: nothing lives; trying again in {}", wait(*until)),
        Phase::Paused => format!("paused by the owner; `{}` goes on", typed("resume")),
        Phase::Done => "not running".into(),
    }
}

fn phase_name(phase: &Phase) -> &'static str {
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
