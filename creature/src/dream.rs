//! What a dream works on, apart from the life: its schedule, facts, papers that grew or changed, and its undoing.

pub(crate) mod facts;
pub(crate) mod night;
pub(crate) mod undoing;
pub(crate) mod upkeep;

pub(crate) use facts::{MOST_FACTS, facts_text, keep_facts, places};
pub use night::Night;
pub use undoing::three_way;
pub(crate) use undoing::undo;
pub use upkeep::{changed, looked};
