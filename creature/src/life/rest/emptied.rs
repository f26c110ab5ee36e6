//! Empty answers: after one, the same reasons call for no thought for a while, longer each time.

use crate::life::Life;
use crate::life::carried::Emptied;
use crate::life::passed::Rest;
use agenda::waking::{self, Found};
use jiff::SignedDuration;
use mind::thought::Thought;
use std::time::Duration;

/// The first span in which the same situation is not asked about again, in seconds; it doubles, up to the longest.
const FIRST_S: u64 = 60;
const LONGEST_S: u64 = 3_600;

impl Life {
    /// The rest after a thought that wants another round without having acted; none where it may have that round.
    pub(super) fn emptied(&mut self, thought: &Thought, beside: bool) -> Option<Rest> {
        if !thought.only_words() {
            self.resting.emptied = Emptied::default();
            return None;
        }
        let silent = thought.monologue.is_empty() && thought.intent.is_empty();
        let spoke = std::mem::replace(&mut self.resting.emptied.spoke, true);
        if !silent && !spoke {
            // One thought aloud may go on; a second in a row without an act may not.
            return None;
        }
        let now = self.told.clock.now();
        let span_s = (FIRST_S << self.resting.emptied.times.min(6)).min(LONGEST_S);
        let times = self.resting.emptied.times.saturating_add(1);
        let found = self.found(now);
        let reasons_left = waking::reasons(&Found { request: found.request.filter(|_| !beside), ..found });
        let until = now.checked_add(SignedDuration::from_secs(span_s as i64)).ok();
        self.resting.emptied = Emptied { spoke: true, times, reasons_left, until };
        self.unfinished.stopped();
        let lasts = self.chosen(None).lasts.max(Duration::from_secs(span_s));
        Some(Rest { lasts, said_nothing: true, ..Rest::default() })
    }
}
