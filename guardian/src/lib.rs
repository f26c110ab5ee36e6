//! The guardian: keeps one self-editing creature alive, and is never edited by it.
//!
//! The loop in `run` hears events, steps the policy in `decide`, and has `act` carry out its actions. No async, no
//! network, no model.

pub mod absence;
pub mod act;
pub mod console;
pub mod decide;
pub mod limits;
pub mod obey;
pub mod orders;
pub mod run;
pub mod settings;
pub mod start;
pub mod status;
pub mod steward;
