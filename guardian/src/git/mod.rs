//! The repository: the ladder of blessed commits, and comparing, keeping and restoring a folder byte for byte.

pub mod keep;
pub mod locks;
pub mod names;
pub mod objects;
pub mod open;
pub mod planted;
pub mod repo;
pub mod rescue;
pub mod restore;
pub mod shortage;
pub mod small;
pub mod tree;
pub mod undo;
