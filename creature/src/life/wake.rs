//! Wakes: does what is due by itself, and decides whether this wake needs a thought.
//!
//! Invariant: a model is called only for a reason that stands in the wake's record; instinct costs nothing and
//! looks at every wake. What is due by the clock is done here, without either.

pub(super) mod draft;
mod due;
mod events;
mod platforms;
mod scan;

use crate::fault::Fault;
use crate::heartbeat::Stage;
use crate::life::Life;
use crate::life::carried::Papers;
use crate::life::passed::Reasons;
use crate::mind::access::Access;
use crate::senses::budget;
use crate::senses::cursors::Cursors;
use crate::store::Store;
use crate::store::feed::Event;
use agenda::outbox::Kind;
use agenda::repeat::Repeats;
use agenda::waking;
use ground::checklist::{self, Named};
use ground::papers;
use jiff::Timestamp;
use memory::state;
use serde_json::json;
use std::time::Duration;

/// Sources looked at in one wake; the others wait for the next.
const MOST_LOOKS: usize = 3;

impl Life {
    /// Finds the reasons for which this wake thinks, and says them in its record.
    pub(crate) fn woken(&mut self) -> Result<Reasons, Fault> {
        let now = self.told.clock.now();
        let (found, instinct) = (self.found(now), self.minds.are_instinct());
        let mut why = waking::reasons(&found);
        if self.resting.emptied.holds(&why, now).is_some() && !self.cursors.owner.is_unseen() {
            why.clear();
        }
        if found.words > 0 || why != self.wakes.why {
            // With new words or other reasons the same call is no repeat.
            self.acts.repeats = Repeats::default();
        }
        let looks = instinct && why.is_empty() && !found.paused && !found.down;
        if looks {
            why.push("instinct looks around".to_owned());
        }
        let unrecorded = looks && self.wakes.is_unrecorded(now);
        let beat =
            json!({"wake": self.cursors.counts.wakes, "thoughts": self.cursors.counts.thoughts, "why": why});
        let line = self.first_line(now);
        self.store.feed.tell(Event::Wakeup, events::wakeup(&found, line.as_ref(), &why, &beat));
        // A wake whose record cannot be written costs no life; the failure is observed.
        let booked = if unrecorded { Ok(()) } else { self.store.book("heartbeat", beat) };
        self.store.observe(
            "bookkeeping",
            &booked.err().map_or(String::new(), |fault| format!("failed to {}", fault.error)),
        )?;
        self.wakes.quiet = if why.is_empty() { self.wakes.quiet + 1 } else { 0 };
        self.wakes.why.clone_from(&why);
        Ok(Reasons { why, unrecorded, beside: false })
    }

    /// Does everything that is due by the clock.
    pub(crate) fn attend_hour(&mut self) -> Result<(), Fault> {
        let (now, on_instinct) = (self.told.clock.now(), self.minds.are_instinct());
        let items = &mut self.cursors.papers.items;
        due::set_back(&mut self.store, &mut self.access, &mut self.scanned, items)?;
        due::remind(&mut self.store, &self.caller, on_instinct)?;
        if !self.paused() {
            // A review that nothing can pay for stays due.
            if self.access.spent_until(now).is_none() {
                due::review(&mut self.store, &self.caller, on_instinct)?;
            }
            due::order(&mut self.store, &self.caller);
        }
        if let Err(fault) = self.store.post(&self.caller) {
            self.store.observe("outbox", &format!("failed to {}", fault.error))?;
        }
        self.pause();
        Ok(())
    }

    /// Says in the feed when the owner's pause begins and ends.
    fn pause(&mut self) {
        let paused = self.paused();
        if self.told_to_pause() {
            let own = self.toolbox.jobs.in_background().into_iter().filter(|job| !job.caller.owner);
            own.for_each(|job| job.stop("your owner paused you"));
            self.pause_apart();
        }
        if std::mem::replace(&mut self.wakes.pause_told, paused) != paused {
            let event = if paused { Event::Paused } else { Event::Resumed };
            let is_typed = paused && !self.told_to_pause();
            let why = if is_typed { "you are typing" } else { "your word" };
            let interrupted = self.cursors.owner.interrupted.as_ref().map(|one| one.what.as_str());
            let line = self.first_line(self.told.clock.now());
            let what = events::held_up(self.unfinished.busy.as_deref(), interrupted, line);
            let pending = self.cursors.events.news.len();
            self.store.feed.tell(event, json!({"why": why, "what": what, "pending_events": pending}));
        }
    }

    /// Sources to follow; none on instinct, while paused, and where there is no way out.
    pub(crate) fn followed(&self) -> Vec<Named> {
        if self.minds.are_instinct() || self.told.broker.is_none() || self.paused() {
            return Vec::new();
        }
        let house = &self.told.house;
        let mut all =
            checklist::named(&papers::read(&house.purpose()).text, &papers::read(&house.checklist()).text);
        let platforms = platforms::named(&self.settings.revenue);
        all.retain(|named| !platforms.iter().any(|platform| platform.url == named.url));
        all.extend(platforms);
        all
    }

    /// Returns the time at which the next source is to be looked at.
    pub(crate) fn next_look(&self) -> Option<Timestamp> {
        let next_s = self.followed().iter().map(|named| self.scanned.next_s(named)).min()?;
        Timestamp::from_second(next_s).ok()
    }

    /// Looks at the sources that are due: what is new is an event, or waits for own time.
    pub(crate) async fn scan(&mut self) -> Result<(), Fault> {
        let (followed, now_s) = (self.followed(), self.told.clock.now().as_second());
        let Some(broker) = self.told.broker.clone() else { return Ok(()) };
        let mut due: Vec<&Named> =
            followed.iter().filter(|named| self.scanned.next_s(named) <= now_s).collect();
        due.sort_by_key(|named| self.scanned.next_s(named));
        if due.is_empty() {
            return Ok(());
        }
        for named in due.into_iter().take(MOST_LOOKS) {
            self.heart.stage(Stage::Sensing, Duration::from_secs(180));
            let looked = tokio::select! {
                biased;
                // What is not looked at now is due at the next wake.
                () = self.watch.word() => break,
                looked = scan::look(&broker, named) => looked,
            };
            let (revenue, now_s) = (&self.settings.revenue, self.told.clock.now().as_second());
            let came = scan::news(&mut self.scanned, revenue, named, looked, now_s);
            if let Ok(Some(text)) = &came {
                match self.has_own_time() {
                    // News are worth a look within the budget for own time, not a thought each.
                    true => self.scanned.has_news(text.clone()),
                    false => self.cursors.events.tell(text),
                }
            }
            if let Ok(Some(text)) | Err(Some(text)) = came {
                self.store.record("observation", json!({"about": "source", "text": text}))?;
            }
        }
        self.scanned.sources.retain(|url, _| followed.iter().any(|named| named.url == *url));
        // The events are saved first: the other way round, an end in between would lose them.
        self.save()?;
        state::keep(&self.told.house.scanned(), &self.scanned);
        Ok(())
    }
}

/// Looks at what changes rarely: PURPOSE.md and the state of the budget.
pub(super) fn notice(
    store: &mut Store,
    cursors: &mut Cursors,
    access: &mut Access,
    known: &mut Papers,
) -> Result<(), Fault> {
    let money = budget::read_money(&store.house.budget());
    access.poor = money.poor;
    store.observe("budget", &money.alarm)?;
    tell_of_money(store, cursors, &money.warning)?;
    let purpose = papers::read(&store.house.purpose());
    let mark = purpose.mark();
    if mark != cursors.papers.purpose {
        if !cursors.papers.purpose.is_empty() {
            known.purpose_changed = true;
            let text = "PURPOSE.md changed";
            store.record("observation", json!({"about": "purpose", "text": text, "mark": mark}))?;
        }
        cursors.papers.purpose = mark;
    }
    store.observe("purpose", &purpose.problem)
}

/// Tells the owner that the money runs short, once a day.
fn tell_of_money(store: &mut Store, cursors: &mut Cursors, warning: &str) -> Result<(), Fault> {
    let today: String = store.clock.text().chars().take(10).collect();
    let wanted = store.agenda.directives.lets_through(Kind::Approval, warning, store.clock.now());
    if warning.is_empty() || cursors.events.money_told == today || !wanted {
        return Ok(());
    }
    cursors.events.money_told = today;
    store.say("money", "main", warning)?;
    store.keep_cursors(cursors)
}
