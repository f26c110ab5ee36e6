//! Minds behind one interface: instinct needs no model, the others call one.

mod apart;
pub mod context;
pub mod conversation;
pub mod extract;
pub mod grown;
mod handover;
pub mod instinct;
mod live;
pub mod llm;
pub mod moment;
mod native;
pub mod prompt;
pub mod runtime;
pub mod situation;
pub mod standing;
mod summing;
pub(crate) mod talk;
pub mod thought;
pub mod transcript;

use moment::Moment;
use serde_json::Value;
use std::time::Duration;
use thought::Thought;

/// What came of asking a mind.
#[derive(Clone, Debug)]
pub enum Outcome {
    Thought {
        thought: Thought,
        usage: Value,
    },
    /// The reply could not be read as a thought; `text` is its head.
    Garbled {
        error: String,
        text: String,
        usage: Value,
    },
    /// The mind could not be reached or refused.
    Down(Down),
}

/// Why there is no thought of a mind, and for how long to leave it alone.
#[derive(Clone, Debug, Default)]
pub struct Down {
    pub error: String,
    pub hint: String,
    pub why: Why,
    /// The cause alone, for people.
    pub cause: String,
    /// Seconds to rest at least.
    pub rest_s: u64,
    /// In how many seconds it will be otherwise, where that is known.
    pub reset_s: Option<u64>,
}

impl Down {
    /// Whether another model might answer where this one does not.
    pub fn is_of_server(&self) -> bool {
        matches!(self.why, Why::Away | Why::Key | Why::Money | Why::Unfit)
    }
}

/// Whose fault it is that a mind gives no thought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Why {
    Budget,
    /// The owner has to act first.
    Stopped,
    Key,
    Money,
    /// The request or the settings are not what the server takes.
    Unfit,
    #[default]
    Away,
    Garbled,
}

/// The mind in use.
#[allow(clippy::large_enum_variant)] // There is one.
pub enum Mind {
    Instinct(instinct::Instinct),
    Model(llm::ModelMind),
}

impl Mind {
    /// What the owner is told: `instinct`, or wire and model name.
    pub fn name(&self) -> String {
        match self {
            Mind::Instinct(_) => "instinct".to_owned(),
            Mind::Model(mind) => mind.name(),
        }
    }

    /// How long one thought of it may take.
    pub fn patience(&self) -> Duration {
        match self {
            // Deciding takes milliseconds; the rest is for a disk that is slow to keep its state.
            Mind::Instinct(_) => Duration::from_secs(60),
            Mind::Model(mind) => mind.patience(),
        }
    }

    /// One thought; `alive` is called with every sign of life of whoever thinks.
    pub async fn think(&mut self, moment: &Moment, alive: &(dyn Fn() + Sync)) -> Outcome {
        match self {
            Mind::Instinct(mind) => mind.think(moment),
            Mind::Model(mind) => mind.think(moment, alive).await,
        }
    }

    /// Its conversation, where it has one.
    pub fn talk(&mut self) -> Option<&mut llm::ModelMind> {
        match self {
            Mind::Instinct(_) => None,
            Mind::Model(mind) => Some(mind),
        }
    }
}
