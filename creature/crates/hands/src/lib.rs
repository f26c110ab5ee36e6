//! Hands: what the creature reaches the world with, behind one guarded HTTP client.

pub mod address;
pub mod decode;
mod feed;
pub mod oauth1;
pub mod readable;
pub mod search;
mod summary;
pub mod tags;
mod web;
pub mod x;

pub use feed::{Feed, Item};
pub use summary::summarise;
pub use web::{Page, Web};

use std::fmt;
use std::time::Duration;

/// How far fetching may reach.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Allow loopback, private and link-local addresses.
    pub allow_private: bool,
    /// Most bytes read of one answer, counted after decompression.
    pub most_bytes: u64,
    /// Longest a fetch may take, redirects and reading included.
    pub deadline: Duration,
}

impl Default for Reach {
    fn default() -> Self {
        Self { allow_private: false, most_bytes: 5 * 1024 * 1024, deadline: Duration::from_secs(20) }
    }
}

/// What failed, and what to do next; `status` where a server answered with one.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub message: String,
    pub hint: String,
    pub status: Option<u16>,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), status: None }
    }

    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
