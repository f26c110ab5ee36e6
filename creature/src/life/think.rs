//! Thinks: thoughts with no rest between, each remembered before what it says is done.

use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::act::args;
use crate::life::{Leaving, Life, Next};
use crate::store::caller::Caller;
use crate::tools::CallOutcome;
use agenda::Change;
use agenda::repeat::Repeats;
use agenda::requests::RequestChange;
use ground::text;
use mind::Outcome;
use mind::llm::ModelMind;
use mind::thought::Thought;
use serde_json::{Value, json};
use std::time::Duration;

/// Thoughts after which an unanswered word is taken for unanswerable.
const MOST_SEEN: u32 = 10;

/// Thoughts of one wake on the owner's request; beyond, it goes on at the next.
const MOST_OWNER_ROUNDS: u32 = 50;

/// Characters of a monologue that stay in a record.
const MOST_MONOLOGUE: usize = 8_000;

impl Life {
    /// Has the thoughts of a wake; none while the mind is down and no word of the owner's still waits for it.
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
            if self.mind.talk().is_some_and(ModelMind::began_since_asked) {
                self.repeats = Repeats::default();
            }
            let oddity = self.mind.talk().map_or(String::new(), |talk| talk.server_oddity().to_owned());
            self.observe("window", &oddity)?;
            let news = self.mind.talk().map_or(String::new(), ModelMind::server_news);
            self.observe("server", &news)?;
            self.heart.stage(Stage::Remembering, Duration::from_secs(60));
            let next = match outcome {
                Outcome::Thought { thought, .. } if self.is_unrecorded(&thought, round) => {
                    self.seen();
                    self.rested(thought, false, &self.caller.clone())
                }
                Outcome::Thought { thought, usage } => {
                    self.thought(thought, usage, round, self.caller.clone(), leaving).await?
                }
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
        // The conversation is kept and goes on at the next wake, which the first time comes as soon as it may.
        self.course.overran += 1;
        Ok(if self.course.overran == 1 { Next::Rest(self.clamped(0)) } else { self.chosen(None) })
    }

    /// Remembers a thought and does what it says; none asks for another round.
    pub(crate) async fn thought(
        &mut self,
        thought: Thought,
        usage: Value,
        round: u32,
        caller: Caller,
        leaving: &mut impl Leaving,
    ) -> Result<Option<Next>, Fault> {
        let number = self.remembered(&thought, usage, round, &caller)?;
        for call in &thought.tool_calls {
            if self.toolbox.rebirth.is_some() {
                // The call could change the tree, which was rehearsed as it is.
                let why = format!("{} was not run: a rebirth comes first", call.tool);
                self.acted(call, number, &caller, CallOutcome::failed(why, "call it in the next life"))?;
            } else if self.act(call, number, &caller, leaving).await? {
                return Ok(Some(Next::Leave));
            }
        }
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        let not_run = thought.not_run();
        if let Some(text) = &not_run {
            self.store.record("observation", json!({"about": "calls", "text": text}))?;
        }
        let due = self.settings.own.number("thoughts_between_snapshots");
        if !self.told.safe && self.cursors.thoughts.saturating_sub(self.cursors.snapshot_at) >= due {
            self.keep_snapshot()?;
        }
        if let Some(rebirth) = self.toolbox.rebirth.take() {
            if !caller.owner {
                self.ended_look(None);
            }
            return Ok(Some(Next::Reborn(rebirth.summary)));
        }
        // What the owner decided meanwhile is heard before a rest.
        self.hear_outcomes()?;
        if caller.owner && self.closes(&thought, &caller) {
            self.deliver(&thought.monologue, &caller)?;
        }
        let next = self.rested(thought, not_run.is_some(), &caller);
        if let (Some(_), Some(talk)) = (&next, self.mind.talk()) {
            talk.rested();
        }
        Ok(next)
    }

    /// Remembers a thought, marks what it was shown as seen, and returns its number.
    fn remembered(
        &mut self,
        thought: &Thought,
        usage: Value,
        round: u32,
        caller: &Caller,
    ) -> Result<u64, Fault> {
        let number = self.cursors.thoughts.saturating_add(1);
        let calls: Vec<Value> = thought
            .tool_calls
            .iter()
            .map(|call| json!({"tool": call.tool, "args": args(call, 400)}))
            .collect();
        tracing::info!("thought {number}: {}", text::shorten(&thought.intent, 200));
        let record = json!({
            "mind": self.mind.name(), "thought": number, "wake": self.cursors.wakes, "round": round,
            "monologue": text::shorten(&thought.monologue, MOST_MONOLOGUE),
            "intent": text::shorten(&thought.intent, MOST_MONOLOGUE),
            "tool_calls": calls, "sleep_s": thought.sleep_s, "usage": usage,
            "owner": caller.owner,
        });
        self.paid_for_look(&record, !caller.owner);
        if let Some(id) = self.course.request.take().filter(|_| caller.owner) {
            self.made_by(caller, &Change::Request(RequestChange::Taken { id }));
        }
        self.store.record("thought", record)?;
        self.cursors.thoughts = number;
        self.heart.thought();
        self.seen();
        let shown = self.cursors.words.iter_mut().filter(|waiting| waiting.word.thread == caller.thread);
        shown.for_each(|waiting| waiting.seen = waiting.seen.saturating_add(1));
        self.cursors.words.retain(|waiting| waiting.seen < MOST_SEEN);
        self.outage = None;
        self.heart.next_try(None);
        if self.patience.over() {
            let text = format!("{} answers again", self.mind.name());
            self.store.record("observation", json!({"about": "model", "text": text}))?;
        }
        // Saved before acting: a tool that kills this life must not make the next one hear of old deaths.
        self.save()?;
        Ok(number)
    }
}
