//! Memory: append-only records that survive a crash, the newest read without the rest; snapshots; files of state.
//!
//! Invariant: one process writes a log; a line is one write ending in a newline, synced before the next act.
//! Absent on purpose: an index and a lock. The meaning of a kind stands in `kinds`; nothing else here looks at it.

mod error;
pub mod kinds;
mod log;
mod record;
mod replace;
mod salvage;
pub mod since;
pub mod snapshot;
pub mod state;
mod tail;

pub use error::Error;
pub use log::{Log, MAX_LINE, Mended};
pub use record::{Record, now};
pub use replace::{replace, set_aside};
pub use tail::{Tail, tail};
