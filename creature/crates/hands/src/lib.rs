//! Hands: what the creature reaches the world with, all of it through the broker.

mod broker;
pub mod decode;
mod feed;
pub mod readable;
pub mod search;
mod summary;
pub mod tags;
mod web;
pub mod x;

pub use broker::{Broker, Reply};
pub use feed::{Feed, Item};
pub use summary::summarise;
pub use web::{Page, fetch_feed, fetch_text};

use std::fmt;

/// What failed, and what to do next; `status` where a server answered with one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Error {
    pub message: String,
    pub hint: String,
    pub status: Option<u16>,
    /// The broker's stable word for what is wrong; empty where it said none.
    pub kind: String,
    /// The number under which this waits for the owner; then nothing has failed yet.
    pub asked: Option<String>,
    /// The owner's rule wants this as a draft.
    pub draft: bool,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), ..Self::default() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
