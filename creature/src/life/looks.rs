//! Looks: of instinct's wakes that find nothing, one an hour leaves a record; of the others only what they find does.

use crate::life::Life;
use crate::mind::Mind;
use mind::thought::Thought;

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
