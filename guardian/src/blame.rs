//! Whose fault a death or a failed build is, judged from evidence. Pure.
//!
//! Only what the guardian measured itself excuses a dead creature: what a creature prints, it may have made up.

use crate::vocabulary::Blame;

/// What was measured around the end of a life or build.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Kernel out-of-memory kills since it was started.
    pub memory_kills: u64,
    pub free_mib: u64,
    pub floor_mib: u64,
    /// What cargo printed; only for builds.
    pub output: String,
    /// cargo itself could not be started.
    pub no_cargo: bool,
    /// We ended it for overstaying its deadline.
    pub overdue: bool,
}

const KILLED: i32 = 9;

/// Words of cargo and the linker when the tools are at fault.
const TOOLCHAIN: [&str; 8] = [
    "Missing manifest in toolchain",
    "can't find crate for `std`",
    "linker `cc` not found",
    "could not execute process `rustc",
    "rustup could not choose a version",
    "is not installed",
    "failed to find tool",
    "error: could not exec the linker",
];

/// Words of cargo when the registry is out of reach.
const NETWORK: [&str; 8] = [
    "Could not resolve host",
    "Couldn't connect to server",
    "failed to download",
    "download of config.json failed",
    "spurious network error",
    "Connection refused",
    "Timeout was reached",
    "you may want to consider using a different network or the `--offline` flag",
];

pub fn death(evidence: &Evidence) -> Blame {
    if evidence.free_mib < evidence.floor_mib {
        Blame::Disk
    } else if evidence.signal == Some(KILLED) && evidence.memory_kills > 0 && !evidence.overdue {
        Blame::Memory
    } else {
        Blame::Code
    }
}

pub fn build(evidence: &Evidence) -> Blame {
    let says = |words: &[&str]| words.iter().any(|word| evidence.output.contains(word));
    if evidence.no_cargo {
        Blame::Toolchain
    } else if evidence.free_mib < evidence.floor_mib || says(&["No space left on device"]) {
        Blame::Disk
    } else if evidence.overdue {
        Blame::Code
    } else if evidence.memory_kills > 0 && says(&["signal: 9"]) {
        Blame::Memory
    } else if says(&TOOLCHAIN) {
        Blame::Toolchain
    } else if says(&NETWORK) {
        Blame::Network
    } else {
        Blame::Code
    }
}
