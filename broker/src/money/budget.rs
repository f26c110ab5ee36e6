//! The budget: reserves the highest cost of a call before it leaves, settles it once afterwards, and reports what is left.
//!
//! Invariant: nothing is sent before its reservation is on disk; a reservation that is never settled stays spent.

mod own;
pub mod page;
mod reservation;
mod state;
mod window;

pub use reservation::Reservation;

use crate::ground::caps::{Caps, Class, Cost, Day, Micros, Span};
use crate::ground::clock::Clock;
use crate::ground::rate::Rate;
use crate::ground::refusal::Refusal;
use crate::health::{Down, Health};
use crate::ledger::sums::Stopped;
use crate::ledger::{Entry, Ledger};
use crate::policy;
use house::House;
use house::printable::hex;
use ring::rand::{SecureRandom, SystemRandom};
use state::{Inner, Likely, State};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use window::Window;

/// Most models without a price, or with odd figures, that the owner is told about.
const MOST_TOLD: usize = 4;

/// A handle; all handles share one budget.
#[derive(Clone)]
pub struct Budget {
    inner: Arc<Inner>,
}

impl Budget {
    pub fn new(
        house: &House,
        clock: Clock,
        ledger: Ledger,
        policy: &policy::Budget,
        rate: Rate,
        fingerprint: String,
    ) -> Self {
        let sums = ledger.opened().clone();
        let (changed, changes) = mpsc::channel();
        let now = clock.now();
        let bucket = sums.bucket.unwrap_or(rate.full(now.as_millisecond()));
        let inner = Arc::new(Inner {
            house: house.clone(),
            since: clock.stamp(),
            clock,
            ledger,
            caps: Caps::of(policy),
            rate,
            health: Health::new(sums.stopped.clone(), fingerprint, now),
            warn_percent: policy.warn_percent,
            state: Mutex::new(State {
                window: Window::new(&sums, policy.owner_window_s),
                money: sums.money,
                warned_on: sums.warned_on,
                refused_ms: i64::MIN,
                prices_told: Vec::new(),
                mind: String::new(),
                nearby: Vec::new(),
                mcp: serde_json::json!([]),
                bucket,
                likely: Likely::default(),
            }),
            prefix: prefix(),
            calls: AtomicU64::new(0),
            changed,
        });
        page::keep(&inner, changes);
        Self { inner }
    }

    /// Reserves the highest cost of a call, on disk. `entry` describes the call; `lowered`: the client asks to be
    /// counted as autonomous, the only class it may ask for.
    pub async fn reserve(&self, entry: Entry, lowered: bool, cost: Cost) -> Result<Reservation, Refusal> {
        let inner = &self.inner;
        let spoke = inner.spoke();
        let now = inner.clock.now();
        inner.health.may(&entry.service, now, spoke)?;
        let today = Day::of(now);
        let (reservation, entry) = {
            let mut state = inner.state();
            let class = inner.class(&mut state, lowered);
            if let Err(no_room) = state.money.may(&inner.caps, today, class, cost) {
                let refusal = inner.no_room(&mut state, &entry, class, no_room, cost);
                return Err(refusal);
            }
            state.likely.learn(&entry.note, cost.likely);
            if class == Class::Autonomous && cost.most > 0 {
                inner.by_rate(&mut state, &entry, cost)?;
            }
            let day = state.money.counts_on(today);
            let call = format!("{}-{}", inner.prefix, inner.calls.fetch_add(1, Ordering::Relaxed));
            state.money.reserve(&call, day, class, cost);
            let entry = Entry {
                event: "reserve".into(),
                cost_micro_usd: Some(cost.most),
                decision: "allow".into(),
                class: Some(class),
                day: Some(day),
                call,
                ..entry
            };
            (Reservation::new(inner.clone(), &entry, cost.most), entry)
        };
        let written = inner.ledger.append(entry).await;
        if let Err(closed) = written {
            reservation.undo();
            return Err(closed.into());
        }
        Ok(reservation.leaves())
    }

    /// The highest cost of a call that fits now.
    pub fn room(&self, lowered: bool) -> Cost {
        let mut state = self.inner.state();
        let class = self.inner.class(&mut state, lowered);
        state.money.room(&self.inner.caps, Day::of(self.inner.clock.now()), class)
    }

    /// Returns how much the creature may spend of its own accord in a day.
    pub fn own_daily_cap(&self) -> Micros {
        self.inner.caps.share(Span::Day)
    }

    /// Stops asking a provider that said that asking again will not help: until the owner acts, it is tried anew only from time to time.
    pub fn stop(&self, stopped: Stopped) {
        let entry = self.inner.health.stop(stopped, self.inner.clock.now());
        self.noted(entry);
    }

    /// Asks a provider again as before, since it answered.
    pub fn resume(&self, provider: &str) {
        let entry = self.inner.health.resume(provider);
        self.noted(entry);
    }

    fn noted(&self, entry: Option<Entry>) {
        let Some(entry) = entry else { return };
        self.inner.change();
        self.inner.ledger.submit_at_once(entry);
    }

    /// Tells the owner how a price was estimated that neither a list nor an answer gives.
    pub fn tell_of_price(&self, how: &str) {
        let mut state = self.inner.state();
        if state.prices_told.len() < MOST_TOLD && !state.prices_told.iter().any(|known| known == how) {
            tracing::warn!("{how}");
            state.prices_told.push(how.to_owned());
            self.inner.change();
        }
    }

    /// Notes which model the owner's settings and keys select, and why.
    pub fn tell_of_mind(&self, told: String) {
        self.inner.state().mind = told;
        self.inner.change();
    }

    /// Notes the model servers on this machine that run and are not used, a sentence each.
    pub fn tell_of_nearby(&self, told: Vec<String>) {
        self.inner.state().nearby = told;
        self.inner.change();
    }

    /// Notes how the MCP servers stand.
    pub fn tell_of_mcp(&self, told: serde_json::Value) {
        let mut state = self.inner.state();
        if state.mcp != told {
            state.mcp = told;
            self.inner.change();
        }
    }

    /// Notes the likely cost of a call to a model the creature may use.
    pub fn tell_of_offer(&self, model: &str, likely: Micros) {
        self.inner.state().likely.offered.insert(model.to_owned(), likely);
        self.inner.change();
    }

    /// Notes whether a model answered, and if not why.
    pub fn tell_of_model(&self, model: &str, provider: &str, upstream: &str, down: Option<Down>) {
        if self.inner.health.note(model, provider, upstream, down, self.inner.clock.now()) {
            self.inner.change();
        }
    }

    /// The state of models that do not answer.
    pub fn health(&self) -> &Health {
        &self.inner.health
    }

    /// The content of `.self/budget.json`.
    pub fn view(&self) -> serde_json::Value {
        page::view(&self.inner)
    }
}

/// A random prefix of call names; without randomness the process id, which is unique among a ledger's open calls.
fn prefix() -> String {
    let mut bytes = [0_u8; 6];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => hex(&bytes),
        Err(_) => format!("p{}", std::process::id()),
    }
}
