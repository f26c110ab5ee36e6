//! Its own money is spent: its own work stands still until there is room again, and the owner's word does not.
//!
//! Invariant: that is told once, and is no failure of the model.

use crate::fault::Fault;
use crate::life::outage::hour;
use crate::life::{Life, Next};
use crate::store::feed::Event;
use ground::text::shorten;
use mind::Down;
use serde_json::json;
use std::time::Duration;

/// Characters of a refusal that are told.
const MOST_CHARS: usize = 1_000;

impl Life {
    /// Takes a refusal of a call of its own for want of money: it asks again when there is room, after an hour at most.
    pub(crate) fn spent(&mut self, down: &Down) -> Result<Next, Fault> {
        let now = self.told.clock.now();
        let (rest_s, until, is_new) = self.access.spent(down, now);
        tracing::info!("its own money is spent; it asks again in {rest_s} s");
        if is_new {
            let text = format!("its own money is spent: {}", shorten(&down.error, MOST_CHARS));
            let recovery = format!("it asks again at {}", hour(until, now, &self.store.rules.time_zone));
            self.store
                .feed
                .tell(Event::Error, json!({"about": "budget", "text": text, "recovery": recovery}));
            let record = json!({"about": "budget", "text": text, "hint": down.hint, "rest_s": rest_s});
            self.store.record("observation", record)?;
        }
        self.heart.spent(format!("{until:.0}"));
        Ok(Next::Rest(Duration::from_secs(rest_s)))
    }
}
