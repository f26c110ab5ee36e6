//! The guardian's numbers that the owner cannot change; those under `[limits]` in `owner.toml` are declared in `house`.

use house::clock::Millis;
pub use house::settings::guardian::Limits;

/// Rungs of the ladder, including the bottom one.
pub const RUNGS: usize = 8;
/// Life logs kept; older ones are removed. The evidence of a death stays in `deaths.jsonl`.
pub const LIFE_LOGS: usize = 50;
/// Largest file that is committed or kept under a ref, in bytes: such a file is read whole and stays in git for ever.
/// A larger one is moved aside to `kept/` without being read.
pub const KEPT_FILE_BYTES: u64 = 64 << 20;
/// Most files and folders that are committed or kept under a ref at once, and their bytes. A commit of more is
/// refused; to keep more, the whole folder is moved aside without being read.
pub const KEPT_ENTRIES: usize = 250_000;
pub const KEPT_BYTES: u64 = 1 << 30;
/// Longest committed path, from the repository's root. Linux opens 4,095 bytes, macOS 1,023; the difference is for
/// the folder it is checked out to.
pub const KEPT_PATH_BYTES: usize = 900;
/// Largest life log, in bytes; a larger one is cut to its end while it is written.
pub const LIFE_LOG_BYTES: u64 = 64 << 20;
/// End of a log that goes into the evidence of a death, in bytes.
pub const LOG_TAIL_BYTES: u64 = 4_096;
/// Time between two measurements of the build folder: each walks some ten thousand files.
pub const TARGET_LOOK_MS: Millis = 60 * 60_000;
/// Largest state file or `guardian.json`, in bytes; smaller than what is read back, so that it may grow in between.
pub const DOCUMENT_BYTES: usize = 192 << 10;
