//! The loop over the thoughts of a wake, with no rest between: what is said is taken, then sensed, thought and acted on.

use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::act::Turn;
use crate::life::passed::{Done, Ends, Reasons, Rest, Round, Sensed, Stop, Then};
use crate::life::{Leaving, Life, requests, wake};
use crate::mind::Mind;
use agenda::repeat::Repeats;
use mind::Outcome;
use mind::llm::ModelMind;
use mind::moment::Moment;
use mind::thought::Thought;
use serde_json::{Value, json};
use std::pin::pin;
use std::time::Duration;
use tracing::instrument;

/// Thoughts of one wake on the owner's request; beyond, it goes on at the next.
const MOST_OWNER_ROUNDS: u32 = 50;

/// Result of a thought while the owner was heard.
enum Came {
    Thought(Outcome),
    Left,
    Cut,
    Stopped(Stop),
}

impl Life {
    /// Takes what the owner said and decided, and what changes rarely; returns a word that means stop. `works_for` is the
    /// owner's thread whose work is under way.
    pub fn take_notice(&mut self, works_for: Option<&str>) -> Result<Option<Stop>, Fault> {
        self.watch.know();
        let stop = self.hear(works_for)?;
        self.hear_outcomes()?;
        self.hear_servers()?;
        wake::notice(&mut self.store, &mut self.cursors, &mut self.access, &mut self.papers)?;
        Ok(stop)
    }

    /// Has the thoughts of a wake; none while the mind is down and no word of the owner's still waits for it.
    pub(super) async fn minded(
        &mut self,
        reasons: &Reasons,
        leaving: &mut impl Leaving,
    ) -> Result<Ends, Fault> {
        if let Some(ends) = self.meanwhile(true, reasons, leaving).await? {
            return Ok(ends);
        }
        if self.is_down() && self.cursors.owner.words.is_empty() {
            return Ok(Ends::Rest(self.chosen(None)));
        }
        let ends = self.rounds(reasons, leaving).await;
        self.fall_forward();
        match ends? {
            Ends::Rest(rest) => {
                let ends = self.meanwhile(false, reasons, leaving).await?;
                Ok(ends.unwrap_or(Ends::Rest(rest)))
            }
            Ends::Leave => Ok(Ends::Leave),
        }
    }

    /// Has thoughts until one wants to rest, as many as the owner allows in one wake.
    async fn rounds(&mut self, reasons: &Reasons, leaving: &mut impl Leaving) -> Result<Ends, Fault> {
        let (mut so_far, mut works_for) = (Done::default(), None::<String>);
        for round in 0..MOST_OWNER_ROUNDS {
            self.heart.stage(Stage::Sensing, Duration::from_secs(30));
            if round > 0 && !self.told.safe {
                self.attend_hour()?;
            }
            self.settle_jobs();
            self.advance_apart().await?;
            self.report_apart()?;
            if self.acts.rebirth.is_some() {
                return Ok(Ends::Rest(Rest::default()));
            }
            // What a request waits for is told with it, and not to a thought of something else.
            requests::end_waits(&mut self.store, &mut self.cursors, &self.toolbox.watches);
            let stop = self.take_notice(works_for.as_deref())?;
            if let Some(stop) = stop {
                return self.obeyed(stop, works_for.is_none());
            }
            let sensed = self.sense(round, reasons)?;
            let answers = sensed.moment.answers();
            if !answers && (reasons.beside || round >= self.settings.agenda.rounds) {
                break;
            }
            // The owner's pause is heard between rounds.
            if round > 0 && !answers && self.paused() {
                return Ok(Ends::Rest(self.chosen(None)));
            }
            works_for = answers.then(|| sensed.caller.thread.clone());
            match self.round(sensed, so_far, leaving).await? {
                Round::Again(done) => so_far = done,
                Round::Ends(ends) => return Ok(ends),
            }
        }
        // The conversation is kept and goes on at the next wake, which the first time comes as soon as it may.
        Ok(Ends::Rest(match self.unfinished.overrun() {
            true => Rest { lasts: self.clamped(0), ..Rest::default() },
            false => self.chosen(None),
        }))
    }

    /// Asks the mind once and does what it says.
    #[instrument(level = "debug", name = "thought", skip_all, fields(thought = self.cursors.counts.next_thought()))]
    async fn round(
        &mut self,
        sensed: Sensed,
        so_far: Done,
        leaving: &mut impl Leaving,
    ) -> Result<Round, Fault> {
        self.minds.compact();
        let owner = sensed.caller.owner;
        let works_for = sensed.moment.answers().then_some(sensed.caller.thread.as_str());
        let outcome = match self.listening(&sensed.moment, works_for, leaving).await? {
            Came::Thought(outcome) => outcome,
            Came::Left => return Ok(Round::Ends(Ends::Leave)),
            Came::Cut => return Ok(Round::Again(so_far)),
            Came::Stopped(stop) => return self.obeyed(stop, works_for.is_none()).map(Round::Ends),
        };
        if self.minds.now.talk().is_some_and(ModelMind::began_since_asked) {
            self.acts.repeats = Repeats::default();
        }
        let oddity = self.minds.now.talk().map_or(String::new(), |talk| talk.server_oddity().to_owned());
        self.store.observe("window", &oddity)?;
        let news = self.minds.now.talk().map_or(String::new(), ModelMind::server_news);
        self.store.observe("server", &news)?;
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        let round = match outcome {
            Outcome::Thought { thought, .. } if self.is_unrecorded(&thought, &sensed) => {
                self.seen(sensed.shown, &sensed.caller);
                self.rested(thought, false, so_far, &sensed.caller, sensed.reasons.beside)
            }
            Outcome::Thought { thought, usage } => {
                self.thought(sensed, thought, usage, so_far, leaving).await?
            }
            Outcome::Garbled { error, text, usage } => {
                Round::Ends(Ends::Rest(self.garbled(&error, &text, &usage, owner)?))
            }
            Outcome::Down(down) if self.falls_back(&down)? => Round::Again(so_far),
            Outcome::Down(down) => Round::Ends(Ends::Rest(self.down(&down, owner)?)),
        };
        if let Round::Again(_) = round {
            self.heart.turn();
            self.save()?;
        }
        Ok(round)
    }

    /// Has a thought while the owner's words are heard. A thought of its own is cut where a word waits for an answer,
    /// any thought where the owner says stop.
    async fn listening(
        &mut self,
        moment: &Moment,
        works_for: Option<&str>,
        leaving: &mut impl Leaving,
    ) -> Result<Came, Fault> {
        let (stage, patience) = (self.heart.stages(), self.minds.now.patience() + Duration::from_secs(10));
        let alive = || stage(Stage::Thinking, patience);
        alive();
        let (name, now) = (self.minds.now.name(), self.told.clock.now());
        self.steps.aside = self.minds.now.talk().map(|mind| mind.beside(now));
        let mut mind = std::mem::replace(&mut self.minds.now, Mind::Thinking(name));
        let came = self.hears_while(mind.think(moment, &alive), works_for, leaving).await;
        self.minds.now = mind;
        let came = came?;
        if matches!(came, Came::Cut | Came::Stopped(_)) {
            tracing::info!("the owner speaks: the thought under way is cut");
            self.keep_cut(matches!(came, Came::Stopped(_)), works_for)?;
        }
        Ok(came)
    }

    async fn hears_while(
        &mut self,
        thinking: impl Future<Output = Outcome>,
        works_for: Option<&str>,
        leaving: &mut impl Leaving,
    ) -> Result<Came, Fault> {
        let mut thinking = pin!(thinking);
        loop {
            tokio::select! {
                biased;
                () = leaving.asked() => return Ok(Came::Left),
                () = self.watch.word() => {}
                outcome = &mut thinking => return Ok(Came::Thought(outcome)),
                ended = self.steps.ended() => {
                    self.step_ended(ended).await?;
                    continue;
                }
            }
            self.watch.know_word();
            if let Some(mut stop) = self.hear(works_for)? {
                let what = if works_for.is_some() { "the thought under way" } else { "a thought of my own" };
                stop.ended.push(what.to_owned());
                return Ok(Came::Stopped(stop));
            }
            if works_for.is_none() && (self.cursors.owner.is_unseen() || self.told_to_pause()) {
                self.unfinished.busy.get_or_insert_with(|| "go on with the thought that was cut".to_owned());
                return Ok(Came::Cut);
            }
        }
    }

    /// Remembers a thought and does what it says.
    pub(crate) async fn thought(
        &mut self,
        sensed: Sensed,
        thought: Thought,
        usage: Value,
        so_far: Done,
        leaving: &mut impl Leaving,
    ) -> Result<Round, Fault> {
        let (reasons, caller) = (sensed.reasons.clone(), sensed.caller.clone());
        let number = self.remembered(sensed, &thought, usage)?;
        let turn = Turn { number, caller: &caller, reasons: &reasons };
        let mut done = self.calls(&thought.tool_calls, &turn, leaving).await?;
        done.progress |= so_far.progress;
        if let Then::Left = done.then {
            return Ok(Round::Ends(Ends::Leave));
        }
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        let not_run = thought.not_run();
        if let Some(text) = &not_run {
            self.store.record("observation", json!({"about": "calls", "text": text}))?;
        }
        self.keep_snapshot_if_due()?;
        if let Then::Stopped(stop) = done.then {
            return self.obeyed(stop, turn.works_for().is_none()).map(Round::Ends);
        }
        if self.acts.rebirth.is_some() {
            if !caller.owner {
                self.end_look(None);
            }
            return Ok(Round::Ends(Ends::Rest(Rest::default())));
        }
        // What the owner decided meanwhile is heard before a rest.
        self.hear_outcomes()?;
        // Its words are the answer: they end the turn, or stand beside a call that only ends the wake while the owner has
        // no answer yet or the work is said to be complete.
        let closes = thought.tool_calls.is_empty()
            || done.completed
            || self.cursors.owner.awaits_answer(&caller.thread);
        if caller.owner && thought.delivers && closes {
            let (began, said) = (self.wakes.began, &thought.monologue);
            requests::deliver(&mut self.store, &mut self.cursors, said, &caller, began)?;
        }
        let round = self.rested(thought, not_run.is_some(), done, &caller, reasons.beside);
        if let (Round::Ends(_), Some(talk)) = (&round, self.minds.now.talk()) {
            talk.rested();
        }
        Ok(round)
    }

    /// Ends the wake at the owner's word that means stop. `own`: nothing of the owner's is under way.
    pub(super) fn obeyed(&mut self, stop: Stop, own: bool) -> Result<Ends, Fault> {
        self.obey(stop, own)?;
        Ok(Ends::Rest(self.chosen(None)))
    }
}
