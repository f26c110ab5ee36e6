//! Talks with the owner: when one is over, and what those that are came to, kept by their files.

use crate::conversation::Conversation;
use memory::state;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Seconds of silence after which a talk that is too long to be gone on with is over; a shorter one is after a day.
const HOUR_S: i64 = 3_600;

/// Tokens by which a talk grew, below which nothing is said of it.
const LONG_TOKENS: u64 = 3_000;

/// A talk with the owner of fewer tokens is gone on with for a day; none that has fewer is too long for its money.
pub const SHORT_TOKENS: u64 = 32_000;
pub const DAY_S: i64 = 86_400;

/// How the names of talks begin that ended and wait to be summed up, while another one has their place.
pub const ENDED: &str = "ended-";

/// What is known of the talks, by their files.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Talks {
    pub next_s: i64,
    pub files: BTreeMap<String, Known>,
}

/// One that is over.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Known {
    /// Of its file when it was looked at: what has grown since is another one.
    pub bytes: u64,
    pub key: String,
    pub tries: u32,
    pub done: bool,
    /// Empty where it was too short to say anything of.
    pub summary: String,
}

/// Whether a talk is over, and worth a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    GoesOn,
    Short,
    Long,
}

/// How a talk stands by now.
pub fn over(talk: &Conversation, now_s: i64) -> Over {
    let idle_s = now_s.saturating_sub(talk.at_s);
    // One that a death or another thread cut off may be gone on with as long as a short one.
    let soon = talk.tokens() >= SHORT_TOKENS && !talk.is_unfinished();
    match idle_s < if soon { HOUR_S } else { DAY_S } {
        true => Over::GoesOn,
        false if is_long(talk) => Over::Long,
        false => Over::Short,
    }
}

/// Whether it grew by enough to be worth a summary.
pub fn is_long(talk: &Conversation) -> bool {
    talk.first_tokens().is_some_and(|first| talk.tokens() >= first.saturating_add(LONG_TOKENS))
}

/// The summary of a talk that is over, where one was made.
pub fn summary(talks: &Path, talk: &Conversation) -> Option<String> {
    let known: Talks = state::read(talks)?;
    let key = key(talk);
    let found = known.files.into_values().find(|known| known.key == key)?;
    Some(found.summary).filter(|summary| !summary.is_empty())
}

/// The same for the same talk, whichever file it lies in.
pub fn key(talk: &Conversation) -> String {
    format!("{}@{}", talk.head.thread.as_deref().unwrap_or_default(), talk.at_s)
}
