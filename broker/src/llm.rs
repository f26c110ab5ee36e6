//! `/llm`: passes the field's three model wires through, with the key swapped in and the cost reserved and settled.
//!
//! Invariant: only the paths below reach a provider; what is judged is what is sent, byte for byte.

pub mod aliases;
mod allowed;
mod answer;
mod besides;
pub mod bill;
mod blocks;
pub mod data;
pub mod experience;
pub mod health;
pub mod meter;
pub mod offers;
mod pass;
pub mod provider;
pub mod request;
pub mod scrub;

use crate::broker::Shared;
use axum::Router;
use axum::routing::{get, post};

/// What a model speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    Anthropic,
    /// Chat completions, of OpenAI's and of all who imitate it.
    OpenAi,
    /// OpenAI's own.
    Responses,
}

impl Wire {
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Responses => "responses",
        }
    }

    /// Where clients of it find it here.
    pub fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/llm/anthropic",
            Self::OpenAi | Self::Responses => "/llm/openai/v1",
        }
    }

    /// Whether a server of this wire may be asked in the other: those of OpenAI's two are the same.
    pub fn is_beside(self, other: Self) -> bool {
        (self == Self::Anthropic) == (other == Self::Anthropic)
    }
}

pub fn routes() -> Router<Shared> {
    Router::new()
        .route("/llm/anthropic/v1/messages", post(pass::messages))
        .route("/llm/anthropic/v1/messages/count_tokens", post(pass::count_tokens))
        .route("/llm/openai/v1/chat/completions", post(pass::chat))
        .route("/llm/openai/v1/responses", post(pass::responses))
        .route("/llm/openai/v1/models", get(pass::models))
        .route("/llm/{*other}", axum::routing::any(pass::elsewhere))
}
