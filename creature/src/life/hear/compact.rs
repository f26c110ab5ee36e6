//! Compacts on the owner's word, by plain code: memory at once, conversations when they are next gone on with.

use crate::digest::Facts;
use crate::mind::offered::Minds;
use crate::senses::cursors::Counts;
use crate::store::Store;

/// Compacts memory, and has the conversations compacted; says what was done.
pub(super) fn compacted(
    store: &mut Store,
    counts: &mut Counts,
    minds: &mut Minds,
    facts: &Facts,
    thread: &str,
) -> String {
    let memory = match store.keep_snapshot(facts, None) {
        Ok((path, chars)) => {
            counts.summed_up();
            format!("a snapshot of {chars} characters is in {path}")
        }
        Err(fault) => format!("no snapshot could be taken: {} ({})", fault.error, fault.hint),
    };
    if minds.are_instinct() {
        return format!("Compacted: {memory}.");
    }
    minds.compact_later(thread);
    format!(
        "Compacted: {memory}; my work and this talk go on from a summary of themselves, with their last messages as they were."
    )
}
