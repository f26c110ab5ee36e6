//! Minds: which one the broker offers, which stands in for it, and what their conversations left unfinished.
//!
//! Invariant: a broker that does not answer changes nothing but what is observed; the mind in use stays.

use crate::config::Told;
use crate::fault::Fault;
use crate::life::Life;
use crate::mind::Mind;
use crate::models::Models;
use crate::pace;
use crate::senses::guardian::Standing;
use crate::tools::catalogue::LIST;
use hands::Broker;
use instinct::Instinct;
use mind::ModelSettings;
use mind::llm::{ModelMind, Reach};
use mind::{Down, llm};
use serde_json::{Value, json};

/// How models are reached through this broker.
pub(crate) fn reach<'a>(
    broker: &'a Broker,
    settings: &'a ModelSettings,
    told: &'a Told,
    configured: &'a [String],
) -> Reach<'a> {
    let (house, commit) = (&told.house, told.commit.as_str());
    Reach { base: broker.base(), token: broker.token(), settings, house, tools: &LIST, commit, configured }
}

/// What the owner configured that tools need, by the broker's status: names of services, `services` for any that is
/// no tool's own, `janee`.
fn configured(status: &Value) -> Vec<String> {
    let services = status.get("services").and_then(Value::as_array).into_iter().flatten();
    let mut found: Vec<String> =
        services.filter_map(|one| Some(one.get("name")?.as_str()?.to_owned())).collect();
    if found.iter().any(|name| !["x", "search"].contains(&name.as_str())) {
        found.push("services".to_owned());
    }
    if status.get("janee") == Some(&Value::Bool(true)) {
        found.push("janee".to_owned());
    }
    found
}

impl Life {
    /// Asks the broker how things stand and tells of what is new.
    pub(crate) async fn look_out(&mut self) -> Result<(), Fault> {
        self.find_way();
        let before = self.mind.name();
        let said = self.consult().await;
        self.observe("broker", &said)?;
        let now = self.mind.name();
        if before != now {
            let text = format!("from now on I think with {now}, no longer with {before}");
            tracing::info!("{text}");
            self.store.record("observation", json!({"about": "mind", "text": text}))?;
        }
        Ok(())
    }

    /// Ends the wait for a mind that is down where another broker or another day began.
    fn find_way(&mut self) {
        if self.access.is_found_anew(self.watch.know_budget()) {
            tracing::info!("the way to the model has changed: it is asked again");
            self.heart.next_try(None);
        }
    }

    /// Takes the mind the broker offers; what was wrong with its answer, empty when all is well.
    pub(crate) async fn consult(&mut self) -> String {
        self.heart.mind(&self.mind.name());
        let Some(broker) = &self.told.broker else { return String::new() };
        if Standing::is_before_broker(&self.told.house.guardian()) {
            // Its page changes when it begins, and that ends a rest.
            return String::new();
        }
        let status = match broker.status().await {
            Ok(status) => status,
            Err(error) => return format!("failed to {} ({})", error.message, error.hint),
        };
        self.asks_waiting = status.get("asks_waiting").and_then(Value::as_u64).unwrap_or(0);
        let offer = status.get("model").cloned().unwrap_or(Value::Null);
        let configured = configured(&status);
        if offer == self.offer && configured == self.configured {
            return String::new();
        }
        self.configured = configured;
        let reach = reach(broker, &self.settings.model, &self.told, &self.configured);
        let instinct = || Mind::Instinct(Instinct::load(&self.told.house, pace::BUILT));
        let (mind, said) = match llm::offered(&reach, &status) {
            Ok(Some(mind)) => (Mind::Model(mind), String::new()),
            Ok(None) => (instinct(), String::new()),
            Err(said) => (instinct(), said),
        };
        if said.is_empty() {
            self.offer = offer;
        }
        let others = self.offer.get("fallback").and_then(Value::as_array).cloned().unwrap_or_default();
        let named = |offer: &Value| llm::other(&reach, offer, None);
        self.others = others.iter().filter_map(|offer| named(offer).ok()).map(Mind::Model).collect();
        self.quick =
            self.offer.get("quick").filter(|quick| quick.is_object()).and_then(|quick| named(quick).ok());
        (self.mind, self.first) = (mind, None);
        self.take_up();
        self.access.offered();
        self.toolbox.models = Models::of(&self.offer, &self.settings.model.effort);
        self.heart.next_try(None);
        self.heart.mind(&self.mind.name());
        said
    }

    /// Hands this wake to the next model of the owner's list, where the one in use is down; whether it did.
    pub(crate) fn falls_back(&mut self, down: &Down) -> Result<bool, Fault> {
        if !down.is_of_server() || self.others.is_empty() {
            return Ok(false);
        }
        let next = self.others.remove(0);
        let text =
            format!("{} does not answer ({}): {} takes over", self.mind.name(), down.cause, next.name());
        tracing::warn!("{text}");
        let mut before = std::mem::replace(&mut self.mind, next);
        before.talk().into_iter().for_each(ModelMind::let_go);
        // The first model is kept for the next wake; fallbacks that failed return with the broker's next offer.
        self.first.get_or_insert(before);
        self.heart.mind(&self.mind.name());
        self.observe("fallback", &text)?;
        Ok(true)
    }

    /// Puts the first model back in use, for the next wake.
    pub(crate) fn fall_forward(&mut self) {
        if let Some(first) = self.first.take() {
            let mut stood_in = std::mem::replace(&mut self.mind, first);
            stood_in.talk().into_iter().for_each(ModelMind::let_go);
            self.others.insert(0, stood_in);
            self.heart.mind(&self.mind.name());
        }
    }

    /// Goes on with the conversations an earlier life left unfinished: the owner's first.
    fn take_up(&mut self) {
        let Mind::Model(mind) = &self.mind else { return };
        self.toolbox.most_shown = mind.most_shown();
        for thread in mind.unfinished() {
            self.unfinished.take_up(thread);
        }
    }
}
