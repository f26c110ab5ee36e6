//! Talks with the owner: when one is over, and the summaries of those that are, by file name.

use crate::conversation::Conversation;
use memory::state;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Seconds of silence after which a talk of `SHORT_TOKENS` or more is over; a shorter one is after `DAY_S`.
const HOUR_S: i64 = 3_600;

/// A talk that grew by fewer tokens is not summed up.
const LONG_TOKENS: u64 = 3_000;

/// A talk with the owner of fewer tokens goes on for a day; no conversation of fewer is shortened to save money.
pub const SHORT_TOKENS: u64 = 32_000;
pub const DAY_S: i64 = 86_400;

/// Prefix of the file names of long talks that ended and wait to be summed up; another talk has their place.
pub const ENDED: &str = "ended-";

/// Talks as they are known, by file name; `next_s`: when they are looked at next.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Talks {
    pub next_s: i64,
    pub files: BTreeMap<String, Known>,
}

/// Talk as it was when it was looked at.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Known {
    /// Bytes of its file; a file of another length is looked at again.
    pub bytes: u64,
    /// Name of the talk, by [`key`].
    pub key: String,
    /// Looks at which a summary was asked for.
    pub tries: u32,
    /// The talk needs no further look while its file stays the same.
    pub done: bool,
    /// Empty where the talk was too short for a summary, or has none yet.
    pub summary: String,
}

/// Whether a talk is over, and long enough to be summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    GoesOn,
    Short,
    Long,
}

/// Whether a talk is over at `now_s`.
pub fn over(talk: &Conversation, now_s: i64) -> Over {
    let idle_s = now_s.saturating_sub(talk.at_s);
    // An unfinished talk, cut off by a death or another thread, may go on as long as a short one.
    let soon = talk.tokens() >= SHORT_TOKENS && !talk.is_unfinished();
    match idle_s < if soon { HOUR_S } else { DAY_S } {
        true => Over::GoesOn,
        false if is_long(talk) => Over::Long,
        false => Over::Short,
    }
}

/// Whether a talk grew by enough to be worth a summary.
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

/// Names a talk by its thread and last time, whichever file it lies in.
pub fn key(talk: &Conversation) -> String {
    format!("{}@{}", talk.head.thread.as_deref().unwrap_or_default(), talk.at_s)
}
