//! Time and chance of a simulated life: an hour passes when it is told to, and a life may die at any reading of it.

use creature::clock::Clock;
use jiff::Timestamp;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::task::Poll;
use std::time::Duration;

/// What a life that was killed unwinds with; no hook hears of it.
pub struct Killed;

/// A clock that stands still until it is moved.
pub struct Time {
    now_ms: AtomicI64,
    /// Readings left to the life; negative where it is spared.
    readings: AtomicI64,
    dead: AtomicBool,
}

impl Time {
    pub fn at(text: &str) -> Arc<Self> {
        let now: Timestamp = text.parse().unwrap();
        let now_ms = AtomicI64::new(now.as_millisecond());
        Arc::new(Self { now_ms, readings: AtomicI64::new(-1), dead: AtomicBool::new(false) })
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.now_ms.load(Ordering::SeqCst)).unwrap()
    }

    pub fn pass(&self, time: Duration) {
        self.now_ms.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }

    /// The clock a life is told of. Every record takes the time, so a death at a reading is one between two writes.
    pub fn clock(self: &Arc<Self>) -> Clock {
        let time = Arc::clone(self);
        Clock::told(move || {
            time.read();
            time.now()
        })
    }

    /// The next life dies at this reading; negative, it is spared.
    pub fn spare(&self, readings: i64) {
        self.dead.store(false, Ordering::SeqCst);
        self.readings.store(readings, Ordering::SeqCst);
    }

    pub fn dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    fn read(&self) {
        if self.readings.load(Ordering::SeqCst) >= 0 && self.readings.fetch_sub(1, Ordering::SeqCst) == 0 {
            self.dead.store(true, Ordering::SeqCst);
        }
        // The dead do nothing more, whoever caught their first fall.
        if self.dead() && !std::thread::panicking() {
            resume_unwind(Box::new(Killed));
        }
    }
}

/// Numbers that look like chance and are the same for the same seed.
pub struct Chance(u64);

impl Chance {
    /// Of this seed.
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Below `most`.
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most
    }
}

/// The future, dropped at this poll of it.
pub async fn cut<T>(future: impl Future<Output = T>, mut polls: u64) -> Option<T> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        if polls == 0 {
            return Poll::Ready(None);
        }
        polls -= 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}
