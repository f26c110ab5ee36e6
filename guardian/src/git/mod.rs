//! The repository: the ladder of blessed commits, and a folder against a git tree, byte for byte, without trusting what lies there.

pub mod keep;
pub mod locks;
pub mod names;
pub mod objects;
pub mod repo;
pub mod rescue;
pub mod restore;
pub mod shortage;
pub mod tree;
