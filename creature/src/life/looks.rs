//! Which thoughts leave no record: of instinct's looks that find nothing, all but one an hour.

use crate::life::Life;
use crate::life::sense::Sensed;
use mind::thought::Thought;

impl Life {
    /// Whether this thought leaves no record: a look that is unrecorded and found nothing, or the end of a wake's work
    /// without a word.
    pub(crate) fn is_unrecorded(&self, thought: &Thought, sensed: &Sensed) -> bool {
        let told = sensed.reasons.unrecorded || sensed.round > 0;
        told && thought.idle && self.born.is_proven() && self.cursors.owner.words.is_empty()
    }
}
