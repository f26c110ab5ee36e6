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
use crate::life::Life;
use crate::life::carried::Reasons;
use crate::senses::budget;
use crate::store::caller::Caller;
use crate::store::feed::Event;
use agenda::outbox::Kind;
use agenda::repeat::Repeats;
use agenda::waking;
use ground::papers;
use serde_json::json;

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
        self.store.observe("budget", &money.alarm)?;
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
        self.store.observe("purpose", &purpose.problem)
    }

    /// Tells the owner that the money runs short, once a day.
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
        self.store.observe(
            "bookkeeping",
            &booked.err().map_or(String::new(), |fault| format!("failed to {}", fault.error)),
        )?;
        self.wakes.quiet = if why.is_empty() { self.wakes.quiet + 1 } else { 0 };
        self.wakes.why.clone_from(&why);
        Ok(Reasons { why, unrecorded })
    }
}
