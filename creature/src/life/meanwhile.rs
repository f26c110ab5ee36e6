//! The loop while the mind is away: instinct does what it knows of the owner's words, plain code answers the rest.
//!
//! Invariant: a word is told once of each cause, and waits on for the mind; none is met with silence.

use crate::fault::Fault;
use crate::life::act::Turn;
use crate::life::hear::consent;
use crate::life::passed::{Ends, Reasons, Sensed, Then};
use crate::life::situation::MOST_TOLD;
use crate::life::{Leaving, Life};
use crate::pace;
use crate::senses::cursors::Waiting;
use crate::store::caller::Caller;
use ground::text;
use instinct::Instinct;
use mind::Outcome;
use mind::thought::Thought;
use serde_json::{Value, json};

impl Life {
    /// Does what instinct knows by name, and tells the owner of the rest; `asks`: the mind is asked next.
    pub(super) async fn meanwhile(
        &mut self,
        asks: bool,
        reasons: &Reasons,
        leaving: &mut impl Leaving,
    ) -> Result<Option<Ends>, Fault> {
        let is_away = self.minds.can_read() && self.access.outage().is_some();
        if !is_away || self.cursors.owner.words.is_empty() || self.acts.rebirth.is_some() {
            return Ok(None);
        }
        let ends = self.stand_in(reasons, leaving).await?;
        if ends.is_none() {
            self.tell_of_outage(asks)?;
        }
        Ok(ends)
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
    ) -> Result<Option<Ends>, Fault> {
        let mut thread = None;
        let mut instinct = None;
        for round in 0..self.settings.agenda.rounds {
            let known = self.cursors.owner.words.iter().find(|waiting| instinct::knows(&waiting.word.text));
            let Some(on) = known.map(|waiting| waiting.word.thread.clone()).or(thread.clone()) else { break };
            let instinct = instinct.get_or_insert_with(|| Instinct::load(&self.told.house, pace::BUILT));
            if let Some(stop) = self.take_notice(None)? {
                return self.obeyed(stop, true).map(Some);
            }
            let sensed = self.known_words(round, &on, reasons)?;
            let Outcome::Thought { thought, .. } = instinct.stand_in(&sensed.moment, round == 0) else {
                break;
            };
            let goes_on = !thought.tool_calls.is_empty();
            if let Some(ends) = self.stood_in(thought, &sensed, leaving).await? {
                return Ok(Some(ends));
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
        sensed.caller = Caller { stands_in: true, ..Caller::owner(thread) };
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

    /// Remembers what instinct decided and does it. The words it had wait no longer meanwhile: a call may take long, and
    /// what else is said is answered beside it.
    async fn stood_in(
        &mut self,
        thought: Thought,
        Sensed { moment, round, reasons, caller, .. }: &Sensed,
        leaving: &mut impl Leaving,
    ) -> Result<Option<Ends>, Fault> {
        let is_had = |waiting: &mut Waiting| moment.words.contains(&waiting.word);
        let had: Vec<Waiting> = self.cursors.owner.words.extract_if(.., is_had).collect();
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
                match self.call(call, &turn, leaving).await?.then {
                    Then::Left => {
                        self.cursors.owner.words.splice(0..0, had);
                        return Ok(Some(Ends::Leave));
                    }
                    Then::Stopped(mut stop) => {
                        stop.cancelled.splice(0..0, had);
                        return self.obeyed(stop, false).map(Some);
                    }
                    Then::On | Then::Heard => {}
                }
            }
        }
        for word in &moment.words {
            let open = self.store.agenda.requests.open();
            let mine = open
                .filter(|one| one.is_fresh() && one.thread == word.thread && one.about == word.text.trim());
            let id = mine.map(|one| one.id.clone()).next();
            consent::request_answered(&mut self.store, id, &word.thread);
        }
        // What was answered was another word: the next life must not take these for it.
        self.cursors.owner.words.iter_mut().for_each(|waiting| waiting.seen = 0);
        self.save()?;
        Ok(None)
    }
}
