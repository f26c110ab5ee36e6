//! Thoughts that failed: a reply that could not be read, a mind that is down, money that is spent; each told once.

use crate::clock::hour;
use crate::fault::Fault;
use crate::life::Life;
use crate::life::passed::Rest;
use crate::store::feed::Event;
use ground::text;
use mind::{Down, Why};
use serde_json::{Value, json};
use std::time::Duration;

/// Characters of an error that go into an event.
const MOST_CHARS: usize = 300;

/// Characters of an error that are remembered.
const MOST_ERROR: usize = 1_000;

impl Life {
    /// Remembers a reply that could not be read, and rests for it.
    pub(crate) fn garbled(
        &mut self,
        error: &str,
        text: &str,
        usage: &Value,
        owner: bool,
    ) -> Result<Rest, Fault> {
        let error = text::shorten(error, MOST_CHARS);
        tracing::warn!("garbled reply: {error}");
        let rest_s = self.access.garbled(&error, self.told.clock.now());
        let recovery = format!("it is asked again in {rest_s} s");
        self.store
            .feed
            .tell(Event::Error, json!({"about": "garbled reply", "text": error, "recovery": recovery}));
        let (mind, number) = (self.minds.now.name(), self.cursors.counts.next_thought());
        self.store.record(
            "thought",
            json!({
                "mind": mind, "thought": number, "garbled": true, "error": error,
                "text": text::shorten(text, 4_000), "usage": usage, "owner": owner,
            }),
        )?;
        self.unfinished.failed();
        Ok(Rest { lasts: self.clamped(rest_s), setback: true, ..Rest::default() })
    }

    /// Leaves a mind that is down alone for a while, and tells of it once.
    pub(crate) fn down(&mut self, down: &Down, owner: bool) -> Result<Rest, Fault> {
        self.unfinished.failed();
        if down.why == Why::Budget && !owner {
            return self.spent(down);
        }
        let (rest_s, until, tell) = self.access.down(down, self.told.clock.now());
        if tell {
            self.tell_of_down(down, rest_s)?;
        }
        tracing::warn!(
            "the mind is down, next try in {rest_s} s: {}",
            text::shorten(&down.error, MOST_CHARS)
        );
        self.heart.next_try(Some(format!("{until:.0}")));
        Ok(Rest { lasts: Duration::from_secs(rest_s), setback: true, ..Rest::default() })
    }

    /// Takes a refusal of a call of its own for want of money: it asks again when there is room, after an hour at most.
    /// That is told once, and is no failure of the model.
    pub(crate) fn spent(&mut self, down: &Down) -> Result<Rest, Fault> {
        let now = self.told.clock.now();
        let (rest_s, until, is_new) = self.access.spent(down, now);
        tracing::info!("its own money is spent; it asks again in {rest_s} s");
        if is_new {
            let text = format!("its own money is spent: {}", text::shorten(&down.error, MOST_ERROR));
            let again = hour(until, now, &self.store.rules.time_zone);
            self.tell_of_error("budget", text, format!("it asks again at {again}"), down, rest_s)?;
        }
        self.heart.spent(format!("{until:.0}"));
        Ok(Rest { lasts: Duration::from_secs(rest_s), setback: true, ..Rest::default() })
    }

    fn tell_of_down(&mut self, down: &Down, rest_s: u64) -> Result<(), Fault> {
        let error = text::shorten(&down.error, MOST_ERROR);
        let (about, text) = match down.why {
            Why::Budget => ("budget", format!("the money is spent: {error}")),
            _ => ("model", format!("{} is down: {error}", self.minds.now.name())),
        };
        let recovery = format!("it is asked again in {rest_s} s, or at a word of the owner's");
        self.tell_of_error(about, text, recovery, down, rest_s)
    }

    /// Tells feed and memory why the mind is not asked for so long.
    fn tell_of_error(
        &mut self,
        about: &str,
        text: String,
        recovery: String,
        down: &Down,
        rest_s: u64,
    ) -> Result<(), Fault> {
        self.store.feed.tell(Event::Error, json!({"about": about, "text": text, "recovery": recovery}));
        self.store
            .record("observation", json!({"about": about, "text": text, "hint": down.hint, "rest_s": rest_s}))
    }
}
