//! Wakes: does what is due by itself, and decides whether this wake needs a thought.
//!
//! Invariant: a model is called only for a reason that stands in the wake's record; instinct costs nothing and
//! looks at every wake. What is due by the clock is done here, without either.

mod draft;
mod due;
pub(super) mod events;
pub(super) mod own;
mod platforms;
mod scan;
pub(crate) mod scanned;

use crate::dream;
use crate::fault::Fault;
use crate::life::sense::Shown;
use crate::life::{Leaving, Life};
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

/// Seconds between two records of looks that found nothing.
const LOOK_RECORDED_EVERY_S: i64 = 3_600;

/// Why a wake thinks; without a reason it does not.
#[derive(Clone, Debug, Default)]
pub struct Reasons {
    pub why: Vec<String>,
    /// A look of instinct's within an hour of a recorded one: it leaves no record.
    pub unrecorded: bool,
}

/// What is known of the wake under way, or the last one.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    /// None before the first.
    pub began: Option<Timestamp>,
    /// Wakes in a row that thought nothing.
    pub quiet: u64,
    why: Vec<String>,
    /// When a look of instinct's was last recorded.
    look_recorded_at: Option<Timestamp>,
}

/// What is known of papers from wake to wake.
#[derive(Debug, Default)]
pub(crate) struct Papers {
    /// PURPOSE.md changed, and no thought of its own was told so.
    pub purpose_changed: bool,
    /// Mark of the checklist that was last shown to a thought, until one of its own had it.
    pub checklist: String,
    /// Papers of knowledge that somebody else changed, by their paths from the house.
    pub changed: Vec<String>,
    /// When a thought last had the unfinished draft before it.
    pub draft_seen: Option<Timestamp>,
}

impl Wakes {
    /// Whether a look leaves no record, for another did within the hour; after a clock that was set back it does.
    fn is_unrecorded(&mut self, now: Timestamp) -> bool {
        let since_s = self.look_recorded_at.map(|at| now.duration_since(at).as_secs());
        let unrecorded = since_s.is_some_and(|since_s| (0..LOOK_RECORDED_EVERY_S).contains(&since_s));
        if !unrecorded {
            self.look_recorded_at = Some(now);
        }
        unrecorded
    }
}

impl Life {
    /// Does what came due and takes what was said; none of it needs a mind.
    pub(crate) async fn tick(&mut self) -> Result<(), Fault> {
        self.caller = Caller::own();
        (self.access.setback, self.resting.said_done) = (false, false);
        self.wakes.began = Some(self.told.clock.now());
        (self.acts.progress, self.own.asked) = (false, false);
        self.watch.know();
        self.hear()?;
        if self.attention.stop.is_some() {
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
        self.papers.changed = dream::changed(&self.told.house);
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
        if mark != self.cursors.papers.purpose {
            if !self.cursors.papers.purpose.is_empty() {
                self.papers.purpose_changed = true;
                let text = "PURPOSE.md changed";
                self.store.record("observation", json!({"about": "purpose", "text": text, "mark": mark}))?;
            }
            self.cursors.papers.purpose = mark;
        }
        self.observe("purpose", &purpose.problem)
    }

    /// The owner hears that the money runs short, once a day.
    fn tell_of_money(&mut self, warning: &str) -> Result<(), Fault> {
        let today: String = self.told.clock.text().chars().take(10).collect();
        let now = self.told.clock.now();
        let wanted = self.store.agenda.directives.lets_through(Kind::Approval, warning, now);
        if warning.is_empty() || self.cursors.events.money_told == today || !wanted {
            return Ok(());
        }
        self.cursors.events.money_told = today;
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
        let rests = self.rests(now);
        Found {
            newborn: !self.born.is_proven(),
            words: match self.is_down() {
                // A word whose owner was told why it waits is no reason until the next try.
                true => self.untold(),
                false => self.cursors.owner.words.iter().filter(|waiting| !self.is_put_off(waiting)).count(),
            },
            events: self.cursors.events.news.len() + usize::from(self.cursors.owner.interrupted.is_some()),
            purpose_changed: self.papers.purpose_changed,
            checklist_changed: self.settings.agenda.checklist
                && paper.mark() != self.cursors.papers.checklist
                && !(paper.text.trim().is_empty() && self.cursors.papers.checklist.is_empty()),
            items_due: self.items_due(&paper.text, now),
            request: self.ready_request().map(|line| named(&line)),
            line: self.first_line(now).map(|line| named(&line)),
            draft: self.draft_due().filter(|(at, _)| *at <= now && !rests).map(|(_, line)| line),
            unfinished: self.unfinished.any(),
            paused: self.paused(),
            down: self.is_down(),
            spent: self.access.spent_until(now).is_some(),
        }
    }

    /// The first line of its own work that is worth a thought; in a rest that a thought chose, only one that is new.
    pub(crate) fn first_line(&self, now: Timestamp) -> Option<Line> {
        let rest = self.resting.chosen(now);
        let is_new = |line: &Line| rest.is_none_or(|rest| line.changed_at > rest.began);
        let lines = self.stack().into_iter();
        lines
            .filter(|line| line.ready_at <= now && line.category != Category::Requests)
            .find(|line| is_new(line))
    }

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
        self.store.feed.tell(Event::Wakeup, self.wakeup(&found, &why, &beat, now));
        // A wake whose record cannot be written costs no life; the failure is observed.
        let booked = if unrecorded { Ok(()) } else { self.store.book("heartbeat", beat) };
        self.observe(
            "bookkeeping",
            &booked.err().map_or(String::new(), |fault| format!("failed to {}", fault.error)),
        )?;
        self.wakes.quiet = if why.is_empty() { self.wakes.quiet + 1 } else { 0 };
        self.wakes.why.clone_from(&why);
        Ok(Reasons { why, unrecorded })
    }

    /// Recurring items of the checklist whose time has come.
    fn items_due(&self, checklist: &str, now: Timestamp) -> Vec<String> {
        let due =
            |line: &str| self.cursors.papers.items.get(line).is_none_or(|next_s| *next_s <= now.as_second());
        let items =
            checklist::open(checklist, self.minds.read()).into_iter().filter(|item| item.every_s.is_some());
        items.filter(|item| due(&item.line)).map(|item| text::shorten(&item.text, 160)).collect()
    }

    /// Notes that a thought was completed: what it was shown is not told again. After one that answers
    /// the owner all else is still to be told.
    pub(crate) fn seen(&mut self, shown: Shown, caller: &Caller) {
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
            Some(line) => _ = self.made(&line.looked()),
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

    /// Sets the creature's own work aside for the owner's word; `resumed` takes it up once the word is answered.
    pub(crate) fn interrupted(&mut self) -> Result<(), Fault> {
        let Some(what) = self.unfinished.busy.take() else { return Ok(()) };
        let said =
            self.cursors.owner.words.iter().map(|waiting| text::shorten(&waiting.word.text, MOST_CHARS));
        let (said, what) = (said.collect(), text::shorten(&what, MOST_CHARS));
        self.store.feed.tell(Event::Paused, json!({"why": "the owner's word", "what": what}));
        self.cursors.owner.interrupted = Some(Interrupted { at: self.told.clock.text(), what, said });
        self.save()
    }

    /// Takes up again what the owner's word interrupted, by an event for the next thought.
    pub(crate) fn resumed(&mut self) {
        let Some(Interrupted { at, what, said }) = self.cursors.owner.interrupted.take() else { return };
        let pending = self.cursors.events.news.len();
        self.store.feed.tell(Event::Resumed, json!({"what": what, "since": at, "pending_events": pending}));
        let said = said.join("\" and \"");
        self.cursors.events.tell(format!(
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

    /// After the wake's own thoughts: the dream, if it is due, and a talk that is over summed up. Whether the dream is due
    /// and could not be had.
    pub(crate) async fn dream_and_sum_up(&mut self, leaving: &mut impl Leaving) -> Result<bool, Fault> {
        let now = self.told.clock.now();
        let mut dreamless = false;
        if !self.told.safe && !self.paused() {
            self.dream_if_due(leaving).await?;
            dreamless = self.next_dream(now) <= now;
        }
        if !self.held(now) {
            self.sum_up_talks(leaving).await?;
        }
        Ok(dreamless)
    }
}

/// A line of the stack as a reason names it.
fn named(line: &Line) -> String {
    format!("{} {}", line.id, text::shorten(&line.title, 100))
}
