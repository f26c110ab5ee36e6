//! Its own money is spent: its own work stands still until there is room again, and the owner's word does not.
//!
//! Invariant: that is told once, and is no failure of the model.

use crate::fault::Fault;
use crate::life::outage::hour;
use crate::life::patience::first_s;
use crate::life::{Life, Next};
use crate::store::feed::Event;
use ground::text::shorten;
use jiff::{SignedDuration, Timestamp};
use mind::Down;
use serde_json::json;
use std::time::Duration;

/// Characters of a refusal that are told.
const MOST_CHARS: usize = 1_000;

impl Life {
    /// Until when its own money is taken to be spent; none while there may be some.
    pub(crate) fn spent_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.course.spent_until.filter(|until| now < *until)
    }

    /// Takes a refusal of a call of its own for want of money: it asks again when there is room, after an hour at most.
    pub(crate) fn spent(&mut self, down: &Down) -> Result<Next, Fault> {
        let (now, rest_s) = (self.told.clock.now(), first_s(down.why, down.asked_s).max(1));
        let span = SignedDuration::from_secs(rest_s.try_into().unwrap_or(i64::MAX));
        let until = now.checked_add(span).unwrap_or(now);
        tracing::info!("its own money is spent; it asks again in {rest_s} s");
        if !std::mem::replace(&mut self.course.spent_told, true) {
            let text = format!("its own money is spent: {}", shorten(&down.error, MOST_CHARS));
            let recovery = format!("it asks again at {}", hour(until, now, &self.store.rules.time_zone));
            self.store
                .feed
                .tell(Event::Error, json!({"about": "budget", "text": text, "recovery": recovery}));
            let record = json!({"about": "budget", "text": text, "hint": down.hint, "rest_s": rest_s});
            self.store.record("observation", record)?;
        }
        (self.course.setback, self.course.spent_until) = (true, Some(until));
        self.heart.spent(format!("{until:.0}"));
        Ok(Next::Rest(Duration::from_secs(rest_s)))
    }

    /// Notes that a thought was had and paid for: after one of its own, there is money again.
    pub(crate) fn paid(&mut self, owner: bool) {
        if !owner {
            (self.course.spent_until, self.course.spent_told) = (None, false);
        }
        match self.spent_until(self.told.clock.now()) {
            Some(until) => self.heart.spent(format!("{until:.0}")),
            None => self.heart.next_try(None),
        }
    }
}
