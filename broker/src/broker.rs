//! What every request is judged and carried out with; made once, shared by all.

use crate::cargo::Registry;
use crate::door::callers::Tokens;
use crate::ground::caps;
use crate::ground::clock::Clock;
use crate::ground::house::House;
use crate::ground::taint::Taint;
use crate::ledger::Ledger;
use crate::llm::bill::Bill;
use crate::llm::experience::Experience;
use crate::llm::offers::Providers;
use crate::llm::provider::{self, Provider};
use crate::money::budget::{self, Budget};
use crate::money::prices::{Prices, Rate};
use crate::net::outward::Outward;
use crate::policy::Policy;
use crate::secrets::keys::Keys;
use crate::services::Services;
use crate::web::pages::Pages;
use serde_json::{Value, json};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

pub struct Broker {
    pub house: House,
    pub clock: Clock,
    pub policy: Policy,
    /// Behind a lock: a refreshed token is known from then on.
    pub keys: RwLock<Keys>,
    pub tokens: Tokens,
    pub ledger: Ledger,
    pub outward: Outward,
    pub services: Services,
    pub budget: Budget,
    pub prices: Prices,
    pub providers: Providers,
    pub experience: Experience,
    pub taint: Taint,
    pub pages: Pages,
    pub registry: Registry,
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
        let outward = Outward::new()?;
        let known = |name: &str| keys.get(name).map(str::to_owned);
        let chosen = provider::of_house(&policy.model, &keys);
        let values: Vec<_> = policy.key_names().iter().filter_map(|name| known(name)).collect();
        let print = budget::stop::fingerprint(&house, &values);
        let ledger = Ledger::open(&house, clock.clone());
        let rate = policy.rate();
        let budget = Budget::new(&house, clock.clone(), ledger.clone(), &policy.budget, rate, print);
        budget.tell_of_mind(chosen.told());
        let broker = Self {
            tokens: Tokens::new(house.clone()),
            services: Services::open(&house, &clock, &policy, &keys)?,
            budget,
            prices: Prices::new(&policy),
            providers: Providers::new(chosen, outward.clone(), clock.clone()),
            experience: Experience::default(),
            taint: Taint::open(&house, clock.clone()),
            pages: Pages::new()?,
            registry: Registry::new(&house),
            ledger,
            outward,
            keys: RwLock::new(keys),
            house,
            clock,
            policy,
        };
        broker.tell_of_offers();
        Ok(Arc::new(broker))
    }

    /// What the models likely cost that the creature thinks with by default; those found at a server say it when asked.
    fn tell_of_offers(&self) {
        for (provider, model) in self.providers.usual() {
            self.budget.tell_of_offer(model, Bill::usual(self.rate(provider, model)));
        }
    }

    /// What a model of a provider costs.
    pub fn rate(&self, provider: &Provider, model: &str) -> Rate {
        match self.prices.of_owner(model) {
            Some(rate) => rate,
            None if provider.is_free() => Rate::FREE,
            None => self.prices.of(model),
        }
    }

    /// What is said of each model in `/status` besides who it is: what it costs, and what may be spent.
    pub fn money_of(&self, provider: &Provider, model: &str) -> Value {
        json!({
            "cap_usd": caps::dollars(self.budget.own_daily_cap()),
            "prices": self.rate(provider, model).shown(),
        })
    }

    fn keys(&self) -> RwLockReadGuard<'_, Keys> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The secret in a variable.
    pub fn key(&self, name: &str) -> Option<String> {
        self.keys().get(name).map(str::to_owned)
    }

    /// The text without any known secret.
    pub fn scrub(&self, text: &str) -> String {
        self.keys().scrub(text)
    }

    /// The same for bytes that may be no text.
    pub fn scrub_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.keys().scrub_bytes(bytes)
    }
}
