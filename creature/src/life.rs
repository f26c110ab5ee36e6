//! The one loop: sense, think, act, remember, rest.
//!
//! Invariant: a mind that is down, a garbled reply and a failing tool are records and rests, never an
//! end. What ends a life: the guardian's wish, a rebirth, a memory that cannot be written, a panic.

use crate::birth::LOOK_BACK;
use crate::config::{Settings, Told};
use crate::digest::Facts;
use crate::fault::Fault;
use crate::heartbeat::{Heart, Stage};
use crate::last_words::guarded;
use crate::mind::moment::{Moment, Word};
use crate::mind::thought::{Thought, ToolCall};
use crate::mind::{Mind, Outcome, context};
use crate::senses::cursors::Cursors;
use crate::senses::watch::Watch;
use crate::senses::{budget, papers};
use crate::setbacks::Setbacks;
use crate::tools::{Toolbox, failure};
use memory::{Record, snapshot};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Thoughts in one wake, whatever a mind wants.
const MOST_ROUNDS: u32 = 8;

/// Thoughts between snapshots.
const SNAPSHOT_EVERY: u64 = 50;

/// Thoughts after which an unanswered word is taken for unanswerable.
const MOST_SEEN: u32 = 10;

/// Characters of arguments and of a monologue that stay in a record.
const MOST_ARGS: usize = 4_000;
const MOST_MONOLOGUE: usize = 8_000;

/// A life from birth to end.
pub struct Life {
    pub told: Told,
    pub mind: Mind,
    pub cursors: Cursors,
    pub toolbox: Toolbox,
    pub(crate) heart: Heart,
    pub(crate) settings: Settings,
    watch: Watch,
    /// Words in memory already, where the inbox cursor was lost.
    pub(crate) heard: Vec<Word>,
    /// What the broker last said: the model it offers, and how much waits for the owner.
    pub(crate) offer: Value,
    pub(crate) asks_waiting: u64,
    purpose_changed: bool,
    setbacks: Setbacks,
    /// What was observed last, by subject: told once, not every wake.
    observed: BTreeMap<&'static str, String>,
}

/// What follows a wake.
pub enum Next {
    Rest(Duration),
    Reborn(String),
    Leave,
}

/// The guardian's wish that this life ends.
pub trait Leaving {
    /// Completes once it is wished; safe to drop and call again.
    fn asked(&mut self) -> impl Future<Output = ()>;
}

impl Life {
    #[allow(clippy::too_many_arguments)] // Called once, by birth.
    pub(crate) fn new(
        told: Told,
        settings: Settings,
        toolbox: Toolbox,
        mind: Mind,
        heart: Heart,
        cursors: Cursors,
        watch: Watch,
        heard: Vec<Word>,
    ) -> Self {
        Self {
            told,
            mind,
            cursors,
            toolbox,
            heart,
            settings,
            watch,
            heard,
            offer: Value::Null,
            asks_waiting: 0,
            purpose_changed: false,
            setbacks: Setbacks::default(),
            observed: BTreeMap::new(),
        }
    }

    /// Lives until it is asked to leave or is to be born again; the exit status is 0 for both.
    pub async fn live(mut self, leaving: &mut impl Leaving) -> Result<(), Fault> {
        loop {
            let rest = match self.wake(leaving).await? {
                Next::Rest(rest) => rest,
                Next::Leave => return self.leave(),
                Next::Reborn(summary) => match self.reborn(&summary, leaving).await? {
                    true => return Ok(()),
                    false => self.clamped(0),
                },
            };
            self.heart.stage(Stage::Resting, rest + Duration::from_secs(15));
            tokio::select! {
                biased;
                () = leaving.asked() => return self.leave(),
                changed = self.watch.rest(rest) => {
                    if let Some(name) = changed {
                        tracing::info!("rest cut short: {name} changed");
                    }
                }
            }
        }
    }

    /// One wake: up to eight thoughts with no rest between.
    pub async fn wake(&mut self, leaving: &mut impl Leaving) -> Result<Next, Fault> {
        self.cursors.wakes += 1;
        let beat = json!({"wake": self.cursors.wakes, "thoughts": self.cursors.thoughts});
        self.remember("heartbeat", beat)?;
        self.heart.stage(Stage::Sensing, Duration::from_secs(30));
        tokio::select! {
            biased;
            () = leaving.asked() => return Ok(Next::Leave),
            looked = self.look_out() => looked?,
        }
        for round in 0..MOST_ROUNDS {
            self.heart.stage(Stage::Sensing, Duration::from_secs(30));
            let moment = self.sense(round)?;
            self.heart.stage(Stage::Thinking, self.mind.patience() + Duration::from_secs(10));
            let outcome = tokio::select! {
                biased;
                () = leaving.asked() => return Ok(Next::Leave),
                outcome = self.mind.think(&moment) => outcome,
            };
            self.heart.stage(Stage::Remembering, Duration::from_secs(60));
            let next = match outcome {
                Outcome::Thought { thought, usage } => self.thought(thought, usage, round, leaving).await?,
                Outcome::Garbled { error, text, usage } => {
                    tracing::warn!("garbled reply: {}", context::shorten(&error, 300));
                    self.remember(
                        "thought",
                        json!({
                            "mind": self.mind.name(), "thought": self.cursors.thoughts + 1, "garbled": true,
                            "error": error, "text": context::shorten(&text, MOST_ARGS), "usage": usage,
                        }),
                    )?;
                    let rest_s = self.setbacks.garbled();
                    Some(Next::Rest(self.clamped(rest_s)))
                }
                Outcome::Down { error, hint, rest_s } => {
                    let (rest_s, tell) = self.setbacks.down(&error, rest_s);
                    tracing::warn!(
                        "the mind is down, next try in {rest_s} s: {}",
                        context::shorten(&error, 300)
                    );
                    if tell {
                        let text =
                            format!("{} is down: {}", self.mind.name(), context::shorten(&error, 1_000));
                        let record = json!({"about": "model", "text": text, "hint": hint, "rest_s": rest_s});
                        self.remember("observation", record)?;
                    }
                    Some(Next::Rest(Duration::from_secs(rest_s)))
                }
            };
            self.heart.turn();
            self.save()?;
            if let Some(next) = next {
                return Ok(next);
            }
        }
        Ok(Next::Rest(self.clamped(0)))
    }

    /// Everything a mind is given, read now.
    pub fn sense(&mut self, round: u32) -> Result<Moment, Fault> {
        let house = self.told.house.clone();
        self.watch.know();
        self.hear()?;
        self.hear_outcomes()?;
        let money = budget::read(&house.budget());
        self.observe("budget", &money.alarm)?;
        let purpose = papers::read(&house.purpose());
        let mark = purpose.mark();
        if mark != self.cursors.purpose {
            if !self.cursors.purpose.is_empty() {
                self.purpose_changed = true;
                let text = "PURPOSE.md changed";
                self.remember("observation", json!({"about": "purpose", "text": text, "mark": mark}))?;
            }
            self.cursors.purpose = mark;
        }
        self.observe("purpose", &purpose.odd)?;
        let checklist = papers::read(&house.checklist());
        self.observe("checklist", &checklist.odd)?;
        let records = match self.told.safe {
            true => Vec::new(),
            false => memory::tail(&house.memory(), LOOK_BACK.0, LOOK_BACK.1)
                .inspect_err(|error| tracing::warn!("failed to {error}"))
                .map_or(Vec::new(), |tail| tail.records),
        };
        let snapshot = match self.told.safe {
            true => None,
            false => snapshot::latest(&house.snapshots()).ok().flatten().map(|found| found.text),
        };
        Ok(Moment {
            now: self.told.clock.text(),
            life: self.told.life,
            commit: self.told.commit.clone(),
            safe: self.told.safe,
            rehearsal: self.told.rehearsal,
            thoughts_before: self.cursors.thoughts,
            round,
            purpose: purpose.text,
            purpose_changed: self.purpose_changed,
            checklist: checklist.text,
            scratch: papers::read(&house.papers().join("scratch.md")).text,
            words: self.cursors.words.iter().map(|waiting| waiting.word.clone()).collect(),
            news: self.cursors.news.clone(),
            snapshot,
            records,
            rest_s: (self.settings.rest.shortest_s, self.settings.rest.longest_s),
            budget: money.line,
            asks_waiting: self.asks_waiting,
        })
    }

    /// Remembers a thought and does what it says; none asks for another round.
    pub(crate) async fn thought(
        &mut self,
        thought: Thought,
        usage: Value,
        round: u32,
        leaving: &mut impl Leaving,
    ) -> Result<Option<Next>, Fault> {
        let number = self.cursors.thoughts + 1;
        let calls: Vec<Value> = thought
            .tool_calls
            .iter()
            .map(|call| json!({"tool": call.tool, "args": args(call, 400)}))
            .collect();
        tracing::info!("thought {number}: {}", context::shorten(&thought.intent, 200));
        let record = json!({
            "mind": self.mind.name(), "thought": number, "wake": self.cursors.wakes, "round": round,
            "monologue": context::shorten(&thought.monologue, MOST_MONOLOGUE),
            "intent": context::shorten(&thought.intent, MOST_MONOLOGUE),
            "tool_calls": calls, "sleep_s": thought.sleep_s, "usage": usage,
        });
        self.remember("thought", record)?;
        self.cursors.thoughts = number;
        self.heart.thought();
        self.cursors.news.clear();
        self.cursors.words.iter_mut().for_each(|waiting| waiting.seen += 1);
        self.cursors.words.retain(|waiting| waiting.seen < MOST_SEEN);
        self.purpose_changed = false;
        if self.setbacks.over() {
            let text = format!("{} answers again", self.mind.name());
            self.remember("observation", json!({"about": "model", "text": text}))?;
        }
        // Saved before acting: a tool that kills this life must not make the next one hear of old deaths.
        self.save()?;
        for call in &thought.tool_calls {
            if self.toolbox.rebirth.is_some() {
                // It could change a tree that was rehearsed as it is.
                let why = format!("{} was not run: a rebirth comes first", call.tool);
                self.acted(call, number, failure(why, "call it in the next life"))?;
            } else if self.act(call, number, leaving).await? {
                return Ok(Some(Next::Leave));
            }
        }
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        if !self.told.safe && self.cursors.thoughts >= self.cursors.snapshot_at + SNAPSHOT_EVERY {
            self.keep_snapshot()?;
        }
        if let Some(rebirth) = self.toolbox.rebirth.take() {
            return Ok(Some(Next::Reborn(rebirth.summary)));
        }
        // What the owner decided meanwhile is not slept over.
        self.hear_outcomes()?;
        let sleep_s = if self.cursors.news.is_empty() { thought.sleep_s } else { thought.sleep_s.min(1) };
        Ok((sleep_s > 0).then(|| Next::Rest(self.clamped(sleep_s))))
    }

    /// Runs one call and remembers what came of it; true when the life is to end.
    async fn act(&mut self, call: &ToolCall, number: u64, leaving: &mut impl Leaving) -> Result<bool, Fault> {
        self.heart.stage(Stage::Acting, patience(&call.tool));
        self.toolbox.facts = self.facts();
        let calling = guarded(&call.tool, self.toolbox.call(call));
        let result = tokio::select! {
            biased;
            () = leaving.asked() => None,
            result = self.watch.own(calling) => Some(result),
        };
        let left = result.is_none();
        let result = result.unwrap_or_else(|| {
            failure(
                format!("{} was stopped: this life was asked to leave", call.tool),
                "try again in the next life",
            )
        });
        self.acted(call, number, result)?;
        Ok(left)
    }

    /// Remembers what came of a call.
    fn acted(&mut self, call: &ToolCall, number: u64, result: Value) -> Result<(), Fault> {
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        let ok = result.get("ok") == Some(&Value::Bool(true));
        if ok && call.tool == "memory.append" && call.args.get("kind") == Some(&json!("message")) {
            self.cursors.words.clear();
        }
        if ok && call.tool == "memory.snapshot" {
            self.cursors.snapshot_at = self.cursors.thoughts;
        }
        if !ok {
            let error = result.get("error").and_then(Value::as_str).unwrap_or("no reason given");
            tracing::warn!("{} failed: {}", call.tool, context::shorten(error, 300));
        }
        let record = json!({
            "thought": number, "tool": call.tool, "args": args(call, MOST_ARGS), "result": result,
        });
        self.remember("action", record)
    }

    /// What a snapshot says of this life beside its records.
    pub(crate) fn facts(&self) -> Facts {
        Facts {
            life: self.told.life,
            commit: self.told.commit.clone(),
            thoughts: self.cursors.thoughts,
            mind: self.mind.name(),
            purpose: papers::read(&self.told.house.purpose()).text,
        }
    }

    /// Appends a record to memory.
    pub fn remember(&mut self, kind: &str, data: Value) -> Result<(), Fault> {
        let (at, life) = (self.told.clock.text(), self.told.life);
        let record = Record { at, life, kind: kind.to_owned(), data };
        self.toolbox
            .memory
            .append(&record)
            .map_err(|cause| Fault::caused("remember", &cause, "is the disk full or .self not writable?"))
    }

    /// Remembers an observation unless it is what was last observed of this; empty is nothing to observe.
    pub(crate) fn observe(&mut self, about: &'static str, text: &str) -> Result<(), Fault> {
        if self.observed.get(about).is_some_and(|last| last == text) {
            return Ok(());
        }
        self.observed.insert(about, text.to_owned());
        if text.is_empty() {
            return Ok(());
        }
        self.remember("observation", json!({"about": about, "text": text}))
    }

    /// Keeps the cursors; failing to is told and survived, for memory holds what counts.
    pub fn save(&mut self) -> Result<(), Fault> {
        match self.cursors.save(&self.told.house.cursors()) {
            Ok(()) => self.observe("cursors", ""),
            Err(cause) => self.observe("cursors", &Fault::caused("keep the cursors", &cause, "").error),
        }
    }

    pub(crate) fn clamped(&self, wanted_s: u64) -> Duration {
        let rest = &self.settings.rest;
        Duration::from_secs(wanted_s.clamp(rest.shortest_s, rest.longest_s))
    }
}

/// Arguments as they are remembered.
fn args(call: &ToolCall, most: usize) -> Value {
    let text = Value::Object(call.args.clone()).to_string();
    if text.chars().count() <= most {
        return Value::Object(call.args.clone());
    }
    json!({"shortened": context::shorten(&text, most), "bytes": text.len()})
}

/// How long a call may take before the loop counts as hung; tools keep tighter deadlines themselves.
fn patience(tool: &str) -> Duration {
    let minutes = if tool.starts_with("repo.") || tool == "self_edit" { 45 } else { 5 };
    Duration::from_secs(minutes * 60)
}
