//! Walls as the owner asks for them: said by the settings, kept by the heart, put up by `walls`. Data.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    pub choice: Choice,
    /// Folders the creature may read beyond its house and the system.
    pub more: Vec<PathBuf>,
    pub ceilings: Ceilings,
}

/// Choice of the owner's: whether walls are put up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// As many walls as the kernel allows.
    #[default]
    On,
    /// All walls, or no start.
    Required,
    Off,
}

/// Resource limits of each process; the number of processes is counted over the whole tree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    pub processes: u64,
    pub memory_mib: u64,
    pub open_files: u64,
    pub file_mib: u64,
}
