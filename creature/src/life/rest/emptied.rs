//! Empty answers: after one, the same reasons call for no thought for a while, longer each time. Pure.

use crate::life::carried::Emptied;
use agenda::items::later;
use jiff::Timestamp;
use mind::thought::Thought;

/// The first span in which the same situation is not asked about again, in seconds; it doubles, up to the longest.
const FIRST_S: u64 = 60;
const LONGEST_S: u64 = 3_600;

impl Emptied {
    /// Takes in a thought; the seconds for which the same reasons call for none, where it wants another round without having
    /// acted and may not have it.
    pub(super) fn span_after(&mut self, thought: &Thought) -> Option<u64> {
        if !thought.only_words() {
            *self = Self::default();
            return None;
        }
        let silent = thought.monologue.is_empty() && thought.intent.is_empty();
        let spoke = std::mem::replace(&mut self.spoke, true);
        // One thought aloud may go on; a second in a row without an act may not.
        (silent || spoke).then(|| (FIRST_S << self.times.min(6)).min(LONGEST_S))
    }

    /// Notes the reasons that were left, which call for no thought for so many seconds.
    pub(super) fn leave(&mut self, reasons_left: Vec<String>, span_s: u64, now: Timestamp) {
        let until = Some(later(now, span_s));
        *self = Self { spoke: true, times: self.times.saturating_add(1), reasons_left, until };
    }
}
