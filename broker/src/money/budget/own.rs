//! The creature's own money: whether a call may be made now, the refusal if not, and its part of the page.

use super::state::{Inner, State, UNDER_WAY_S};
use crate::ground::caps::{Class, Cost, Day, Micros, dollars};
use crate::ground::clock;
use crate::ground::rate::Short;
use crate::ground::refusal::Refusal;
use crate::ledger::Entry;
use serde_json::{Value, json};
use std::time::Duration;

/// Longest `retry-after` of a refused call, in seconds: the owner may have allowed more by then.
const LONGEST_WAIT_S: i64 = 3_600;

impl Inner {
    /// Whether a call of the creature's own may be made now.
    pub(super) fn by_rate(&self, state: &mut State, entry: &Entry, cost: Cost) -> Result<(), Refusal> {
        let now_ms = self.redate(state);
        let under_way = state.money.own_under_way();
        self.rate
            .may(state.bucket, now_ms, cost.likely, under_way)
            .map_err(|short| self.too_soon(state, entry, cost, short, now_ms))
    }

    fn too_soon(&self, state: &mut State, entry: &Entry, cost: Cost, short: Short, now_ms: i64) -> Refusal {
        let (message, hint) = self.words(cost, short, now_ms);
        self.write_down(state, entry, Class::Autonomous, "rate", &message);
        let left_ms = short.room_at_ms.map_or(i64::MAX, |room_at_ms| room_at_ms.saturating_sub(now_ms));
        let wait_s = (left_ms / 1_000).saturating_add(1).clamp(1, LONGEST_WAIT_S).unsigned_abs();
        // Waiting makes room for this call; shortening the prompt would only make it worse.
        let refusal = Refusal { fits_tokens: Some(0), ..Refusal::new(429, "budget_cap", message, hint) };
        refusal.after(if short.waits { UNDER_WAY_S } else { wait_s })
    }

    fn words(&self, cost: Cost, short: Short, now_ms: i64) -> (String, &'static str) {
        if self.rate.per_day == 0 {
            let message = "the owner lets nothing be spent of its own accord: [autonomy] usd_per_day is 0";
            return (message.to_owned(), "rest; a word of the owner's opens the whole cap");
        }
        let told = self.rate.waking.told();
        let waking = if told.is_empty() { told } else { format!(", between {told}") };
        let room_at = short.room_at_ms.map(|at_ms| format!("from {} on", clock::told(at_ms)));
        let message = format!(
            "too soon for a call of its own accord: {:.4} USD an hour come in now, {:.2} a day{waking}; {:.4} are there, and \
             this call likely costs {:.4}; there is room {}",
            dollars(self.rate.per_hour(now_ms)),
            dollars(self.rate.per_day),
            short.level as f64 / 1e6,
            dollars(cost.likely),
            room_at.unwrap_or("in more than a year".to_owned())
        );
        let hint = "rest until then, or ask a cheaper model; the owner's word needs none of it, and the owner may raise \
                    [autonomy] usd_per_day in owner.toml";
        (message, hint)
    }

    /// Takes the cost of a settled call from the creature's own money; returns what is left.
    pub(super) fn own_spent(&self, state: &mut State, cost: Micros) -> i64 {
        let now_ms = self.redate(state);
        state.bucket = self.rate.spent(state.bucket, now_ms, cost);
        state.bucket.level
    }

    /// Returns the page's part on own spending; no field changes merely because the bucket fills.
    pub(super) fn autonomy(&self, state: &mut State) -> Value {
        let now_ms = self.redate(state);
        let rate = &self.rate;
        json!({
            "usd_per_day": dollars(rate.per_day),
            "usd_per_hour": dollars(rate.per_hour(now_ms)),
            "bucket_usd": dollars(rate.size()),
            "waking": rate.wakes_at(now_ms).is_none(),
            "waking_hours": rate.waking.told(),
            "wakes_at": rate.wakes_at(now_ms).map(clock::told),
            "room_at": self.room_at(state, state.likely.cheapest()).map(clock::told),
            "rooms": self.rooms(state),
        })
    }

    /// Tells from when on each of its default models has room, by what its last call was likely to cost.
    fn rooms(&self, state: &State) -> Vec<Value> {
        let room = |(model, likely): (&String, &Micros)| json!({"model": model, "at": self.room_at(state, *likely).map(clock::told)});
        state.likely.offered.iter().map(room).collect()
    }

    /// Returns the time from which a call of this likely cost fits the rate and the caps.
    fn room_at(&self, state: &State, likely: Micros) -> Option<i64> {
        let by_rate = self.rate.room_at(state.bucket, likely)?;
        let today = Day::of(self.clock.now());
        match state.money.may(&self.caps, today, Class::Autonomous, Cost::at_most(likely)) {
            Err(no) if no.is_too_large => None,
            Err(no) if !no.waits => {
                Some(by_rate.max(no.cap.span.ends(today).starts_s().saturating_mul(1_000)))
            }
            _ => Some(by_rate),
        }
    }

    /// Time until waking hours begin or end, which changes the page without a call.
    pub(super) fn until_waking_turns(&self) -> Duration {
        let now_ms = self.clock.now().as_millisecond();
        let left_ms = self.rate.turns_at(now_ms).map_or(i64::MAX, |turns_at| turns_at.saturating_sub(now_ms));
        Duration::from_millis(left_ms.max(0).unsigned_abs())
    }
}
