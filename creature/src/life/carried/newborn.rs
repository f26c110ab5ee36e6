//! Change a life was born of, told to thoughts while that is news; and whether the life had a thought.

use jiff::Timestamp;

/// Seconds for which it is told to each new conversation, after a thought was first shown it.
const TOLD_S: i64 = 3_600;

#[derive(Debug, Default)]
pub(crate) struct Newborn {
    /// The change this life was born of, or the one that was put back before it, as a text for thoughts.
    pub text: String,
    /// Time at which a thought of this life was first completed.
    thought_at: Option<Timestamp>,
}

impl Newborn {
    /// Whether a thought of this life was completed.
    pub fn is_proven(&self) -> bool {
        self.thought_at.is_some()
    }

    /// Notes that a thought was completed.
    pub fn thought(&mut self, now: Timestamp) {
        self.thought_at.get_or_insert(now);
    }

    /// Returns the text for a thought; empty once it is no news.
    pub fn change_text(&self, now: Timestamp) -> &str {
        let is_old = self.thought_at.is_some_and(|at| now.duration_since(at).as_secs() > TOLD_S);
        if is_old { "" } else { &self.text }
    }
}
