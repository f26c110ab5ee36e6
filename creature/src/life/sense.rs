//! The outlook of a wake: which mind the broker offers, what the owner said and decided, and all a thought is given.
//!
//! Invariant: a broker that is away or babbles changes nothing but what is observed; the mind in use stays.

use crate::config::ModelSettings;
use crate::fault::Fault;
use crate::life::Life;
use crate::life::birth::LOOK_BACK;
use crate::mind::instinct::Instinct;
use crate::mind::llm::ModelMind;
use crate::mind::moment::Moment;
use crate::mind::{Down, Mind, context, llm, standing};
use crate::senses::cursors::{Cursors, Heard, Waiting};
use crate::senses::{asks, budget, inbox, papers};
use crate::store::caller::Caller;
use crate::tools::left;
use agenda::own::LONGEST_CHOSEN_S;
use agenda::requests::Request;
use agenda::waking;
use jiff::Timestamp;
use memory::snapshot;
use serde_json::{Value, json};

/// Characters of events in one thought: what its prompt has room for, less the line on those that wait.
const MOST_NEWS: usize = 1_800;

impl Life {
    /// Asks the broker how things stand and tells of what is new.
    pub(crate) async fn look_out(&mut self) -> Result<(), Fault> {
        self.find_way();
        let before = self.mind.name();
        let said = self.consult().await;
        self.observe("broker", &said)?;
        let now = self.mind.name();
        if before != now {
            let text = format!("from now on I think with {now}, no longer with {before}");
            tracing::info!("{text}");
            self.remember("observation", json!({"about": "mind", "text": text}))?;
        }
        Ok(())
    }

    /// Another broker than before, with what its owner saved, or another day's money: the mind may be asked again.
    fn find_way(&mut self) {
        let way = self.watch.know_way();
        let known = self.course.way.replace(way.clone());
        if known.is_some_and(|known| known != way) && self.course.down_until.take().is_some() {
            tracing::info!("the way to the model has changed: it is asked again");
            self.setbacks.ease();
            self.heart.next_try(None);
        }
    }

    /// Takes the mind the broker offers; what was wrong with its answer, empty when all is well.
    pub(crate) async fn consult(&mut self) -> String {
        self.heart.mind(&self.mind.name());
        let Some(broker) = &self.told.broker else { return String::new() };
        let status = match broker.status().await {
            Ok(status) => status,
            Err(error) => return format!("failed to {} ({})", error.message, error.hint),
        };
        self.asks_waiting = status.get("asks_waiting").and_then(Value::as_u64).unwrap_or(0);
        let offer = status.get("model").cloned().unwrap_or(Value::Null);
        if offer == self.offer {
            return String::new();
        }
        let instinct = || Mind::Instinct(Instinct::load(&self.told.house));
        let (mind, said) = match llm::offered(broker, &status, &self.settings.model, &self.told.house) {
            Ok(Some(mind)) => (Mind::Model(mind), String::new()),
            Ok(None) => (instinct(), String::new()),
            Err(said) => (instinct(), said),
        };
        if said.is_empty() {
            self.offer = offer;
        }
        let others = self.offer.get("fallback").and_then(Value::as_array).cloned().unwrap_or_default();
        // Each house has words of its own for effort.
        let settings = ModelSettings { effort: String::new(), ..self.settings.model.clone() };
        let named = |offer: &Value| llm::named(broker, offer, &settings, &self.told.house, None);
        self.others = others.iter().filter_map(|offer| named(offer).ok()).map(Mind::Model).collect();
        self.quick =
            self.offer.get("quick").filter(|quick| quick.is_object()).and_then(|quick| named(quick).ok());
        (self.mind, self.first) = (mind, None);
        self.take_up();
        (self.course.down_until, self.outage) = (None, None);
        self.heart.next_try(None);
        self.heart.mind(&self.mind.name());
        said
    }

    /// Whether another model of the owner's list takes this wake on, where the one in use cannot.
    pub(crate) fn falls_back(&mut self, down: &Down) -> Result<bool, Fault> {
        if !down.is_of_server() || self.others.is_empty() {
            return Ok(false);
        }
        let next = self.others.remove(0);
        let text =
            format!("{} does not answer ({}): {} takes over", self.mind.name(), down.cause, next.name());
        tracing::warn!("{text}");
        let mut before = std::mem::replace(&mut self.mind, next);
        before.talk().into_iter().for_each(ModelMind::let_go);
        // Those that failed come again with the next offer of the broker's; the first is asked first.
        self.first.get_or_insert(before);
        self.heart.mind(&self.mind.name());
        self.observe("fallback", &text)?;
        Ok(true)
    }

    /// The next wake begins with the first model again.
    pub(crate) fn fall_forward(&mut self) {
        if let Some(first) = self.first.take() {
            let mut stood_in = std::mem::replace(&mut self.mind, first);
            stood_in.talk().into_iter().for_each(ModelMind::let_go);
            self.others.insert(0, stood_in);
            self.heart.mind(&self.mind.name());
        }
    }

    /// What the conversations of the mind left unfinished is gone on with: the owner's first.
    fn take_up(&mut self) {
        let Mind::Model(mind) = &self.mind else { return };
        self.toolbox.most_shown = mind.most_shown();
        for thread in mind.unfinished() {
            match thread {
                Some(thread) => self.course.on = Some(thread),
                None => self.course.overran = self.course.overran.max(1),
            }
        }
    }

    /// Everything a mind is given, read now.
    pub fn sense(&mut self, round: u32) -> Result<Moment, Fault> {
        let house = self.told.house.clone();
        self.watch.know();
        self.hear()?;
        self.hear_outcomes()?;
        self.notice()?;
        self.attend()?;
        let checklist = papers::read(&house.checklist());
        self.observe("checklist", &checklist.odd)?;
        self.course.checklist = checklist.mark();
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
        let Caller { owner, thread, .. } = self.caller.clone();
        let (stack, now) = (self.stack(), self.told.clock.now());
        // Only what the wake began with counts as looked at: later rounds see the rest because this was done.
        let line = stack.iter().find(|line| line.ready_at <= now);
        self.course.line = line.filter(|_| round == 0 && !owner).cloned();
        let waiting = || self.cursors.words.iter().filter(|waiting| waiting.word.thread == thread);
        let words = waiting().map(|waiting| waiting.word.clone()).collect();
        let unseen = waiting().filter(|waiting| waiting.seen == 0).count();
        let money = budget::read(&house.budget());
        let mut moment = Moment {
            now: self.told.clock.text(),
            time_zone: Some(self.store.rules.time_zone.clone()),
            life: self.told.life,
            commit: self.told.commit.clone(),
            safe: self.told.safe,
            rehearsal: self.told.rehearsal,
            thoughts_before: self.cursors.thoughts,
            round,
            purpose: papers::read(&house.purpose()).text,
            purpose_changed: self.course.purpose_changed,
            checklist: checklist.text,
            scratch: papers::read(&house.papers().join("scratch.md")).text,
            words,
            unseen,
            news: self.news(),
            snapshot,
            records,
            rest_s: self.rests(),
            budget: money.line,
            alarm: money.alarm,
            unconsulted: self.observed.get("broker").is_some_and(|said| !said.is_empty()),
            born: self.born.clone(),
            asks_waiting: self.asks_waiting,
            draft: self.draft().map_or(String::new(), |draft| draft.line()),
            owner,
            thread,
            reasons: self.course.why.clone(),
            rounds: self.settings.agenda.rounds,
            goals: self.store.agenda.goals.lines().join("\n"),
            stack,
            requests: self.requests(now),
            own: self.own_brief(),
            directives: self.store.agenda.directives.lines(now),
            paused: self.paused(),
            sessions: self.store.sessions.lines(),
            ..Moment::default()
        };
        moment.standing = standing::standing(&moment);
        Ok(moment)
    }

    /// Shortest and longest rest a thought may choose, in seconds; with time of its own it is kept over wakes.
    fn rests(&self) -> (u64, u64) {
        let rest = &self.settings.rest;
        let longest_s = if self.around().own.is_some() { LONGEST_CHOSEN_S } else { rest.longest_s };
        (rest.shortest_s, longest_s.max(rest.longest_s))
    }

    fn requests(&self, now: Timestamp) -> Vec<String> {
        let line = |one: &Request| {
            let (text, tools) = (context::shorten(&one.text, 60), one.tools.join(", "));
            format!("Open request {} of your owner's, \"{text}\": {tools} allowed for it.", one.id)
        };
        self.store.agenda.requests.standing(now).take(3).map(line).collect()
    }

    /// Turns to the owner where a word waits, one thread at a time, or a request is still worked on; else back to what it
    /// does by itself.
    fn attend(&mut self) -> Result<(), Fault> {
        let next = self.cursors.words.iter().min_by_key(|waiting| waiting.seen);
        let thread = next.map(|waiting| waiting.word.thread.clone()).or_else(|| self.course.on.clone());
        match &thread {
            Some(_) => self.interrupted()?,
            None => self.resumed(),
        }
        self.caller = thread.map_or_else(Caller::own, |thread| Caller::owner(&thread));
        Ok(())
    }

    /// The events this thought is shown. One that answers the owner has none: they wait for the next.
    fn news(&mut self) -> Vec<String> {
        let Cursors { news, gathered, .. } = &self.cursors;
        let shown = if self.caller.owner { 0 } else { waking::shown(news, MOST_NEWS) };
        self.course.shown = shown;
        let waiting = news.len() - shown;
        let mut told = Vec::new();
        if shown > 0 && (waiting > 0 || *gathered > 0) {
            told.push(format!(
                "{waiting} older events wait for a later thought; {gathered} more were too many to keep"
            ));
        }
        told.extend(news.iter().skip(waiting).cloned());
        told
    }

    /// Takes the owner's new words: each is remembered and waits for an answer.
    pub(crate) fn hear(&mut self) -> Result<(), Fault> {
        let heard = inbox::read(&self.told.house.inbox(), &mut self.cursors.inbox);
        self.observe("inbox", &heard.odd)?;
        let mut known = std::mem::take(&mut self.heard);
        let mut taken = Vec::new();
        for (nth, word) in heard.words.into_iter().enumerate() {
            let before = known.iter().position(|known| known.is_one && known.word == word);
            let before = before.map(|at| known.remove(at));
            if before.as_ref().is_some_and(|known| known.answered) {
                continue;
            }
            let name = || format!("{}-{}-{nth}", self.told.life, self.told.clock.now().as_millisecond());
            let id = before.as_ref().map(|known| known.id.clone()).filter(|id| !id.is_empty());
            let id = id.unwrap_or_else(name);
            taken.extend(before.map(|known| Heard { id: id.clone(), ..known }));
            self.cursors.words.push(Waiting { id, ..Waiting::new(word) });
        }
        known.extend(taken);
        self.take_in(&known)
    }

    /// Heard and kept first, remembered under its name then: an end in between neither loses a word nor doubles it.
    fn take_in(&mut self, known: &[Heard]) -> Result<(), Fault> {
        let new: Vec<Waiting> =
            self.cursors.words.iter().filter(|waiting| !waiting.id.is_empty()).cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        self.save()?;
        for Waiting { word, id, .. } in new {
            let before = known.iter().find(|known| known.id == id);
            if before.is_none() {
                tracing::info!("the owner says: {}", context::shorten(&word.text, 200));
                let said = json!({"from": "owner", "text": word.text, "at": word.at, "thread": word.thread, "id": id});
                self.remember("message", said)?;
                self.used(left::MESSAGE);
            }
            let answered = before.is_some_and(|known| known.answered);
            let reply = if answered { None } else { self.directed(&word.text, &word.thread) };
            if let Some(reply) = &reply {
                let data =
                    json!({"from": "creature", "kind": "answer", "thread": word.thread, "text": reply});
                self.remember("message", data)?;
            }
            if answered || reply.is_some() {
                self.cursors.words.retain(|waiting| waiting.id != id);
                continue;
            }
            self.requested(&word);
            if let Some(answered) = self.approved(&word)? {
                if answered {
                    continue;
                }
            } else if before.is_none() {
                self.phased(&word.text, &word.thread);
            }
            let mine = self.cursors.words.iter_mut().find(|waiting| waiting.id == id);
            mine.into_iter().for_each(|waiting| waiting.id.clear());
        }
        self.save()
    }

    /// Takes what the owner decided: each is remembered and told to the next thought.
    pub(crate) fn hear_outcomes(&mut self) -> Result<(), Fault> {
        if self.told.safe {
            return Ok(());
        }
        let (outcomes, odd) = asks::read(&self.told.house.asks(), &mut self.cursors.asks);
        self.observe("asks", &odd)?;
        for outcome in outcomes {
            if self.cursors.first_telling(outcome.key) {
                tracing::info!("{}", context::shorten(&outcome.told, 200));
                if outcome.record.get("event") == Some(&json!("executed")) {
                    self.used(&format!(
                        "ask {}",
                        outcome.record.get("id").and_then(Value::as_str).unwrap_or("")
                    ));
                }
                self.cursors.tell(outcome.told);
                self.remember("observation", outcome.record)?;
            }
        }
        Ok(())
    }
}
