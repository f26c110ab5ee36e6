//! `/llm`: passes on the three common model APIs, with the key exchanged and the cost reserved and settled.
//!
//! Invariant: only the paths in `pass.rs` reach a provider; the bytes that were judged are the bytes that are sent.

mod again;
mod allowed;
mod answer;
mod besides;
pub mod bill;
mod blocks;
pub mod choice;
pub mod data;
pub mod experience;
mod failure;
mod figures;
pub mod meter;
pub mod nearby;
pub mod offers;
pub mod pass;
pub mod provider;
mod refusals;
pub mod request;
pub mod scrub;
mod sent;
pub mod wire;

use crate::ground::caps;
use crate::handles::Handles;
use crate::money::budget::Budget;
use crate::money::prices::{Prices, Rate};
use bill::Bill;
use experience::Experience;
use offers::Providers;
use provider::Provider;
use serde_json::{Value, json};
use std::sync::Arc;

/// Dependencies of passing a call to a model.
pub struct Llm {
    pub providers: Providers,
    pub prices: Prices,
    pub experience: Experience,
    pub budget: Budget,
    pub handles: Arc<Handles>,
}

impl Llm {
    /// Tells the budget the likely cost of the creature's default models; for a model found at a server this happens
    /// when that server is asked.
    pub fn tell_of_offers(&self) {
        for (provider, model) in self.providers.usual() {
            self.budget.tell_of_offer(model, Bill::usual(self.rate(provider, model)));
        }
    }

    /// Tells the budget which model servers on this machine run and are not used.
    pub async fn look_nearby(&self) {
        let chosen = self.providers.chosen();
        self.budget.tell_of_nearby(
            nearby::offered(&self.handles.outward, chosen, nearby::usual(&chosen.makers)).await,
        );
    }

    /// The price of a provider's model.
    pub fn rate(&self, provider: &Provider, model: &str) -> Rate {
        match self.prices.of_owner(model) {
            Some(rate) => rate,
            None if provider.is_free() => Rate::FREE,
            None => self.prices.of(model),
        }
    }

    /// The models' part of `/status`.
    pub async fn status(&self) -> Value {
        let money = |provider: &Provider, model: &str| {
            json!({
                "cap_usd": caps::dollars(self.budget.own_daily_cap()),
                "prices": self.rate(provider, model).shown(),
            })
        };
        self.providers.status(|name| self.handles.secrets.get(name), money).await
    }
}
