//! The house's git repository: the ladder of blessed commits, and comparing, keeping and restoring a folder byte for byte.
//!
//! Used by the guardian and, while nobody lives here, by the owner's commands. No process is started here.

pub mod fit;
pub mod keep;
pub mod limits;
pub mod locks;
pub mod names;
pub mod objects;
pub mod open;
pub mod planted;
mod repository;
pub mod rescue;
pub mod restore;
pub mod restoring;
pub mod shortage;
pub mod small;
pub mod tree;
pub mod undo;
pub mod updating;

pub use repository::{COMPARED_BYTES, RESCUED, Repo, Rung, Version, publish_last_good};
