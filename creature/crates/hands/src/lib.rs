//! Hands: the creature's reach into the world, all of it through the broker.

pub mod bluesky;
mod body;
mod broker;
pub mod decode;
mod feed;
mod json_feed;
mod known;
pub mod posts;
pub mod readable;
pub mod search;
pub mod tags;
mod web;
pub mod x;

pub use broker::{Broker, Reply};
pub use feed::{Feed, Item, MOST_ITEMS};
pub use web::{Page, fetch_feed, fetch_text};

/// Error: what failed, and what to do next; `status` where a server answered with a status.
#[derive(Clone, Debug, Default, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub message: String,
    pub hint: String,
    pub status: Option<u16>,
    /// Seconds after which it may be asked again, where the other end said so.
    pub after_s: Option<u64>,
    /// Set where the broker keeps the act instead of doing it; then nothing has failed.
    pub deferred: Option<Deferred>,
}

/// Form in which the broker kept an act, by the owner's rules.
#[derive(Clone, Debug, PartialEq)]
pub enum Deferred {
    /// The id under which the act waits for the owner's yes.
    Asked(String),
    /// The path of a draft.
    Draft(String),
}

impl Error {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), ..Self::default() }
    }
}
