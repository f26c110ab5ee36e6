//! Compacts on the owner's word, by plain code: memory at once, conversations when they are next gone on with.

use crate::life::Life;
use crate::mind::Mind;
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
                self.cursors.snapshot_at = self.cursors.thoughts;
                format!("a snapshot of {chars} characters is in {path}")
            }
            Err(fault) => format!("no snapshot could be taken: {} ({})", fault.error, fault.hint),
        };
        if matches!(self.mind, Mind::Instinct(_)) {
            return Some(format!("Compacted: {memory}."));
        }
        self.to_compact.extend([None, Some(thread.to_owned())]);
        Some(format!(
            "Compacted: {memory}; my work and this talk go on from a summary of themselves, with their last messages as they were."
        ))
    }

    /// Hands what is to be compacted to the mind, which has the conversations.
    pub(crate) fn compact(&mut self) {
        let Some(talk) = self.mind.talk() else { return };
        self.to_compact.drain(..).for_each(|thread| talk.compact(thread.as_deref()));
    }
}
