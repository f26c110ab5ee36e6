//! `/llm`: passes the field's three model wires through, with the key swapped in and the cost reserved and settled.
//!
//! Invariant: only the paths of `pass.rs` reach a provider; what is judged is what is sent, byte for byte.

pub mod aliases;
mod allowed;
mod answer;
mod besides;
pub mod bill;
mod blocks;
pub mod choice;
pub mod data;
pub mod experience;
pub mod meter;
pub mod offers;
pub mod pass;
pub mod provider;
mod refusals;
pub mod request;
pub mod scrub;
mod sent;
pub mod wire;

use crate::ground::caps;
use crate::ground::clock::Clock;
use crate::money::budget::Budget;
use crate::money::prices::{Prices, Rate};
use crate::net::outward::Outward;
use crate::secrets::Secrets;
use bill::Bill;
use experience::Experience;
use offers::Providers;
use provider::Provider;
use serde_json::{Value, json};

/// What passing a call to a model needs.
pub struct Llm {
    pub providers: Providers,
    pub prices: Prices,
    pub experience: Experience,
    pub budget: Budget,
    pub outward: Outward,
    pub secrets: Secrets,
    pub clock: Clock,
}

impl Llm {
    /// Tells the budget what the models likely cost that the creature thinks with by default; those found at a server say
    /// it when asked.
    pub fn tell_of_offers(&self) {
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

    /// What `/status` says of the models there are.
    pub async fn status(&self) -> Value {
        let money = |provider: &Provider, model: &str| {
            json!({
                "cap_usd": caps::dollars(self.budget.own_daily_cap()),
                "prices": self.rate(provider, model).shown(),
            })
        };
        self.providers.status(|name| self.secrets.get(name), money).await
    }
}
