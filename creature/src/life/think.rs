//! Thinks: thoughts with no rest between, each remembered before what it says is done.

mod away;

use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::act::{Turn, args};
use crate::life::carried::Reasons;
use crate::life::sense::{Sensed, Shown};
use crate::life::{Leaving, Life, Next};
use crate::mind::Mind;
use crate::store::caller::Caller;
use crate::tools::CallOutcome;
use agenda::Change;
use agenda::repeat::Repeats;
use agenda::requests::RequestChange;
use agenda::stack::Category;
use agenda::standing::Standing;
use ground::{checklist, text};
use mind::Outcome;
use mind::llm::ModelMind;
use mind::moment::Moment;
use mind::thought::Thought;
use serde_json::{Value, json};
use std::pin::pin;
use std::time::Duration;

/// Thoughts of one wake on the owner's request; beyond, it goes on at the next.
const MOST_OWNER_ROUNDS: u32 = 50;

/// Characters of a monologue that stay in a record.
const MOST_MONOLOGUE: usize = 8_000;

/// Result of a thought while the owner was heard.
enum Came {
    Thought(Outcome),
    Left,
    Cut,
    Stopped,
}

impl Life {
    /// Has the thoughts of a wake; none while the mind is down and no word of the owner's still waits for it.
    pub(crate) async fn minded(
        &mut self,
        reasons: &Reasons,
        leaving: &mut impl Leaving,
    ) -> Result<Next, Fault> {
        if let Some(end) = self.meanwhile(true, reasons, leaving).await? {
            return Ok(end);
        }
        if self.is_down() && self.cursors.owner.words.is_empty() {
            return Ok(self.chosen(None));
        }
        let next = self.rounds(reasons, leaving).await;
        self.fall_forward();
        self.attention.works_for = None;
        let next = next?;
        match next {
            Next::Rest(_) => Ok(self.meanwhile(false, reasons, leaving).await?.unwrap_or(next)),
            end => Ok(end),
        }
    }

    /// Has a thought while the owner's words are heard. A thought of its own is cut where a word waits for an answer,
    /// any thought where the owner says stop.
    async fn listening(&mut self, moment: &Moment, leaving: &mut impl Leaving) -> Result<Came, Fault> {
        let (stage, patience) = (self.heart.stages(), self.minds.now.patience() + Duration::from_secs(10));
        let alive = || stage(Stage::Thinking, patience);
        alive();
        let (name, now) = (self.minds.now.name(), self.told.clock.now());
        self.steps.aside = self.minds.now.talk().map(|mind| mind.beside(now));
        let mut mind = std::mem::replace(&mut self.minds.now, Mind::Thinking(name));
        let came = self.hears_while(mind.think(moment, &alive), moment.answers(), leaving).await;
        self.minds.now = mind;
        let came = came?;
        if matches!(came, Came::Cut | Came::Stopped) {
            tracing::info!("the owner speaks: the thought under way is cut");
            self.keep_cut(matches!(came, Came::Stopped))?;
        }
        Ok(came)
    }

    async fn hears_while(
        &mut self,
        thinking: impl Future<Output = Outcome>,
        answers: bool,
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
            self.hear()?;
            if let Some(stop) = &mut self.attention.stop {
                stop.ended
                    .push(if answers { "the thought under way" } else { "a thought of my own" }.to_owned());
                return Ok(Came::Stopped);
            }
            if !answers && (self.cursors.owner.is_unseen() || self.told_to_pause()) {
                self.unfinished.busy.get_or_insert_with(|| "go on with the thought that was cut".to_owned());
                return Ok(Came::Cut);
            }
        }
    }

    /// Thoughts until one wants to rest, as many as the owner allows in one wake.
    async fn rounds(&mut self, reasons: &Reasons, leaving: &mut impl Leaving) -> Result<Next, Fault> {
        for round in 0..MOST_OWNER_ROUNDS {
            self.heart.stage(Stage::Sensing, Duration::from_secs(30));
            if round > 0 && !self.told.safe {
                self.attend_hour()?;
            }
            if self.settle_jobs()
                && let Some(rebirth) = self.toolbox.rebirth.take()
            {
                return Ok(Next::Reborn(rebirth.summary));
            }
            self.advance_apart().await?;
            self.report_apart()?;
            // What a request waits for is told with it, and not to a thought of something else.
            self.end_waits();
            let sensed = self.sense(round, reasons)?;
            let moment = &sensed.moment;
            if self.attention.stop.is_some() {
                return self.obey();
            }
            if !moment.answers() && (self.attention.beside || round >= self.settings.agenda.rounds) {
                break;
            }
            // The owner's pause is heard between rounds.
            if round > 0 && !moment.answers() && self.paused() {
                return Ok(self.chosen(None));
            }
            self.minds.compact();
            self.attention.works_for = moment.answers().then(|| sensed.caller.thread.clone());
            let outcome = match self.listening(moment, leaving).await? {
                Came::Thought(outcome) => outcome,
                Came::Left => return Ok(Next::Leave),
                Came::Cut => continue,
                Came::Stopped => return self.obey(),
            };
            if self.minds.now.talk().is_some_and(ModelMind::began_since_asked) {
                self.acts.repeats = Repeats::default();
            }
            let oddity = self.minds.now.talk().map_or(String::new(), |talk| talk.server_oddity().to_owned());
            self.store.observe("window", &oddity)?;
            let news = self.minds.now.talk().map_or(String::new(), ModelMind::server_news);
            self.store.observe("server", &news)?;
            self.heart.stage(Stage::Remembering, Duration::from_secs(60));
            let next = match outcome {
                Outcome::Thought { thought, .. } if self.is_unrecorded(&thought, &sensed) => {
                    self.seen(sensed.shown, &sensed.caller);
                    self.rested(thought, false, &sensed.caller)
                }
                Outcome::Thought { thought, usage } => self.thought(sensed, thought, usage, leaving).await?,
                Outcome::Garbled { error, text, usage } => {
                    Some(self.garbled(&error, &text, &usage, sensed.caller.owner)?)
                }
                Outcome::Down(down) if self.falls_back(&down)? => None,
                Outcome::Down(down) => Some(self.down(&down, sensed.caller.owner)?),
            };
            if let Some(next) = next {
                return Ok(next);
            }
            self.heart.turn();
            self.save()?;
        }
        // The conversation is kept and goes on at the next wake, which the first time comes as soon as it may.
        Ok(if self.unfinished.overrun() { Next::Rest(self.clamped(0)) } else { self.chosen(None) })
    }

    /// Whether this thought leaves no record: a look of instinct's that is unrecorded and found nothing, or the end of a
    /// wake's work without a word.
    fn is_unrecorded(&self, thought: &Thought, sensed: &Sensed) -> bool {
        let told = sensed.reasons.unrecorded || sensed.round > 0;
        told && thought.idle && self.born.is_proven() && self.cursors.owner.words.is_empty()
    }

    /// Remembers a thought and does what it says; none asks for another round.
    pub(crate) async fn thought(
        &mut self,
        sensed: Sensed,
        thought: Thought,
        usage: Value,
        leaving: &mut impl Leaving,
    ) -> Result<Option<Next>, Fault> {
        let (reasons, caller) = (sensed.reasons.clone(), sensed.caller.clone());
        let number = self.remembered(sensed, &thought, usage)?;
        let turn = Turn { number, caller: &caller, reasons: &reasons };
        self.attention.heard_meanwhile = false;
        for call in &thought.tool_calls {
            if let Some((why, hint)) = self.held_back() {
                let why = format!("{} was not run: {why}", call.tool);
                self.acted(call, &turn, CallOutcome::failed(why, hint))?;
            } else if self.act(call, &turn, leaving).await? {
                return Ok(Some(Next::Leave));
            }
        }
        self.heart.stage(Stage::Remembering, Duration::from_secs(60));
        let not_run = thought.not_run();
        if let Some(text) = &not_run {
            self.store.record("observation", json!({"about": "calls", "text": text}))?;
        }
        let due = self.settings.own.number("thoughts_between_snapshots");
        if !self.told.safe
            && self.cursors.counts.thoughts.saturating_sub(self.cursors.counts.snapshot_at) >= due
        {
            self.keep_snapshot()?;
        }
        if self.attention.stop.is_some() {
            return self.obey().map(Some);
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
        if let (Some(_), Some(talk)) = (&next, self.minds.now.talk()) {
            talk.rested();
        }
        Ok(next)
    }

    /// Says why the next call of a thought is not run, and what to do then.
    fn held_back(&mut self) -> Option<(&'static str, &'static str)> {
        self.settle_jobs();
        if self.toolbox.rebirth.is_some() {
            // The call could change the tree, which was rehearsed as it is.
            return Some(("a rebirth comes first", "call it in the next life"));
        }
        if self.attention.stop.is_some() {
            return Some(("your owner said stop", "do not call it again unless your owner asks for it"));
        }
        let spoke = "your owner spoke while a call before it ran";
        self.attention.heard_meanwhile.then_some((spoke, "call it again if it is still wanted"))
    }

    /// Remembers a thought, marks what it was shown as seen, and returns its number.
    fn remembered(&mut self, sensed: Sensed, thought: &Thought, usage: Value) -> Result<u64, Fault> {
        let caller = &sensed.caller;
        let number = self.cursors.counts.next_thought();
        let calls: Vec<Value> = thought
            .tool_calls
            .iter()
            .map(|call| json!({"tool": call.tool, "args": args(call, 400)}))
            .collect();
        tracing::info!("thought {number}: {}", text::shorten(&thought.intent, 200));
        let state = sensed.moment.standing.filter(|_| sensed.round == 0);
        let mut record = json!({
            "mind": self.minds.now.name(), "thought": number, "wake": self.cursors.counts.wakes, "round": sensed.round,
            "monologue": text::shorten(&thought.monologue, MOST_MONOLOGUE),
            "intent": text::shorten(&thought.intent, MOST_MONOLOGUE),
            "tool_calls": calls, "sleep_s": thought.sleep_s, "usage": usage,
            "owner": caller.owner,
        });
        if let (Value::Object(fields), Some(state)) = (&mut record, state) {
            fields.insert("state".to_owned(), kept(state));
        }
        self.paid_for_look(&record, !caller.owner);
        if !caller.owner {
            self.asked_unasked(&sensed.reasons.why);
        }
        if let Some(id) = sensed.request.filter(|_| caller.owner) {
            self.store.made(caller, &Change::Request(RequestChange::Taken { id }));
        }
        self.store.record("thought", record)?;
        self.cursors.counts.thoughts = number;
        self.heart.thought();
        self.seen(sensed.shown, caller);
        self.cursors.owner.shown(&caller.thread);
        let over = self.access.answered(caller.owner);
        match self.access.spent_until(self.told.clock.now()) {
            Some(until) => self.heart.spent(format!("{until:.0}")),
            None => self.heart.next_try(None),
        }
        if let Some(was_spent) = over {
            let (about, text) = match was_spent {
                true => ("budget", "there is money again".to_owned()),
                false => ("model", format!("{} answers again", self.minds.now.name())),
            };
            self.store.record("observation", json!({"about": about, "text": text}))?;
        }
        // Saved before acting: a tool that kills this life must not make the next one hear of old deaths.
        self.save()?;
        Ok(number)
    }

    /// Notes that a thought was completed: what it was shown is not told again. After one that answers
    /// the owner all else is still to be told.
    fn seen(&mut self, shown: Shown, caller: &Caller) {
        let now = self.told.clock.now();
        self.access.thought();
        self.born.thought(now);
        if caller.owner {
            self.unfinished.had_jobs(&caller.thread);
            return;
        }
        self.papers.purpose_changed = false;
        self.papers.draft_seen = Some(now);
        self.cursors.events.take_news(&shown.events);
        self.cursors.papers.checklist = std::mem::take(&mut self.papers.checklist);
        match shown.line {
            Some(line) if line.category == Category::Own => self.began_look(&line.id),
            Some(line) => _ = self.store.made(&self.caller, &line.looked()),
            None => {}
        }
        let now_s = self.told.clock.now().as_second();
        let items = checklist::open(&self.checklist().text, self.minds.read());
        self.cursors.papers.items.retain(|line, _| items.iter().any(|item| item.line == *line));
        for item in items {
            let Some(every_s) = item.every_s else { continue };
            let next_s = self.cursors.papers.items.entry(item.line).or_insert(now_s);
            if *next_s <= now_s {
                *next_s = now_s.saturating_add(every_s);
            }
        }
    }
}

/// The state as it is kept with a thought: without the text, which the conversation has.
fn kept(state: Standing) -> Value {
    let mut kept = json!(state);
    if let Value::Object(fields) = &mut kept {
        fields.shift_remove("text");
    }
    kept
}
