//! Senses: all that a thought is given, read when it begins, and in whose name it is had.

use crate::fault::Fault;
use crate::life::passed::{Reasons, Sensed, Shown};
use crate::life::{Life, own, requests};
use crate::senses::budget;
use crate::senses::cursors::{Events, Interrupted};
use crate::senses::packages;
use crate::store::LOOK_BACK;
use crate::store::caller::Caller;
use crate::store::feed::Event;
use agenda::stack::{Category, Line};
use agenda::waking;
use ground::{papers, text};
use knowledge::skills::{self, Shelves, Skill};
use memory::{Record, snapshot};
use mind::moment::Moment;
use mind::standing;
use serde_json::json;

/// Characters of a text that go into an event.
const MOST_CHARS: usize = 300;

/// Characters of events in one thought: what its prompt has room for, less the line on those that wait.
const MOST_NEWS: usize = 1_800;

/// Oddities of skills that are told.
const MOST_ODD: usize = 12;

impl Life {
    /// Reads everything a mind is given.
    pub fn sense(&mut self, round: u32, reasons: &Reasons) -> Result<Sensed, Fault> {
        let house = self.told.house.clone();
        let request = self.attend(reasons.beside)?;
        if round == 0 && !self.caller.owner {
            self.measure();
        }
        let checklist = self.checklist();
        self.store.observe("checklist", &checklist.problem)?;
        self.papers.checklist = checklist.mark();
        let skills = self.skills()?;
        let (records, snapshot) = self.looked_back();
        let Caller { owner, thread, .. } = self.caller.clone();
        let (stack, now) = (self.stack(), self.told.clock.now());
        let is_own = |line: &&Line| line.ready_at <= now && line.category != Category::Requests;
        let line = stack.iter().find(is_own).filter(|_| round == 0 && !owner).cloned();
        let waiting = || self.cursors.owner.words.iter().filter(|waiting| waiting.word.thread == thread);
        let words = waiting().map(|waiting| waiting.word.clone()).collect();
        let unseen = waiting().filter(|waiting| waiting.seen == 0).count();
        let money = budget::read_money(&house.budget());
        let (events, news) = self.news();
        let (store, said) = (&self.store, &self.cursors.owner.words);
        let mut moment = Moment {
            now: self.told.clock.text(),
            time_zone: Some(self.store.rules.time_zone.clone()),
            life: self.told.life,
            commit: self.told.commit.clone(),
            safe: self.told.safe,
            rehearsal: self.told.rehearsal,
            thoughts_before: self.cursors.counts.thoughts,
            // The first thought for a request is told all, also in the middle of a wake.
            round: if request.is_some() { 0 } else { round },
            purpose: papers::read(&house.purpose()).text,
            purpose_changed: self.papers.purpose_changed,
            skills: skills.owners.iter().map(Skill::line).collect(),
            own_skills: skills.own.iter().map(Skill::line).collect(),
            checklist: checklist.text,
            scratch: papers::read(&house.papers().join("scratch.md")).text,
            words,
            unseen,
            news,
            snapshot,
            records,
            rest_s: (self.bounds().shortest_s, self.bounds().chosen_s),
            budget: money.line,
            alarm: money.alarm,
            unconsulted: self.store.observed.get("broker").is_some_and(|said| !said.is_empty()),
            born: self.born.change_text(now).to_owned(),
            packages: packages::how_to_install(|name| std::env::var(name).ok()),
            asks_waiting: self.minds.asks_waiting,
            draft: self.draft().map_or(String::new(), |draft| draft.line()),
            owner,
            thread,
            reasons: reasons.why.clone(),
            rounds: self.settings.agenda.rounds,
            goals: self.store.agenda.goals.lines().join("\n"),
            stack,
            requests: requests::lines(store, said, &self.toolbox.watches, &self.caller, request.as_deref()),
            own: own::own_brief(store, line.as_ref(), &self.scanned.news),
            directives: self.store.agenda.directives.lines(now, &self.store.rules.time_zone),
            paused: self.told_to_pause(),
            sessions: self.store.sessions.lines(),
            ..Moment::default()
        };
        moment.standing = standing::standing(&moment);
        let (reasons, caller) = (reasons.clone(), self.caller.clone());
        Ok(Sensed { moment, round, reasons, caller, request, shown: Shown { events, line } })
    }

    /// The skills there are, none in safe mode; what is odd about them is remembered once.
    fn skills(&mut self) -> Result<Shelves, Fault> {
        if self.told.safe {
            return Ok(Shelves::default());
        }
        let found = skills::shelves(self.told.house.root());
        let more = found.odd.len().saturating_sub(MOST_ODD);
        let mut odd = found.odd.iter().take(MOST_ODD).cloned().collect::<Vec<_>>().join("; ");
        if more > 0 {
            odd += &format!("; and {more} more");
        }
        self.store.observe("skills", &odd)?;
        Ok(found)
    }

    /// The newest records and the newest snapshot; neither in safe mode.
    fn looked_back(&self) -> (Vec<Record>, Option<String>) {
        if self.told.safe {
            return (Vec::new(), None);
        }
        (
            self.store.newest(LOOK_BACK),
            snapshot::latest(&self.told.house.snapshots()).ok().flatten().map(|found| found.text),
        )
    }

    /// Turns to the owner where a word waits, one thread at a time, or a request is still worked on or ready; else back
    /// to what it does by itself. The request it goes on with or takes up.
    fn attend(&mut self, beside: bool) -> Result<Option<String>, Fault> {
        let next = self.cursors.owner.words.iter().filter(|waiting| !self.is_put_off(waiting));
        let next = next.min_by_key(|waiting| waiting.seen);
        let spoken = next.map(|waiting| waiting.word.thread.clone());
        let going = if spoken.is_some() { None } else { self.unfinished.thread() };
        let goes_on = |thread: &String| requests::goes_on_with(&self.store, thread, self.wakes.began);
        let mut request = going.as_ref().and_then(goes_on);
        let mut take_up = || {
            let line = self.ready_request().filter(|_| !beside)?;
            let mut open = self.store.agenda.requests.open();
            let thread = open.find(|one| one.id == line.id)?.thread.clone();
            request = Some(line.id);
            Some(thread)
        };
        let thread = spoken.or(going).or_else(&mut take_up);
        match &thread {
            Some(_) => self.interrupted()?,
            None => self.resumed(),
        }
        self.caller = thread.map_or_else(Caller::own, |thread| Caller::owner(&thread));
        Ok(request)
    }

    /// The events this thought is shown, and what it is told of events. One that answers the owner is shown none: they
    /// wait for the next.
    fn news(&self) -> (Vec<String>, Vec<String>) {
        if self.caller.owner {
            return (Vec::new(), self.unfinished.jobs_of(&self.caller.thread));
        }
        let Events { news, gathered, .. } = &self.cursors.events;
        let shown = waking::shown(news, MOST_NEWS);
        let waiting = news.len() - shown;
        let events: Vec<String> = news.iter().skip(waiting).cloned().collect();
        let mut told = Vec::new();
        if shown > 0 && (waiting > 0 || *gathered > 0) {
            told.push(format!(
                "{waiting} older events wait for a later thought; {gathered} more were too many to keep"
            ));
        }
        told.extend(events.iter().cloned());
        (events, told)
    }

    /// Sets the creature's own work aside for the owner's word; `resumed` takes it up once the word is answered.
    fn interrupted(&mut self) -> Result<(), Fault> {
        let Some(what) = self.unfinished.busy.take() else { return Ok(()) };
        let said =
            self.cursors.owner.words.iter().map(|waiting| text::shorten(&waiting.word.text, MOST_CHARS));
        let (said, what) = (said.collect(), text::shorten(&what, MOST_CHARS));
        self.store.feed.tell(Event::Paused, json!({"why": "the owner's word", "what": what}));
        self.cursors.owner.interrupted = Some(Interrupted { at: self.told.clock.text(), what, said });
        self.save()
    }

    /// Takes up again what the owner's word interrupted, by an event for the next thought.
    fn resumed(&mut self) {
        let Some(Interrupted { at, what, said }) = self.cursors.owner.interrupted.take() else { return };
        let pending = self.cursors.events.news.len();
        self.store.feed.tell(Event::Resumed, json!({"what": what, "since": at, "pending_events": pending}));
        let said = said.join("\" and \"");
        self.cursors.events.tell(format!(
            "Your owner's word interrupted you at {at} while you meant to: {what}. Your owner said \"{said}\", and was \
             answered. Go on, unless the word changed it."
        ));
    }
}
