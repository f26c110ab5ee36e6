//! Looks: of instinct's wakes that find nothing, one an hour leaves a record; of the others only what they find does.

use crate::life::Life;
use crate::mind::Mind;
use jiff::Timestamp;
use mind::thought::Thought;

/// Seconds between two records of looks that found nothing.
const TOLD_EVERY_S: i64 = 3_600;

/// How the looks of this life go.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    /// This wake is one more look, of which no record need tell.
    pub dull: bool,
    /// When one was last told of.
    told_at: Option<Timestamp>,
}

impl Looks {
    /// A wake begins; `looks` where it has no other reason.
    pub fn wake(&mut self, looks: bool, now: Timestamp) {
        let since_s = self.told_at.map(|at| now.duration_since(at).as_secs());
        // After a clock that was set back it is told of anew.
        self.dull = looks && since_s.is_some_and(|since_s| (0..TOLD_EVERY_S).contains(&since_s));
        if looks && !self.dull {
            self.told_at = Some(now);
        }
    }
}

impl Life {
    /// Whether the mind in use reads, and is no instinct.
    pub(crate) fn reads(&self) -> bool {
        matches!(self.mind, Mind::Model(_))
    }

    /// Whether this thought leaves no record: a dull look that found nothing, or the end of a wake's work without a word.
    pub(crate) fn is_dull(&self, thought: &Thought, round: u32) -> bool {
        let told = self.course.looks.dull || round > 0;
        told && thought.idle && self.course.proven && self.cursors.words.is_empty()
    }
}
