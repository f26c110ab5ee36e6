//! Wakes: does what is due by itself, and decides whether this wake needs a thought.
//!
//! Invariant: a model is called only for a reason that stands in the wake's record; instinct costs nothing and
//! looks at every wake. What is due by the clock is done here, without either.

pub(super) mod draft;
mod due;
mod events;
pub(super) mod platforms;
mod scan;
pub(crate) mod scanned;

use crate::fault::Fault;
use crate::life::Life;
use crate::life::carried::Papers;
use crate::life::minds::access::Access;
use crate::life::passed::Reasons;
use crate::senses::budget;
use crate::senses::cursors::Cursors;
use crate::store::Store;
use crate::store::feed::Event;
use agenda::outbox::Kind;
use agenda::repeat::Repeats;
use agenda::waking;
use ground::papers;
use serde_json::json;

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
    let data = json!({"from": "creature", "kind": "money", "thread": "main", "text": warning});
    store.record("message", data)?;
    store.keep_cursors(cursors)
}
