//! A life lived by hand: wake by wake, on a clock of its own.

use crate::broker;
use crate::house::TempHouse;
use creature::clock::Clock;
use creature::config::Told;
use creature::life::birth::birth;
use creature::life::{Leaving, Life, Next};
use creature::paths::House;
use hands::Broker;
use jiff::{SignedDuration, Timestamp};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Nobody asks it to leave.
pub struct Never;

impl Leaving for Never {
    async fn asked(&mut self) {
        std::future::pending().await
    }
}

/// A life whose hour is ours.
pub struct Lived {
    now: Arc<Mutex<Timestamp>>,
    pub life: Life,
}

impl Lived {
    pub async fn born(house: &TempHouse, at: &str, number: u64) -> Self {
        let now = Arc::new(Mutex::new(at.parse::<Timestamp>().unwrap()));
        let told = Arc::clone(&now);
        let told = Told {
            house: House::new(house.path("")),
            life: number,
            commit: "c0ffee".to_owned(),
            safe: false,
            rehearsal: false,
            broker: house.broker.as_ref().map(|base| Broker::new(base, broker::TOKEN).unwrap()),
            lifeline: creature::lifeline::Lifeline::default(),
            clock: Clock::told(move || *told.lock().unwrap()),
        };
        Self { now, life: birth(told).await.unwrap() }
    }

    /// Its clock, for whoever makes time pass while it thinks.
    pub fn hand(&self) -> Arc<Mutex<Timestamp>> {
        Arc::clone(&self.now)
    }

    /// Lets time pass.
    pub fn pass(&self, time: Duration) {
        let mut now = self.now.lock().unwrap();
        *now = now.checked_add(SignedDuration::try_from(time).unwrap()).unwrap();
    }

    /// One wake and the rest after it; how long that was.
    pub async fn wake(&mut self) -> Duration {
        let rest = self.stay().await;
        self.pass(rest);
        rest
    }

    /// One wake, and no time passes; how long it wants to rest.
    pub async fn stay(&mut self) -> Duration {
        let Next::Rest(rest) = self.life.wake(&mut Never).await.unwrap() else { panic!("no rest") };
        // What runs apart goes on in the rest; what it came to cuts that short.
        let told = self.life.cursors.events.news.len();
        assert!(self.life.rest(None, &mut Never).await.unwrap().is_none());
        if self.life.cursors.events.news.len() > told { rest.min(Duration::from_secs(1)) } else { rest }
    }

    /// A day of wakes.
    pub async fn day(&mut self) {
        let mut left = Duration::from_secs(86_400);
        while !left.is_zero() {
            left = left.saturating_sub(self.wake().await);
        }
    }
}
