//! The state of a running budget: money, the owner's window, the creature's own share; and the refusals that follow from it.

use super::window::Window;
use crate::ground::caps::{Caps, Class, Cost, Day, Micros, Money, NoRoom, dollars};
use crate::ground::clock::Clock;
use crate::ground::files;
use crate::ground::rate::{Bucket, Rate};
use crate::ground::refusal::Refusal;
use crate::health::Health;
use crate::ledger::{Entry, Ledger};
use house::House;
use house::mutex::lock;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, mpsc};

/// Least time between two refusals in the ledger, in milliseconds: a creature that asks in a loop must not fill the
/// disk.
const REFUSAL_EVERY_MS: i64 = 60_000;
/// Seconds after which to ask again for a call that does not fit beside calls under way.
pub const UNDER_WAY_S: u64 = 30;

pub struct Inner {
    pub house: House,
    pub clock: Clock,
    /// Time this process began, with the settings the owner saved last.
    pub since: String,
    pub ledger: Ledger,
    /// Health of the models, by which answer; shown on the page.
    pub health: Health,
    pub caps: Caps,
    pub rate: Rate,
    pub warn_percent: f64,
    pub state: Mutex<State>,
    /// The beginning of every call's name, different for each process.
    pub prefix: String,
    pub calls: AtomicU64,
    /// Wakes the thread that writes `budget.json`.
    pub changed: mpsc::Sender<()>,
}

pub struct State {
    pub money: Money,
    pub window: Window,
    pub warned_on: Option<Day>,
    pub refused_ms: i64,
    /// Estimates of prices that neither a list nor an answer gives, a sentence each.
    pub prices_told: Vec<String>,
    /// Model that the owner's settings and keys select, and why.
    pub mind: String,
    /// Model servers on this machine that run and are not used.
    pub nearby: Vec<String>,
    /// MCP servers as they stand.
    pub mcp: serde_json::Value,
    pub bucket: Bucket,
    pub likely: Likely,
}

/// The likely cost of the creature's next call.
#[derive(Default)]
pub struct Likely {
    /// Costs by name of the models it thinks with by default.
    pub offered: BTreeMap<String, Micros>,
    /// Cost of the last call, if no default model is known by name.
    last: Micros,
}

impl Likely {
    pub fn learn(&mut self, model: &str, likely: Micros) {
        self.last = likely;
        if let Some(known) = self.offered.get_mut(model) {
            *known = likely;
        }
    }

    pub fn cheapest(&self) -> Micros {
        self.offered.values().copied().min().unwrap_or(self.last)
    }
}

impl Inner {
    pub fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub fn change(&self) {
        let _ = self.changed.send(());
    }

    /// Returns the time the owner was heard last.
    pub fn spoke(&self) -> Option<Timestamp> {
        let mut state = self.state();
        self.class(&mut state, false);
        state.window.spoke()
    }

    /// Judges on whose behalf a call is made, by what the owner did and when.
    pub fn class(&self, state: &mut State, lowered: bool) -> Class {
        let bytes = files::mark(&self.house.inbox()).map_or(0, |mark| mark.bytes);
        if let Some(note) = state.window.look(bytes, self.clock.now()) {
            self.ledger.submit(note);
        }
        match state.window.is_open(self.clock.now()) && !lowered {
            true => Class::Owner,
            false => Class::Autonomous,
        }
    }

    pub fn no_room(&self, state: &mut State, entry: &Entry, class: Class, no: NoRoom, cost: Cost) -> Refusal {
        let now = self.clock.now();
        let cap = no.cap;
        let reset = cap.span.ends(Day::of(now));
        let message = format!(
            "{}; {:.4} USD are reserved for calls under way, this call may cost {:.4}; it resets at {reset}T00:00:00Z",
            no.told(),
            dollars(no.reserved),
            dollars(cost.most)
        );
        let hint = match (no.waits, no.is_too_large) {
            (true, _) => "calls under way hold the room: ask again once they are answered",
            (_, true) => {
                "no reset makes room for a call of this size: ask for fewer tokens or a cheaper model; the owner \
                     may raise [budget] in owner.toml"
            }
            _ => {
                "sleep an hour and look at .self/budget.json instead of asking again; a call of fewer max_tokens \
                      may still fit; a word of the owner's opens the whole cap"
            }
        };
        self.write_down(state, entry, class, "budget_cap", &message);
        let refusal = Refusal::new(429, "budget_cap", message, hint);
        match (no.waits, no.is_too_large) {
            (true, _) => refusal.after(UNDER_WAY_S),
            // Waiting would not help.
            (_, true) => refusal,
            _ => refusal.after(reset.starts_s().saturating_sub(now.as_second()).max(1).unsigned_abs()),
        }
    }

    /// Records a refusal, unless one was recorded shortly before.
    pub fn write_down(&self, state: &mut State, entry: &Entry, class: Class, decision: &str, why: &str) {
        let ms = self.clock.now().as_millisecond();
        // A clock that was set back counts as time that passed.
        if ms.saturating_sub(state.refused_ms).unsigned_abs() >= REFUSAL_EVERY_MS.unsigned_abs() {
            state.refused_ms = ms;
            let entry = Entry {
                event: "refuse".into(),
                decision: decision.into(),
                class: Some(class),
                note: why.to_owned(),
                ..entry.clone()
            };
            self.ledger.submit(entry);
        }
        self.change();
    }

    /// The time now. If the clock was set back, the bucket is corrected for it, once.
    pub fn redate(&self, state: &mut State) -> i64 {
        let now_ms = self.clock.now().as_millisecond();
        if now_ms < state.bucket.at_ms {
            state.bucket = self.rate.at(state.bucket, now_ms);
        }
        now_ms
    }
}
