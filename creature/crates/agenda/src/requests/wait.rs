//! Waits of requests: for a time, something by its name, or the owner's word; until then it costs no thought. Pure.

use crate::items::{LONGEST_REASON, later};
use crate::text;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The longest wait without a look, in seconds.
const LONGEST_S: i64 = 86_400;

/// A wait of so many seconds may be chosen again and again.
const LITTLE_S: i64 = 3_600;

/// Kinds of things that are waited for by name, as in `session-4`.
const NAMED: [&str; 8] = ["ask", "session", "job", "watch", "task", "goal", "opportunity", "reminder"];

/// Wait of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wait {
    pub what: String,
    /// Time it is looked at again, whatever came.
    pub until: Timestamp,
    /// The owner's next word on its thread ends it.
    pub owner: bool,
}

impl Wait {
    /// A wait for `what` that ends at `until`, within a day where nobody said; for the owner's word where it names
    /// neither a time nor a thing.
    pub fn new(what: &str, until: Option<Timestamp>, now: Timestamp) -> Self {
        let owner = until.is_none() && names(what).is_empty();
        let until = until.unwrap_or_else(|| later(now, LONGEST_S));
        Self { what: text::clip(what, LONGEST_REASON), until, owner }
    }

    pub(super) fn of_owner(what: &str, now: Timestamp) -> Self {
        Self { owner: true, ..Self::new(what, None, now) }
    }

    /// Whether few thoughts can come of it: it is for a thing by its name, the owner's word, or an hour or more.
    pub(super) fn costs_little(&self, now: Timestamp) -> bool {
        self.owner || !names(&self.what).is_empty() || self.until >= later(now, LITTLE_S)
    }

    /// The jobs that are waited for by name.
    pub fn jobs(&self) -> Vec<String> {
        names(&self.what).into_iter().filter(|name| name.starts_with("job-")).collect()
    }

    /// Whether an event tells of the thing that is waited for.
    pub fn is_for(&self, event: &str) -> bool {
        let told = names(event);
        names(&self.what).iter().any(|name| told.contains(name))
    }
}

/// Names of things in a text: `session-4`, and `ask 7` as `ask-7`.
fn names(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '-');
    let words = words.map(|word| word.trim_matches('-').to_lowercase());
    let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    // A job's number has that of its life in it, as in job-3-1.
    let number = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || c == '-')
    };
    let one = |word: &String| {
        let (kind, at) = word.split_once('-')?;
        (NAMED.contains(&kind) && number(at)).then(|| word.clone())
    };
    let two = |pair: &[String]| match pair {
        [kind, at] if NAMED.contains(&kind.as_str()) && number(at) => Some(format!("{kind}-{at}")),
        _ => None,
    };
    words.iter().filter_map(one).chain(words.windows(2).filter_map(two)).collect()
}
