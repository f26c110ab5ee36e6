//! The one loop: sense, think, act, remember, rest.
//!
//! Invariant: a mind that is down, a garbled reply and a failing tool are records and rests, never an
//! end. What ends a life: the guardian's wish, a rebirth, a memory that cannot be written, a panic.

use crate::acts::args;
use crate::config::{Settings, Told};
use crate::fault::Fault;
use crate::heartbeat::{Heart, Stage};
use crate::mind::conversation::Conversation;
use crate::mind::llm::ModelMind;
use crate::mind::thought::Thought;
use crate::mind::{Mind, Outcome, context};
use crate::outage::Outage;
use crate::scanning::Scanned;
use crate::senses::cursors::{Cursors, Heard};
use crate::senses::watch::Watch;
use crate::setbacks::Setbacks;
use crate::tools::{Done, Toolbox};
use crate::wakes::Course;
use agenda::repeat::Repeats;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Thoughts after which an unanswered word is taken for unanswerable.
const MOST_SEEN: u32 = 10;

/// Thoughts of one wake on the owner's request; beyond, it goes on at the next.
const MOST_OWNER_ROUNDS: u32 = 50;

/// Characters of a monologue that stay in a record.
const MOST_MONOLOGUE: usize = 8_000;

/// A life from birth to end.
pub struct Life {
    pub told: Told,
    pub mind: Mind,
    pub cursors: Cursors,
    pub toolbox: Toolbox,
    pub(crate) heart: Heart,
    pub(crate) settings: Settings,
    pub(crate) watch: Watch,
    /// Words in memory already: heard again, they are not remembered twice.
    pub(crate) heard: Vec<Heard>,
    /// What the broker last said: the model it offers, and how much waits for the owner.
    pub(crate) offer: Value,
    pub(crate) asks_waiting: u64,
    pub(crate) course: Course,
    /// Models for when the first does not answer, in their order; and the first, while another stands in for it.
    pub(crate) others: Vec<Mind>,
    pub(crate) first: Option<Mind>,
    /// For what is small: sub-sessions but the full ones, dreams; and that it did not answer in this wake.
    pub(crate) quick: Option<ModelMind>,
    pub(crate) quick_is_away: bool,
    /// Conversations of sub-sessions, by their names.
    pub(crate) talks: BTreeMap<String, Conversation>,
    /// What this life was born with, in words.
    pub(crate) born: String,
    pub(crate) setbacks: Setbacks,
    /// What is the matter with the mind, while it gives no thought.
    pub(crate) outage: Option<Outage>,
    pub(crate) repeats: Repeats,
    pub(crate) scanned: Scanned,
    /// What was observed last, by subject: told once, not every wake.
    pub(crate) observed: BTreeMap<&'static str, String>,
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
        heard: Vec<Heard>,
    ) -> Self {
        let scanned = Scanned::load(&told.house.scanned());
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
            course: Course::default(),
            others: Vec::new(),
            first: None,
            quick: None,
            quick_is_away: false,
            talks: BTreeMap::new(),
            born: String::new(),
            setbacks: Setbacks::default(),
            outage: None,
            repeats: Repeats::default(),
            scanned,
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

    /// One wake: what came due is done, then, where there is a reason, thoughts with no rest between.
    pub async fn wake(&mut self, leaving: &mut impl Leaving) -> Result<Next, Fault> {
        self.cursors.wakes = self.cursors.wakes.saturating_add(1);
        self.quick_is_away = false;
        self.heart.stage(Stage::Sensing, Duration::from_secs(30));
        tokio::select! {
            biased;
            () = leaving.asked() => return Ok(Next::Leave),
            looked = self.look_out() => looked?,
        }
        tokio::select! {
            biased;
            () = leaving.asked() => return Ok(Next::Leave),
            ticked = self.tick() => ticked?,
        }
        let next = match self.woken()? {
            // It is had apart, at the end of this wake.
            true if self.quick_look() => self.chosen(None),
            true => self.minded(leaving).await?,
            false => self.chosen(None),
        };
        self.heart.turn();
        self.save()?;
        let Next::Rest(rest) = next else { return Ok(next) };
        Ok(match self.apart(rest, leaving).await? {
            Next::Rest(rest) => Next::Rest(self.resting(rest)),
            end => end,
        })
    }

    /// Thoughts, unless the mind is away and its owner asks for nothing but what can be done without it.
    pub(crate) async fn minded(&mut self, leaving: &mut impl Leaving) -> Result<Next, Fault> {
        if let Some(end) = self.meanwhile(true, leaving).await? {
            return Ok(end);
        }
        if self.is_down() && self.cursors.words.is_empty() {
            return Ok(self.chosen(None));
        }
        let next = self.rounds(leaving).await;
        self.fall_forward();
        let next = next?;
        match next {
            Next::Rest(_) => Ok(self.meanwhile(false, leaving).await?.unwrap_or(next)),
            end => Ok(end),
        }
    }

    /// Thoughts until one wants to rest, as many as the owner allows in one wake.
    async fn rounds(&mut self, leaving: &mut impl Leaving) -> Result<Next, Fault> {
        for round in 0..MOST_OWNER_ROUNDS {
            self.heart.stage(Stage::Sensing, Duration::from_secs(30));
            if round > 0 && !self.told.safe {
                self.attend_hour()?;
            }
            let moment = self.sense(round)?;
            if !moment.answers() && (self.course.beside || round >= self.settings.agenda.rounds) {
                break;
            }
            // The owner's pause is heard between rounds.
            if round > 0 && !moment.answers() && self.paused() {
                return Ok(self.chosen(None));
            }
            let (heart, patience) = (&self.heart, self.mind.patience() + Duration::from_secs(10));
            heart.stage(Stage::Thinking, patience);
            let alive = || heart.stage(Stage::Thinking, patience);
            let outcome = tokio::select! {
                biased;
                () = leaving.asked() => return Ok(Next::Leave),
                () = self.watch.word(), if !moment.answers() => None,
                outcome = self.mind.think(&moment, &alive) => Some(outcome),
            };
            let Some(outcome) = outcome else {
                tracing::info!("the owner speaks: the thought under way is dropped");
                self.course.busy.get_or_insert_with(|| "go on with the thought that was cut".to_owned());
                continue;
            };
            if self.mind.talk().is_some_and(ModelMind::take_begun) {
                self.repeats = Repeats::default();
            }
            let odd = self.mind.talk().map_or(String::new(), |talk| talk.odd().to_owned());
            self.observe("window", &odd)?;
            self.heart.stage(Stage::Remembering, Duration::from_secs(60));
            let next = match outcome {
                Outcome::Thought { thought, .. } if self.is_dull(&thought, round) => {
                    self.seen();
                    self.rested(thought, false, moment.owner)
                }
                Outcome::Thought { thought, usage } => self.thought(thought, usage, round, leaving).await?,
                Outcome::Garbled { error, text, usage } => Some(self.garbled(&error, &text, &usage)?),
                Outcome::Down(down) if self.falls_back(&down)? => None,
                Outcome::Down(down) => Some(self.down(&down)?),
            };
            if let Some(next) = next {
                return Ok(next);
            }
            self.heart.turn();
            self.save()?;
        }
        // Its conversation is kept: it goes on at the next wake, sooner the first time.
        self.course.overran += 1;
        Ok(if self.course.overran == 1 { Next::Rest(self.clamped(0)) } else { self.chosen(None) })
    }

    /// Remembers a thought and does what it says; none asks for another round.
    pub(crate) async fn thought(
        &mut self,
        thought: Thought,
        usage: Value,
        round: u32,
        leaving: &mut impl Leaving,
    ) -> Result<Option<Next>, Fault> {
        let number = self.cursors.thoughts.saturating_add(1);
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
            "owner": self.toolbox.owner,
        });
        self.paid_for_look(&record, !self.toolbox.owner);
        self.remember("thought", record)?;
        self.cursors.thoughts = number;
        self.heart.thought();
        self.seen();
        let (owner, thread) = (self.toolbox.owner, self.toolbox.thread.clone());
        let shown = self.cursors.words.iter_mut().filter(|waiting| waiting.word.thread == thread);
        shown.for_each(|waiting| waiting.seen = waiting.seen.saturating_add(1));
        self.cursors.words.retain(|waiting| waiting.seen < MOST_SEEN);
        self.outage = None;
        self.heart.next_try(None);
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
                self.acted(call, number, Done::failed(why, "call it in the next life"))?;
            } else if self.act(call, number, leaving).await? {
                return Ok(Some(Next::Leave));
            }
        }
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        let not_run = thought.not_run();
        if let Some(text) = &not_run {
            self.remember("observation", json!({"about": "calls", "text": text}))?;
        }
        let due = self.settings.own.number("thoughts_between_snapshots");
        if !self.told.safe && self.cursors.thoughts.saturating_sub(self.cursors.snapshot_at) >= due {
            self.keep_snapshot()?;
        }
        if let Some(rebirth) = self.toolbox.rebirth.take() {
            return Ok(Some(Next::Reborn(rebirth.summary)));
        }
        // What the owner decided meanwhile is not slept over.
        self.hear_outcomes()?;
        if thought.delivers && owner {
            self.deliver(&thought.monologue, &thread)?;
        }
        let next = self.rested(thought, not_run.is_some(), owner);
        if let (Some(_), Some(talk)) = (&next, self.mind.talk()) {
            talk.rested();
        }
        Ok(next)
    }

    /// A turn of a talk that ends in plain words is the answer to the owner, where none was given yet.
    fn deliver(&mut self, text: &str, thread: &str) -> Result<(), Fault> {
        let waits =
            self.cursors.words.iter().any(|waiting| waiting.seen > 0 && waiting.word.thread == *thread);
        if !waits || text.trim().is_empty() {
            return Ok(());
        }
        let at = self.told.clock.text();
        let data = json!({"from": "creature", "kind": "answer", "thread": thread, "text": text, "at": at});
        self.remember("message", data)?;
        self.cursors.words.retain(|waiting| waiting.seen == 0 || waiting.word.thread != *thread);
        self.save()
    }

    /// The rest a thought ends with, now that its calls are made; none where it has another round.
    fn rested(&mut self, thought: Thought, unrun: bool, owner: bool) -> Option<Next> {
        let ended = std::mem::take(&mut self.toolbox.completed);
        let again = thought.sleep_s == 0 || unrun;
        if let Some(rest) = self.emptied(&thought) {
            self.ended_look(None);
            return Some(rest);
        }
        self.course.busy = (again && !ended && !owner).then_some(thought.intent);
        self.course.on = (again && !ended && owner).then(|| self.toolbox.thread.clone());
        if again && !ended {
            return None;
        }
        self.course.overran = 0;
        let rest_s = (thought.said && !again).then_some(thought.sleep_s);
        self.course.ended = ended && rest_s.is_some();
        if !owner {
            self.ended_look(rest_s);
        }
        Some(self.chosen(rest_s))
    }
}
