//! The outlook of a wake: which mind the broker offers, what the owner said, and what the owner decided.
//!
//! Invariant: a broker that is away or babbles changes nothing but what is observed; the mind in use stays.

use crate::fault::Fault;
use crate::life::Life;
use crate::mind::instinct::Instinct;
use crate::mind::{Mind, context, llm};
use crate::senses::cursors::Waiting;
use crate::senses::{asks, inbox};
use serde_json::{Value, json};

impl Life {
    /// Asks the broker how things stand and tells of what is new.
    pub(crate) async fn look_out(&mut self) -> Result<(), Fault> {
        let before = self.mind.name();
        let said = self.consult().await;
        self.observe("broker", &said)?;
        let now = self.mind.name();
        if before != now {
            let text = format!("from now on I think with {now}, no longer with {before}");
            tracing::info!("{text}");
            self.remember("observation", json!({"about": "mind", "text": text}))?;
        }
        Ok(())
    }

    /// Takes the mind the broker offers; what was wrong with its answer, empty when all is well.
    pub(crate) async fn consult(&mut self) -> String {
        self.heart.mind(&self.mind.name());
        let Some(broker) = &self.told.broker else { return String::new() };
        let status = match broker.status().await {
            Ok(status) => status,
            Err(error) => return format!("failed to {} ({})", error.message, error.hint),
        };
        self.asks_waiting = status.get("asks_waiting").and_then(Value::as_u64).unwrap_or(0);
        let offer = status.get("model").cloned().unwrap_or(Value::Null);
        if offer == self.offer {
            return String::new();
        }
        let instinct = || Mind::Instinct(Instinct::load(&self.told.house));
        let (mind, said) = match llm::offered(broker, &status, &self.settings.model) {
            Ok(Some(mind)) => (Mind::Model(mind), String::new()),
            Ok(None) => (instinct(), String::new()),
            Err(said) => (instinct(), said),
        };
        if said.is_empty() {
            self.offer = offer;
        }
        self.mind = mind;
        self.heart.mind(&self.mind.name());
        said
    }

    /// Takes the owner's new words: each is remembered and waits for an answer.
    pub(crate) fn hear(&mut self) -> Result<(), Fault> {
        let heard = inbox::read(&self.told.house.inbox(), &mut self.cursors.inbox);
        self.observe("inbox", &heard.odd)?;
        let known = std::mem::take(&mut self.heard);
        for word in heard.words.into_iter().filter(|word| !known.contains(word)) {
            tracing::info!("the owner says: {}", context::shorten(&word.text, 200));
            self.remember("message", json!({"from": "owner", "text": word.text, "at": word.at}))?;
            self.cursors.words.push(Waiting { word, seen: 0 });
        }
        Ok(())
    }

    /// Takes what the owner decided: each is remembered and told to the next thought.
    pub(crate) fn hear_outcomes(&mut self) -> Result<(), Fault> {
        if self.told.safe {
            return Ok(());
        }
        let (outcomes, odd) = asks::read(&self.told.house.asks(), &mut self.cursors.asks);
        self.observe("asks", &odd)?;
        for outcome in outcomes {
            if self.cursors.first_telling(outcome.key) {
                tracing::info!("{}", context::shorten(&outcome.told, 200));
                self.cursors.news.push(outcome.told);
                self.remember("observation", outcome.record)?;
            }
        }
        Ok(())
    }
}
