//! The mind in use: instinct, which needs no model, or one that is a model; and the way to models.

pub(crate) mod access;
pub(crate) mod offered;
pub(crate) mod outage;
pub mod patience;

use crate::config::Told;
use crate::tools::catalogue::LIST;
use ::hands::Broker;
use ::instinct::Instinct;
use ::mind::llm::{ModelMind, Reach};
use ::mind::moment::Moment;
use ::mind::{Down, ModelSettings, Outcome};
use std::time::Duration;

/// The mind in use.
#[allow(clippy::large_enum_variant)] // There is one.
pub enum Mind {
    Instinct(Instinct),
    Model(ModelMind),
    /// The mind of this name thinks just now, and is held elsewhere.
    Thinking(String),
}

impl Mind {
    /// Returns the name the owner is told: `instinct`, or wire and model name.
    pub fn name(&self) -> String {
        match self {
            Mind::Instinct(_) => "instinct".to_owned(),
            Mind::Model(mind) => mind.name(),
            Mind::Thinking(name) => name.clone(),
        }
    }

    /// Returns how long one thought of it may take.
    pub fn patience(&self) -> Duration {
        match self {
            // Deciding takes milliseconds; the rest is for a disk that is slow to keep its state.
            Mind::Instinct(_) | Mind::Thinking(_) => Duration::from_secs(60),
            Mind::Model(mind) => mind.patience(),
        }
    }

    /// Has one thought; `alive` is called with every sign of life of the mind.
    pub async fn think(&mut self, moment: &Moment, alive: &(dyn Fn() + Sync)) -> Outcome {
        match self {
            Mind::Instinct(mind) => mind.think(moment),
            Mind::Model(mind) => mind.think(moment, alive).await,
            Mind::Thinking(_) => {
                Outcome::Down(Down { error: "it thinks already".to_owned(), ..Down::default() })
            }
        }
    }

    /// Returns the model and its conversation; none for instinct.
    pub fn talk(&mut self) -> Option<&mut ModelMind> {
        match self {
            Mind::Instinct(_) | Mind::Thinking(_) => None,
            Mind::Model(mind) => Some(mind),
        }
    }
}

/// Returns the way models are reached through this broker.
pub(crate) fn reach<'a>(
    broker: &'a Broker,
    settings: &'a ModelSettings,
    told: &'a Told,
    configured: &'a [String],
) -> Reach<'a> {
    let (house, commit) = (&told.house, told.commit.as_str());
    Reach {
        base: broker.base(),
        token: broker.token(),
        settings,
        house,
        tools: &LIST,
        commit,
        configured,
        outside: "",
    }
}
