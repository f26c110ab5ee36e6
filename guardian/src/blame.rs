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
    /// What cargo printed, from its first error on; only for builds.
    pub output: String,
    /// We ended it for overstaying its deadline.
    pub overdue: bool,
    /// Nothing that it started, nor itself, could send its first process a signal that kills.
    pub sheltered: bool,
    /// What it wrote to was deleted or moved under it: the folder of a build, the memory of a life.
    pub folder_gone: bool,
}

const KILLED: i32 = 9;

/// Words of cargo and the linker when the tools are at fault.
const TOOLCHAIN: [&str; 8] = [
    "Missing manifest in toolchain",
    "can't find crate for `std`",
    "linker `cc` not found",
    "(never executed)",
    "rustup could not choose a version",
    "is not installed",
    "failed to find tool",
    "error: could not exec the linker",
];

/// Words of cargo when the registry is out of reach.
const NETWORK: [&str; 11] = [
    "Could not resolve host",
    "Couldn't connect to server",
    "Could not connect to server",
    "failed to download",
    "download of config.json failed",
    "failed to get successful HTTP response",
    "Connection refused",
    "Timeout was reached",
    "offline mode (via `--offline`)",
    "--offline was specified",
    "failed to read root of directory source",
];

/// What cargo was at when it had not come to compiling yet.
const FETCHING: [&str; 3] = ["Updating ", "Downloading ", "Downloaded "];

pub fn death(evidence: &Evidence) -> Blame {
    let killed = evidence.signal == Some(KILLED);
    if evidence.free_mib < evidence.floor_mib {
        Blame::Disk
    } else if killed && evidence.memory_kills > 0 && !evidence.overdue {
        Blame::Memory
    } else if evidence.folder_gone || evidence.sheltered && killed && !evidence.overdue {
        Blame::Owner
    } else {
        Blame::Code
    }
}

pub fn build(evidence: &Evidence) -> Blame {
    // Not by what stands in the lines of source that rustc shows: those are the creature's words.
    let said = || evidence.output.lines().filter(|line| !shows_source(line));
    let says = |words: &[&str]| said().any(|line| words.iter().any(|word| line.contains(word)));
    if evidence.free_mib < evidence.floor_mib || says(&["No space left on device"]) {
        Blame::Disk
    } else if evidence.signal.is_some() {
        // Cargo itself was killed: no compiler's verdict.
        if evidence.memory_kills > 0 { Blame::Memory } else { Blame::Owner }
    } else if evidence.folder_gone || misses_its_folder(&evidence.output) {
        Blame::Owner
    } else if evidence.overdue {
        overdue(&evidence.output)
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

/// Where cargo stood when its time was over: only once it compiles does it run code of the creature's.
fn overdue(output: &str) -> Blame {
    let last = output.trim_end().lines().last().unwrap_or_default().trim_start();
    if last.contains("waiting for file lock") {
        Blame::Owner
    } else if FETCHING.iter().any(|word| last.starts_with(word)) && !output.contains("Compiling ") {
        Blame::Network
    } else {
        Blame::Code
    }
}

/// Cargo or rustc could not write to where they had made room before.
fn misses_its_folder(output: &str) -> bool {
    let names = |line: &str| line.starts_with("error: ") && line.contains("/target/creature/debug/");
    output.contains("(os error 2)") && output.lines().any(names)
}

/// `12 | let text = …`, and what rustc would put in its place.
fn shows_source(line: &str) -> bool {
    let line = line.trim_start();
    let after = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let marks: &[char] = if after.len() < line.len() { &['|', '+', '-', '~'] } else { &['|'] };
    after.trim_start().starts_with(marks)
}
