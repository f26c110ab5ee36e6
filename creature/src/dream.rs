//! Dreams, apart from the life: their schedule, facts, papers that grew or changed, and their undoing.

pub(crate) mod facts;
pub(crate) mod state;
pub(crate) mod undoing;
pub(crate) mod upkeep;

pub(crate) use facts::{MOST_FACTS, facts_text, keep_facts, search_paths};
pub use state::DreamState;
pub use undoing::three_way;
pub(crate) use undoing::undo;
pub use upkeep::{changed, note_seen};
