//! The budget: reserves what a call may cost before it leaves, settles it once after, and says what is left.
//!
//! Invariant: nothing leaves before its reservation is on the disk; a reservation nobody settles stays spent.

mod own;
pub mod page;
mod reservation;
pub mod stop;
mod window;

pub use reservation::Reservation;

use crate::clock::Clock;
use crate::house::House;
use crate::ledger::sums::{self, Stopped};
use crate::ledger::{Entry, Ledger};
use crate::llm::health::{Down, Health};
use crate::money::{Caps, Class, Cost, Day, Micros, Money, NoRoom, dollars, micros};
use crate::policy;
use crate::rate::{Bucket, Rate};
use crate::refusal::Refusal;
use own::Likely;
use ring::rand::{SecureRandom, SystemRandom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use window::Window;

/// Milliseconds between two refusals that are written down; a creature that asks in a loop fills no disk.
const REFUSAL_EVERY_MS: i64 = 60_000;

/// Models without a price, or with odd figures, that are told of.
const MOST_TOLD: usize = 4;
/// Seconds after which a call may fit for which calls under way leave no room.
const UNDER_WAY_S: u64 = 30;

/// A handle; all are one.
#[derive(Clone)]
pub struct Budget {
    inner: Arc<Inner>,
}

struct Inner {
    house: House,
    clock: Clock,
    /// When this process began: with what the owner last saved.
    since: String,
    ledger: Ledger,
    /// Which models answer; shown beside the money.
    health: Health,
    caps: Caps,
    rate: Rate,
    warn_percent: f64,
    state: Mutex<State>,
    /// Of this process and key; what was said to others holds no more.
    fingerprint: String,
    /// The beginning of every call's name, unlike that of any other process.
    prefix: String,
    calls: AtomicU64,
    /// Wakes who writes `budget.json`.
    changed: mpsc::Sender<()>,
}

struct State {
    money: Money,
    window: Window,
    warned_on: Option<Day>,
    /// Who is not asked again.
    stopped: Vec<Stopped>,
    refused_ms: i64,
    /// How costs were come by that neither a list nor an answer says.
    prices_told: Vec<String>,
    /// Which mind the owner's settings and keys make, and why.
    mind: String,
    bucket: Bucket,
    likely: Likely,
}

impl Budget {
    pub fn new(
        house: &House,
        clock: Clock,
        ledger: Ledger,
        policy: &policy::Budget,
        rate: Rate,
        print: String,
    ) -> Self {
        let sums = ledger.opened().clone();
        let (changed, changes) = mpsc::channel();
        let bucket = sums.bucket.unwrap_or(rate.full(clock.now().as_millisecond()));
        let inner = Arc::new(Inner {
            house: house.clone(),
            since: clock.stamp(),
            clock,
            ledger,
            caps: Caps {
                daily: micros(policy.daily_usd),
                weekly: micros(policy.weekly_usd),
                autonomous_daily: policy::share(policy, policy.daily_usd),
                autonomous_weekly: policy::share(policy, policy.weekly_usd),
            },
            rate,
            health: Health::default(),
            warn_percent: policy.warn_percent,
            state: Mutex::new(State {
                window: Window::new(&sums, policy.owner_window_s),
                money: sums.money,
                warned_on: sums.warned_on,
                stopped: sums.stopped.into_iter().filter(|stopped| stopped.fingerprint == print).collect(),
                refused_ms: i64::MIN,
                prices_told: Vec::new(),
                mind: String::new(),
                bucket,
                likely: Likely::default(),
            }),
            fingerprint: print,
            prefix: prefix(),
            calls: AtomicU64::new(0),
            changed,
        });
        page::keep(&inner, changes);
        Self { inner }
    }

    /// Reserves what a call costs at most, durably. `entry` says what leaves; `lowered`: the client asks to be counted
    /// as autonomous, which is all a client can ask.
    pub async fn reserve(&self, entry: Entry, lowered: bool, cost: Cost) -> Result<Reservation, Refusal> {
        let inner = &self.inner;
        if let Some(stopped) = inner.state().stopped.iter().find(|stopped| stopped.provider == entry.service)
        {
            return Err(stop::refusal(stopped));
        }
        let now = inner.clock.now();
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

    /// What a call may come to that there is room for now.
    pub fn room(&self, lowered: bool) -> Cost {
        let mut state = self.inner.state();
        let class = self.inner.class(&mut state, lowered);
        state.money.room(&self.inner.caps, Day::of(self.inner.clock.now()), class)
    }

    /// What the creature may spend of its own accord in a day.
    pub fn own_daily_cap(&self) -> Micros {
        self.inner.caps.autonomous_daily
    }

    /// A provider said that asking again will not help: it is not asked until the owner acts.
    pub async fn stop(&self, stopped: Stopped) {
        let stopped = Stopped { fingerprint: self.inner.fingerprint.clone(), ..stopped };
        {
            let mut state = self.inner.state();
            if state.stopped.iter().any(|known| known.provider == stopped.provider) {
                return;
            }
            state.stopped.push(stopped.clone());
        }
        let entry = Entry {
            decision: sums::STOPPED.into(),
            path: stopped.provider,
            status: Some(stopped.status),
            call: stopped.fingerprint,
            ..Entry::note(stopped.hint)
        };
        self.inner.change();
        let _ = self.inner.ledger.append(entry).await;
    }

    /// Tells the owner how a cost was come by that neither a list nor an answer says.
    pub fn tell_of_price(&self, how: &str) {
        let mut state = self.inner.state();
        if state.prices_told.len() < MOST_TOLD && !state.prices_told.iter().any(|known| known == how) {
            tracing::warn!("{how}");
            state.prices_told.push(how.to_owned());
            self.inner.change();
        }
    }

    /// Which mind the owner's settings and keys make, and why.
    pub fn tell_of_mind(&self, told: String) {
        self.inner.state().mind = told;
        self.inner.change();
    }

    /// What a usual call of a model that is offered costs.
    pub fn tell_of_offer(&self, model: &str, likely: Micros) {
        self.inner.state().likely.offered.insert(model.to_owned(), likely);
        self.inner.change();
    }

    /// Whether a model answered, and why not.
    pub fn tell_of_model(&self, model: &str, provider: &str, upstream: &str, down: Option<Down>) {
        if self.inner.health.note(model, provider, upstream, down, self.inner.clock.now()) {
            self.inner.change();
        }
    }

    /// What `.self/budget.json` holds.
    pub fn view(&self) -> serde_json::Value {
        page::view(&self.inner)
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) {
        let _ = self.changed.send(());
    }

    /// On whose behalf a call is made, by what the owner did and when.
    fn class(&self, state: &mut State, lowered: bool) -> Class {
        let bytes = crate::files::mark(&self.house.inbox()).map_or(0, |mark| mark.bytes);
        if let Some(note) = state.window.look(bytes, self.clock.now()) {
            self.ledger.submit(note);
        }
        match state.window.is_open(self.clock.now()) && !lowered {
            true => Class::Owner,
            false => Class::Autonomous,
        }
    }

    fn no_room(&self, state: &mut State, entry: &Entry, class: Class, no: NoRoom, cost: Cost) -> Refusal {
        let now = self.clock.now();
        let (today, cap) = (Day::of(now), no.cap.name());
        let reset = no.cap.resets(today);
        let message = format!(
            "no room under the {cap} cap of {:.2} USD: {:.4} spent, {:.4} reserved for calls under way, and this call may \
             cost {:.4}; it resets at {reset}T00:00:00Z",
            dollars(no.most),
            dollars(no.spent),
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
            // Waiting does not help.
            (_, true) => refusal,
            _ => refusal.after(reset.starts_s().saturating_sub(now.as_second()).max(1).unsigned_abs()),
        }
    }

    /// Writes down a refusal, unless one was just before.
    fn write_down(&self, state: &mut State, entry: &Entry, class: Class, decision: &str, why: &str) {
        let ms = self.clock.now().as_millisecond();
        // Time that went back counts as time that passed.
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

    /// Writes down once a day that money runs short.
    fn warn(&self, state: &mut State) {
        let today = Day::of(self.clock.now());
        let Some(warning) = page::warning(self, state, today) else { return };
        let on = state.money.counts_on(today);
        if state.warned_on.is_none_or(|warned| warned < on) {
            state.warned_on = Some(on);
            tracing::warn!("{warning}");
            let entry = Entry { decision: sums::WARNED.into(), day: Some(on), ..Entry::note(warning) };
            self.ledger.submit(entry);
        }
    }
}

/// Without randomness a name of the process; both do not come twice within a ledger's open calls.
fn prefix() -> String {
    let mut bytes = [0_u8; 6];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        Err(_) => format!("p{}", std::process::id()),
    }
}
