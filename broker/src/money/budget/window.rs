//! The owner's window: for a while after each new word in the inbox, calls count as the owner's; pure.

use crate::ledger::Entry;
use crate::ledger::sums::{INBOX, OWNER_SPOKE, Sums};
use jiff::Timestamp;

pub struct Window {
    /// `None` before the first look.
    inbox_bytes: Option<u64>,
    spoke: Option<Timestamp>,
    seconds: i64,
}

impl Window {
    pub fn new(sums: &Sums, seconds: u64) -> Self {
        Self {
            inbox_bytes: sums.inbox_bytes,
            spoke: sums.owner_spoke_at.as_ref().and_then(|at| at.parse().ok()),
            seconds: i64::try_from(seconds).unwrap_or(i64::MAX),
        }
    }

    /// Notices whether the inbox has grown; the entry returned has to be recorded.
    pub fn look(&mut self, bytes: u64, now: Timestamp) -> Option<Entry> {
        let known = self.inbox_bytes.replace(bytes);
        let (decision, note) = match known {
            None => (INBOX, "the inbox as it was found"),
            Some(known) if bytes > known => {
                self.spoke = Some(now);
                (OWNER_SPOKE, "a new word in the inbox: calls are on the owner's behalf for a while")
            }
            Some(known) if bytes < known => (INBOX, "the inbox became shorter"),
            Some(_) => return None,
        };
        Some(Entry { decision: decision.into(), bytes_in: bytes, ..Entry::note(note) })
    }

    /// Returns the time the owner was heard last.
    pub fn spoke(&self) -> Option<Timestamp> {
        self.spoke
    }

    pub fn is_open(&self, now: Timestamp) -> bool {
        let since = |spoke: Timestamp| now.as_second().saturating_sub(spoke.as_second());
        self.spoke.is_some_and(|spoke| (0..self.seconds).contains(&since(spoke)))
    }
}
