//! `/llm`: passes the field's two model wires through, with the key swapped in and the cost reserved and settled.
//!
//! Invariant: only the paths below reach a provider; what is judged is what is sent, byte for byte.

mod answer;
pub mod bill;
pub mod data;
pub mod experience;
pub mod health;
pub mod meter;
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
    OpenAi,
}

impl Wire {
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// Where clients of it find it here.
    pub fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/llm/anthropic",
            Self::OpenAi => "/llm/openai/v1",
        }
    }
}

pub fn routes() -> Router<Shared> {
    Router::new()
        .route("/llm/anthropic/v1/messages", post(pass::messages))
        .route("/llm/anthropic/v1/messages/count_tokens", post(pass::count_tokens))
        .route("/llm/openai/v1/chat/completions", post(pass::chat))
        .route("/llm/openai/v1/models", get(pass::models))
        .route("/llm/{*other}", axum::routing::any(pass::elsewhere))
}
