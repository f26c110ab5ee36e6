//! The minds that the broker offers: the one in use, its fallbacks, the quick one.

use crate::config::Told;
use crate::mind::{Mind, reach};
use crate::pace;
use hands::Broker;
use instinct::Instinct;
use mind::ModelSettings;
use mind::llm::{ModelMind, Reach};
use mind::{Down, llm};
use serde_json::Value;

/// Minds as the broker offers them, and which is in use.
pub(crate) struct Minds {
    /// The mind in use.
    pub now: Mind,
    /// The first model, while a fallback stands in for it.
    first: Option<Mind>,
    /// The fallback models, in the owner's order.
    others: Vec<Mind>,
    /// The model for small work: dreams, talks that are over, sub-sessions but the full ones.
    pub quick: Option<ModelMind>,
    /// The quick model did not answer in this wake.
    pub quick_is_away: bool,
    /// The `model` part of the broker's status.
    pub offer: Value,
    /// Names of what the owner configured that tools need.
    pub configured: Vec<String>,
    /// Tools of MCP servers, a line each.
    pub outside: String,
    /// Number of asks that wait for the owner.
    pub asks_waiting: u64,
    /// Threads whose conversations are to be summed up; none is its own work.
    to_compact: Vec<Option<String>>,
}

impl Minds {
    /// Begins with this mind alone, until the broker offers more.
    pub fn new(now: Mind) -> Self {
        let (others, configured, to_compact) = (Vec::new(), Vec::new(), Vec::new());
        let (first, quick, offer) = (None, None, Value::Null);
        Self {
            now,
            first,
            others,
            quick,
            quick_is_away: false,
            offer,
            configured,
            outside: String::new(),
            asks_waiting: 0,
            to_compact,
        }
    }

    /// Whether the mind in use is a model, which can read.
    pub fn can_read(&self) -> bool {
        matches!(self.now, Mind::Model(_))
    }

    pub fn are_instinct(&self) -> bool {
        matches!(self.now, Mind::Instinct(_))
    }

    /// The quick model, where there is one and it answers.
    pub fn quick(&mut self) -> Option<&mut ModelMind> {
        self.quick.as_mut().filter(|_| !self.quick_is_away)
    }

    /// Takes the minds of another offer; what is wrong with it, empty when all is well.
    pub fn offered(
        &mut self,
        status: &Value,
        broker: &Broker,
        settings: &ModelSettings,
        told: &Told,
    ) -> String {
        let reach = Reach { outside: &self.outside, ..reach(broker, settings, told, &self.configured) };
        let instinct = || Mind::Instinct(Instinct::load(&told.house, pace::BUILT));
        let (mind, said) = match llm::offered(&reach, status) {
            Ok(Some(mind)) => (Mind::Model(mind), String::new()),
            Ok(None) => (instinct(), String::new()),
            Err(said) => (instinct(), said),
        };
        if said.is_empty() {
            self.offer = offer(status);
        }
        let others = self.offer.get("fallback").and_then(Value::as_array).cloned().unwrap_or_default();
        let named = |offer: &Value| llm::other(&reach, offer, None);
        self.others = others.iter().filter_map(|offer| named(offer).ok()).map(Mind::Model).collect();
        self.quick =
            self.offer.get("quick").filter(|quick| quick.is_object()).and_then(|quick| named(quick).ok());
        (self.now, self.first) = (mind, None);
        said
    }

    /// Hands this wake to the next model of the owner's list, where the one in use is down; what is said of that, none
    /// where it did not.
    pub fn fall_back(&mut self, down: &Down) -> Option<String> {
        if !down.is_of_server() || self.others.is_empty() {
            return None;
        }
        let next = self.others.remove(0);
        let text =
            format!("{} does not answer ({}): {} takes over", self.now.name(), down.cause, next.name());
        let mut before = std::mem::replace(&mut self.now, next);
        before.talk().into_iter().for_each(ModelMind::let_go);
        // The first model is kept for the next wake; fallbacks that failed return with the broker's next offer.
        self.first.get_or_insert(before);
        Some(text)
    }

    /// Puts the first model back in use, for the next wake; whether another stood in for it.
    pub fn fall_forward(&mut self) -> bool {
        let Some(first) = self.first.take() else { return false };
        let mut stood_in = std::mem::replace(&mut self.now, first);
        stood_in.talk().into_iter().for_each(ModelMind::let_go);
        self.others.insert(0, stood_in);
        true
    }

    /// Has its own work and this thread summed up, when they are next gone on with.
    pub fn compact_later(&mut self, thread: &str) {
        self.to_compact.extend([None, Some(thread.to_owned())]);
    }

    /// Hands what is to be compacted to the mind, which has the conversations.
    pub fn compact(&mut self) {
        let Some(talk) = self.now.talk() else { return };
        self.to_compact.drain(..).for_each(|thread| talk.compact(thread.as_deref()));
    }
}

/// The `model` part of the broker's status.
pub fn offer(status: &Value) -> Value {
    status.get("model").cloned().unwrap_or(Value::Null)
}
