//! Compacts on the owner's word, by plain code: memory at once, conversations when they are next gone on with.

use crate::life::Life;
use agenda::directive;

impl Life {
    /// Takes a word that says to compact as that; what was done, none where the word is another.
    pub(crate) fn compacted(&mut self, text: &str, thread: &str) -> Option<String> {
        if self.told.safe || !directive::compacts(text) {
            return None;
        }
        let facts = self.facts();
        let memory = match self.store.keep_snapshot(&facts, None) {
            Ok((path, chars)) => {
                self.cursors.counts.summed_up();
                format!("a snapshot of {chars} characters is in {path}")
            }
            Err(fault) => format!("no snapshot could be taken: {} ({})", fault.error, fault.hint),
        };
        if self.minds.are_instinct() {
            return Some(format!("Compacted: {memory}."));
        }
        self.minds.compact_later(thread);
        Some(format!(
            "Compacted: {memory}; my work and this talk go on from a summary of themselves, with their last messages as they were."
        ))
    }
}
