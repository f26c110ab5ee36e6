//! Meanwhile: a mind that fails, and the owner's words while it is away: instinct does what it knows, plain code answers.
//!
//! Invariant: a word is told once of each cause, and waits on for the mind; none is met with silence.

use crate::fault::Fault;
use crate::life::act::Turn;
use crate::life::carried::Reasons;
use crate::life::minds::outage::{Outage, hour};
use crate::life::sense::Sensed;
use crate::life::{Leaving, Life, Next};
use crate::pace;
use crate::store::caller::Caller;
use crate::store::feed::Event;
use ground::text;
use instinct::Instinct;
use mind::thought::Thought;
use mind::{Down, Outcome, Why};
use serde_json::{Value, json};
use std::time::Duration;

/// Characters of an error that go into an event.
const MOST_CHARS: usize = 300;

/// Characters of an error that are remembered.
const MOST_ERROR: usize = 1_000;

/// Causes of which one word is told.
const MOST_TOLD: usize = 3;

impl Life {
    /// Whether a mind that reads is known to be away.
    pub(crate) fn is_away(&self) -> bool {
        self.minds.read() && self.access.outage().is_some()
    }

    /// The owner's words that were not told of this outage.
    pub(crate) fn untold(&self) -> usize {
        let mark = self.access.outage().map(Outage::mark);
        let untold =
            |told: &[String]| told.len() < MOST_TOLD && mark.as_ref().is_none_or(|mark| !told.contains(mark));
        self.cursors.owner.words.iter().filter(|waiting| untold(&waiting.told)).count()
    }

    /// Does what instinct knows by name, and tells the owner of the rest; `asks`: the mind is asked next.
    pub(crate) async fn meanwhile(
        &mut self,
        asks: bool,
        reasons: &Reasons,
        leaving: &mut impl Leaving,
    ) -> Result<Option<Next>, Fault> {
        if !self.is_away() || self.cursors.owner.words.is_empty() {
            return Ok(None);
        }
        self.toolbox.stands_in = true;
        let end = self.stand_in(reasons, leaving).await;
        self.toolbox.stands_in = false;
        if let Some(end) = end? {
            return Ok(Some(end));
        }
        self.tell_of_outage(asks)?;
        Ok(None)
    }

    /// Answers each thread once, for all words on it that were not told yet.
    fn tell_of_outage(&mut self, asks: bool) -> Result<(), Fault> {
        let Some(outage) = self.access.outage().cloned() else { return Ok(()) };
        // Known at once anyway, and perhaps otherwise for the owner's own word.
        if asks && !outage.is_slow() {
            return Ok(());
        }
        let (mark, now) = (outage.mark(), self.told.clock.now());
        let mut threads: Vec<(String, usize)> = Vec::new();
        for waiting in &mut self.cursors.owner.words {
            if waiting.told.len() >= MOST_TOLD || waiting.told.contains(&mark) {
                continue;
            }
            waiting.told.push(mark.clone());
            let thread = &waiting.word.thread;
            match threads.iter_mut().find(|(known, _)| known == thread) {
                Some((_, words)) => *words += 1,
                None => threads.push((thread.clone(), 1)),
            }
        }
        let zone = self.store.rules.time_zone.clone();
        let told = !threads.is_empty();
        for (thread, words) in threads {
            self.store.say("waiting", &thread, &outage.answer(words, asks, now, &zone))?;
        }
        if told { self.save() } else { Ok(()) }
    }

    /// Has instinct stand in for the mind, for the owner's words that it knows and for nothing else.
    async fn stand_in(
        &mut self,
        reasons: &Reasons,
        leaving: &mut impl Leaving,
    ) -> Result<Option<Next>, Fault> {
        let mut thread = None;
        let mut instinct = None;
        for round in 0..self.settings.agenda.rounds {
            let known = self.cursors.owner.words.iter().find(|waiting| instinct::knows(&waiting.word.text));
            let Some(on) = known.map(|waiting| waiting.word.thread.clone()).or(thread.clone()) else { break };
            let instinct = instinct.get_or_insert_with(|| Instinct::load(&self.told.house, pace::BUILT));
            let sensed = self.known_words(round, &on, reasons)?;
            let Outcome::Thought { thought, .. } = instinct.stand_in(&sensed.moment, round == 0) else {
                break;
            };
            let goes_on = !thought.tool_calls.is_empty();
            if let Some(end) = self.stood_in(thought, &sensed, leaving).await? {
                return Ok(Some(end));
            }
            if !goes_on && !self.cursors.owner.words.iter().any(|waiting| instinct::knows(&waiting.word.text))
            {
                break;
            }
            thread = Some(on);
        }
        Ok(None)
    }

    /// The moment as it is, with those words of a thread that instinct knows.
    fn known_words(&mut self, round: u32, thread: &str, reasons: &Reasons) -> Result<Sensed, Fault> {
        let mut sensed = self.sense(round, reasons)?;
        sensed.caller = Caller::owner(thread);
        self.caller = sensed.caller.clone();
        let moment = &mut sensed.moment;
        let words = self.cursors.owner.words.iter().map(|waiting| &waiting.word);
        let words = words.filter(|word| word.thread == thread && instinct::knows(&word.text));
        let (words, now) = (words.cloned().collect(), self.told.clock.now());
        let zone = &self.store.rules.time_zone;
        let said = self.access.outage().map(|outage| outage.sentence(false, now, zone));
        (moment.owner, moment.thread, moment.words) = (true, thread.to_owned(), words);
        moment.outage = said.unwrap_or_default();
        Ok(sensed)
    }

    /// Remembers what instinct decided and does it; the words it had are gone after that.
    async fn stood_in(
        &mut self,
        thought: Thought,
        Sensed { moment, round, reasons, caller, .. }: &Sensed,
        leaving: &mut impl Leaving,
    ) -> Result<Option<Next>, Fault> {
        if !thought.tool_calls.is_empty() || !moment.words.is_empty() {
            let number = self.cursors.counts.next_thought();
            let calls: Vec<Value> =
                thought.tool_calls.iter().map(|call| json!({"tool": call.tool})).collect();
            let record = json!({
                "mind": "instinct", "thought": number, "wake": self.cursors.counts.wakes, "round": round,
                "monologue": thought.monologue, "intent": text::shorten(&thought.intent, 200),
                "tool_calls": calls, "sleep_s": thought.sleep_s, "usage": Value::Null,
                "owner": true,
            });
            self.store.record("thought", record)?;
            self.cursors.counts.thoughts = number;
            let turn = Turn { number, caller, reasons };
            for call in &thought.tool_calls {
                if self.act(call, &turn, leaving).await? {
                    return Ok(Some(Next::Leave));
                }
            }
        }
        for word in &moment.words {
            let open = self.store.agenda.requests.open();
            let mine = open
                .filter(|one| one.is_fresh() && one.thread == word.thread && one.text == word.text.trim());
            let id = mine.map(|one| one.id.clone()).next();
            self.request_answered(id, &word.thread);
        }
        self.cursors.owner.words.retain(|waiting| !moment.words.contains(&waiting.word));
        // What was answered was another word: the next life must not take these for it.
        self.cursors.owner.words.iter_mut().for_each(|waiting| waiting.seen = 0);
        self.save()?;
        Ok(None)
    }

    /// Remembers a reply that could not be read, and rests for it.
    pub(crate) fn garbled(
        &mut self,
        error: &str,
        text: &str,
        usage: &Value,
        owner: bool,
    ) -> Result<Next, Fault> {
        let error = text::shorten(error, MOST_CHARS);
        tracing::warn!("garbled reply: {error}");
        let rest_s = self.access.garbled(&error, self.told.clock.now());
        let recovery = format!("it is asked again in {rest_s} s");
        self.store
            .feed
            .tell(Event::Error, json!({"about": "garbled reply", "text": error, "recovery": recovery}));
        let (mind, number) = (self.minds.now.name(), self.cursors.counts.next_thought());
        self.store.record(
            "thought",
            json!({
                "mind": mind, "thought": number, "garbled": true, "error": error,
                "text": text::shorten(text, 4_000), "usage": usage, "owner": owner,
            }),
        )?;
        self.unfinished.failed();
        Ok(Next::Rest(self.clamped(rest_s)))
    }

    /// Leaves a mind that is down alone for a while, and tells of it once.
    pub(crate) fn down(&mut self, down: &Down, owner: bool) -> Result<Next, Fault> {
        self.unfinished.failed();
        if down.why == Why::Budget && !owner {
            return self.spent(down);
        }
        let (rest_s, until, tell) = self.access.down(down, self.told.clock.now());
        if tell {
            self.tell_of_down(down, rest_s)?;
        }
        tracing::warn!(
            "the mind is down, next try in {rest_s} s: {}",
            text::shorten(&down.error, MOST_CHARS)
        );
        self.heart.next_try(Some(format!("{until:.0}")));
        Ok(Next::Rest(Duration::from_secs(rest_s)))
    }

    /// Takes a refusal of a call of its own for want of money: it asks again when there is room, after an hour at most.
    /// That is told once, and is no failure of the model.
    pub(crate) fn spent(&mut self, down: &Down) -> Result<Next, Fault> {
        let now = self.told.clock.now();
        let (rest_s, until, is_new) = self.access.spent(down, now);
        tracing::info!("its own money is spent; it asks again in {rest_s} s");
        if is_new {
            let text = format!("its own money is spent: {}", text::shorten(&down.error, MOST_ERROR));
            let again = hour(until, now, &self.store.rules.time_zone);
            self.tell_of_error("budget", text, format!("it asks again at {again}"), down, rest_s)?;
        }
        self.heart.spent(format!("{until:.0}"));
        Ok(Next::Rest(Duration::from_secs(rest_s)))
    }

    fn tell_of_down(&mut self, down: &Down, rest_s: u64) -> Result<(), Fault> {
        let error = text::shorten(&down.error, MOST_ERROR);
        let (about, text) = match down.why {
            Why::Budget => ("budget", format!("the money is spent: {error}")),
            _ => ("model", format!("{} is down: {error}", self.minds.now.name())),
        };
        let recovery = format!("it is asked again in {rest_s} s, or at a word of the owner's");
        self.tell_of_error(about, text, recovery, down, rest_s)
    }

    /// Tells feed and memory why the mind is not asked for so long.
    fn tell_of_error(
        &mut self,
        about: &str,
        text: String,
        recovery: String,
        down: &Down,
        rest_s: u64,
    ) -> Result<(), Fault> {
        self.store.feed.tell(Event::Error, json!({"about": about, "text": text, "recovery": recovery}));
        self.store
            .record("observation", json!({"about": about, "text": text, "hint": down.hint, "rest_s": rest_s}))
    }
}
