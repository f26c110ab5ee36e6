//! Wakes: does what is due by itself, and decides whether this wake needs a thought.
//!
//! Invariant: a model is called only for a reason that stands in the wake's record; instinct costs nothing and
//! looks at every wake. What is due by the clock is done here, without either.

use crate::dream;
use crate::fault::Fault;
use crate::life::sense::Shown;
use crate::life::{Leaving, Life};
use crate::mind::Mind;
use crate::senses::{budget, cursors::Interrupted, typing};
use crate::store::Store;
use crate::store::caller::Caller;
use crate::store::feed::Event;
use agenda::outbox::Kind;
use agenda::repeat::Repeats;
use agenda::stack::{self, Category, Line};
use agenda::waking::{self, Found};
use ground::checklist;
use ground::papers::{self, Paper};
use ground::text;
use jiff::Timestamp;
use serde_json::json;

/// Characters of a text that go into an event.
const MOST_CHARS: usize = 300;

impl Life {
    /// Does what came due and takes what was said; none of it needs a mind.
    pub(crate) async fn tick(&mut self) -> Result<(), Fault> {
        self.caller = Caller::own();
        (self.access.setback, self.course.said_done) = (false, false);
        (self.course.began, self.course.progress) = (Some(self.told.clock.now()), false);
        self.course.asked = false;
        self.watch.know();
        self.hear()?;
        if self.course.stop.is_some() {
            self.obey()?;
        }
        self.hear_outcomes()?;
        self.notice()?;
        if self.told.safe {
            return Ok(());
        }
        self.settle_in();
        self.attend_hour()?;
        self.put_old_draft_away().await?;
        self.course.changed = dream::changed(&self.told.house);
        self.end_waits();
        self.scan().await
    }

    /// Looks at what changes rarely: PURPOSE.md and the state of the budget.
    pub(crate) fn notice(&mut self) -> Result<(), Fault> {
        let house = self.told.house.clone();
        let money = budget::read(&house.budget());
        self.access.poor = money.poor;
        self.observe("budget", &money.alarm)?;
        self.tell_of_money(&money.warning)?;
        let purpose = papers::read(&house.purpose());
        let mark = purpose.mark();
        if mark != self.cursors.purpose {
            if !self.cursors.purpose.is_empty() {
                self.course.purpose_changed = true;
                let text = "PURPOSE.md changed";
                self.store.record("observation", json!({"about": "purpose", "text": text, "mark": mark}))?;
            }
            self.cursors.purpose = mark;
        }
        self.observe("purpose", &purpose.problem)
    }

    /// The owner hears that the money runs short, once a day.
    fn tell_of_money(&mut self, warning: &str) -> Result<(), Fault> {
        let today: String = self.told.clock.text().chars().take(10).collect();
        let now = self.told.clock.now();
        let wanted = self.store.agenda.directives.lets_through(Kind::Approval, warning, now);
        if warning.is_empty() || self.cursors.money_told == today || !wanted {
            return Ok(());
        }
        self.cursors.money_told = today;
        let data = json!({"from": "creature", "kind": "money", "thread": "main", "text": warning});
        self.store.record("message", data)?;
        self.save()
    }

    /// The checklist; empty where the owner wants it left alone.
    pub(crate) fn checklist(&self) -> Paper {
        match self.settings.agenda.checklist {
            true => papers::read(&self.told.house.checklist()),
            false => Paper::default(),
        }
    }

    /// How things stand now, for the decision whether to think.
    pub(crate) fn found(&self, now: Timestamp) -> Found {
        let paper = self.checklist();
        let rests = self.course.rest.is_some_and(|rest| rest.holds(now));
        Found {
            newborn: !self.course.proven,
            words: match self.is_down() {
                // A word whose owner was told why it waits is no reason until the next try.
                true => self.untold(),
                false => self.cursors.words.iter().filter(|waiting| !self.is_put_off(waiting)).count(),
            },
            events: self.cursors.news.len() + usize::from(self.cursors.interrupted.is_some()),
            purpose_changed: self.course.purpose_changed,
            checklist_changed: self.settings.agenda.checklist
                && paper.mark() != self.cursors.checklist
                && !(paper.text.trim().is_empty() && self.cursors.checklist.is_empty()),
            items_due: self.items_due(&paper.text, now),
            request: self.ready_request().map(|line| named(&line)),
            line: self.first_line(now).map(|line| named(&line)),
            draft: self.draft_due().filter(|(at, _)| *at <= now && !rests).map(|(_, line)| line),
            unfinished: self.course.overran > 0
                || !self.course.threads.is_empty()
                || !self.course.ended_jobs.is_empty(),
            paused: self.paused(),
            down: self.is_down(),
            spent: self.access.spent_until(now).is_some(),
        }
    }

    /// The first line of its own work that is worth a thought; in a rest that a thought chose, only one that is new.
    pub(crate) fn first_line(&self, now: Timestamp) -> Option<Line> {
        let rest = self.course.rest.filter(|rest| rest.holds(now));
        let is_new = |line: &Line| rest.is_none_or(|rest| line.changed_at > rest.began);
        let lines = self.stack().into_iter();
        lines
            .filter(|line| line.ready_at <= now && line.category != Category::Requests)
            .find(|line| is_new(line))
    }

    /// Whether the owner said something that no thought has seen.
    pub(crate) fn unheard(&self) -> bool {
        self.cursors.words.iter().any(|waiting| waiting.seen == 0)
    }

    /// Decides whether this wake thinks, and says why in its record.
    pub(crate) fn woken(&mut self) -> Result<bool, Fault> {
        let now = self.told.clock.now();
        let (found, instinct) = (self.found(now), matches!(self.mind, Mind::Instinct(_)));
        let mut why = waking::reasons(&found);
        if self.course.emptied.holds(&why, now).is_some() && !self.unheard() {
            why.clear();
        }
        if found.words > 0 || why != self.course.why {
            // With new words or other reasons the same call is no repeat.
            self.repeats = Repeats::default();
        }
        self.course.why = why;
        let looks = instinct && self.course.why.is_empty() && !found.paused && !found.down;
        if looks {
            self.course.why.push("instinct looks around".to_owned());
        }
        self.course.looks.wake(looks, now);
        let why = &self.course.why;
        let beat = json!({"wake": self.cursors.wakes, "thoughts": self.cursors.thoughts, "why": why});
        self.store.feed.tell(Event::Wakeup, self.wakeup(&found, &beat, now));
        // A wake whose record cannot be written costs no life; the failure is observed.
        let booked = if self.course.looks.unrecorded { Ok(()) } else { self.store.book("heartbeat", beat) };
        self.observe(
            "bookkeeping",
            &booked.err().map_or(String::new(), |fault| format!("failed to {}", fault.error)),
        )?;
        self.course.quiet = if self.course.why.is_empty() { self.course.quiet + 1 } else { 0 };
        Ok(!self.course.why.is_empty())
    }

    /// Recurring items of the checklist whose time has come.
    fn items_due(&self, checklist: &str, now: Timestamp) -> Vec<String> {
        let due = |line: &str| self.cursors.items.get(line).is_none_or(|next_s| *next_s <= now.as_second());
        let items =
            checklist::open(checklist, self.reads()).into_iter().filter(|item| item.every_s.is_some());
        items.filter(|item| due(&item.line)).map(|item| text::shorten(&item.text, 160)).collect()
    }

    /// Notes that a thought was completed: what it was shown is not told again. After one that answers
    /// the owner all else is still to be told.
    pub(crate) fn seen(&mut self, shown: Shown) {
        self.course.proven = true;
        self.access.thought();
        self.course.born_told.get_or_insert(self.told.clock.now());
        if self.caller.owner {
            self.course.ended_jobs.retain(|(thread, _)| *thread != self.caller.thread);
            return;
        }
        self.course.purpose_changed = false;
        self.course.draft_seen = Some(self.told.clock.now());
        self.cursors.take_news(&shown.events);
        self.cursors.checklist = std::mem::take(&mut self.course.checklist);
        match shown.line {
            Some(line) if line.category == Category::Own => self.began_look(&line.id),
            Some(line) => _ = self.made(&line.looked()),
            None => {}
        }
        let now_s = self.told.clock.now().as_second();
        let items = checklist::open(&self.checklist().text, self.reads());
        self.cursors.items.retain(|line, _| items.iter().any(|item| item.line == *line));
        for item in items {
            let Some(every_s) = item.every_s else { continue };
            let next_s = self.cursors.items.entry(item.line).or_insert(now_s);
            if *next_s <= now_s {
                *next_s = now_s.saturating_add(every_s);
            }
        }
    }

    /// Sets the creature's own work aside for the owner's word; `resumed` takes it up once the word is answered.
    pub(crate) fn interrupted(&mut self) -> Result<(), Fault> {
        let Some(what) = self.course.busy.take() else { return Ok(()) };
        let said = self.cursors.words.iter().map(|waiting| text::shorten(&waiting.word.text, MOST_CHARS));
        let (said, what) = (said.collect(), text::shorten(&what, MOST_CHARS));
        self.store.feed.tell(Event::Paused, json!({"why": "the owner's word", "what": what}));
        self.cursors.interrupted = Some(Interrupted { at: self.told.clock.text(), what, said });
        self.save()
    }

    /// Takes up again what the owner's word interrupted, by an event for the next thought.
    pub(crate) fn resumed(&mut self) {
        let Some(Interrupted { at, what, said }) = self.cursors.interrupted.take() else { return };
        let pending = self.cursors.news.len();
        self.store.feed.tell(Event::Resumed, json!({"what": what, "since": at, "pending_events": pending}));
        let said = said.join("\" and \"");
        self.cursors.tell(format!(
            "Your owner's word interrupted you at {at} while you meant to: {what}. Your owner said \"{said}\", and was \
             answered. Go on, unless the word changed it."
        ));
    }

    /// Whether the owner paused the creature by a word.
    pub(crate) fn told_to_pause(&self) -> bool {
        self.store.agenda.directives.paused(self.told.clock.now()).is_some()
    }

    /// Until when it waits for a word that the owner is typing.
    pub fn typing_until(&self) -> Option<Timestamp> {
        typing::until(&self.told.house.typing(), self.told.clock.now())
    }

    /// Whether the owner paused the creature, by a word or by typing one.
    pub(crate) fn paused(&self) -> bool {
        self.told_to_pause() || self.typing_until().is_some()
    }

    /// The priority stack as it is now; empty in safe mode.
    pub(crate) fn stack(&self) -> Vec<Line> {
        if self.told.safe {
            return Vec::new();
        }
        let Store { agenda, rules, .. } = &self.store;
        stack::stack(agenda, rules, &self.around(), self.told.clock.now())
    }

    /// Whether nothing is done now that nobody asked for: where nothing is done at all, and while its own money is spent.
    pub(crate) fn held(&self, now: Timestamp) -> bool {
        self.is_stopped() || self.access.spent_until(now).is_some()
    }

    /// Whether no work is done now, the owner's included: in safe mode, while paused, and while the mind is down.
    pub(crate) fn is_stopped(&self) -> bool {
        self.told.safe || self.paused() || self.is_down()
    }

    /// Whether the mind is down, and not asked just now.
    pub(crate) fn is_down(&self) -> bool {
        self.access.is_down(self.told.clock.now())
    }

    /// After the wake's own thoughts: the dream, if it is due, and a talk that is over summed up.
    pub(crate) async fn dream_and_sum_up(&mut self, leaving: &mut impl Leaving) -> Result<(), Fault> {
        let now = self.told.clock.now();
        if !self.told.safe && !self.paused() {
            self.dream_if_due(leaving).await?;
            self.course.dreamless = self.next_dream(now) <= now;
        }
        if !self.held(now) {
            self.sum_up_talks(leaving).await?;
        }
        Ok(())
    }
}

/// A line of the stack as a reason names it.
fn named(line: &Line) -> String {
    format!("{} {}", line.id, text::shorten(&line.title, 100))
}
