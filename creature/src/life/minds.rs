//! Minds: which one the broker offers, which stands in for it, and what their conversations left unfinished.
//!
//! Invariant: a broker that does not answer changes nothing but what is observed; the mind in use stays.

use crate::fault::Fault;
use crate::life::Life;
use crate::mind::Mind;
use crate::mind::offered::offer;
use crate::models::Models;
use crate::senses::guardian::Standing;
use mind::Down;
use serde_json::{Value, json};

/// Lists what the owner configured that tools need, by the broker's status: names of services, `services` for any that
/// is no tool's own, `mcp`.
fn configured(status: &Value) -> Vec<String> {
    let services = status.get("services").and_then(Value::as_array).into_iter().flatten();
    let mut found: Vec<String> =
        services.filter_map(|one| Some(one.get("name")?.as_str()?.to_owned())).collect();
    // The tools of X serve Bluesky too.
    if found.iter().any(|name| name == "bluesky") && !found.iter().any(|name| name == "x") {
        found.push("x".to_owned());
    }
    if found.iter().any(|name| !["x", "search"].contains(&name.as_str())) {
        found.push("services".to_owned());
    }
    if !outside(status).is_empty() {
        found.push("mcp".to_owned());
    }
    found
}

/// Tools of MCP servers, a line each, by the broker's status.
fn outside(status: &Value) -> &str {
    status.get("mcp").and_then(Value::as_str).unwrap_or_default()
}

impl Life {
    /// Asks the broker how things stand and tells of what is new.
    pub(crate) async fn look_out(&mut self) -> Result<(), Fault> {
        self.find_way();
        let before = self.minds.now.name();
        let said = self.consult().await;
        self.store.observe("broker", &said)?;
        let now = self.minds.now.name();
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
        self.heart.mind(&self.minds.now.name());
        let Some(broker) = &self.told.broker else { return String::new() };
        if Standing::is_before_broker(&self.told.house.guardian()) {
            // Its page changes when it begins, and that ends a rest.
            return String::new();
        }
        let status = match broker.status().await {
            Ok(status) => status,
            Err(error) => return format!("failed to {} ({})", error.message, error.hint),
        };
        self.minds.asks_waiting = status.get("asks_waiting").and_then(Value::as_u64).unwrap_or(0);
        let configured = configured(&status);
        let is_same = offer(&status) == self.minds.offer && configured == self.minds.configured;
        if is_same && outside(&status) == self.minds.outside {
            return String::new();
        }
        self.minds.configured = configured;
        self.minds.outside = outside(&status).to_owned();
        let said = self.minds.offered(&status, broker, &self.settings.model, &self.told);
        self.take_up();
        self.access.offered();
        self.toolbox.models = Models::of(&self.minds.offer, &self.settings.model.effort);
        self.heart.next_try(None);
        self.heart.mind(&self.minds.now.name());
        said
    }

    /// Hands this wake to the next model of the owner's list, where the one in use is down; whether it did.
    pub(crate) fn falls_back(&mut self, down: &Down) -> Result<bool, Fault> {
        let Some(text) = self.minds.fall_back(down) else { return Ok(false) };
        tracing::warn!("{text}");
        self.heart.mind(&self.minds.now.name());
        self.store.observe("fallback", &text)?;
        Ok(true)
    }

    /// Puts the first model back in use, for the next wake.
    pub(crate) fn fall_forward(&mut self) {
        if self.minds.fall_forward() {
            self.heart.mind(&self.minds.now.name());
        }
    }

    /// Goes on with the conversations an earlier life left unfinished: the owner's first.
    fn take_up(&mut self) {
        let Mind::Model(mind) = &self.minds.now else { return };
        self.toolbox.most_shown = mind.most_shown();
        for thread in mind.unfinished() {
            self.unfinished.take_up(thread);
        }
    }
}
