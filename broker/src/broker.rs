//! What every request is judged and carried out with; made once, shared by all.

use crate::clock::Clock;
use crate::house::House;
use crate::keys::Keys;
use crate::ledger::Ledger;
use crate::outward::Outward;
use crate::policy::Policy;
use crate::token::Tokens;
use std::sync::{Arc, RwLock};

pub struct Broker {
    pub house: House,
    pub clock: Clock,
    pub policy: Policy,
    /// Behind a lock: a refreshed token is known from then on.
    pub keys: RwLock<Keys>,
    pub tokens: Tokens,
    pub ledger: Ledger,
    pub outward: Outward,
}

pub type Shared = Arc<Broker>;

impl Broker {
    pub fn open(house: House, clock: Clock) -> anyhow::Result<Shared> {
        let policy = Policy::load(&house)?;
        let keys = Keys::load(&house, &policy.key_names())?;
        Self::with(house, clock, policy, keys)
    }

    pub fn with(house: House, clock: Clock, policy: Policy, keys: Keys) -> anyhow::Result<Shared> {
        std::fs::create_dir_all(house.own())?;
        Ok(Arc::new(Self {
            tokens: Tokens::new(house.clone()),
            ledger: Ledger::open(&house, clock.clone()),
            outward: Outward::new()?,
            keys: RwLock::new(keys),
            house,
            clock,
            policy,
        }))
    }

    /// The text without any known secret.
    pub fn scrub(&self, text: &str) -> String {
        self.keys.read().unwrap_or_else(std::sync::PoisonError::into_inner).scrub(text)
    }
}
