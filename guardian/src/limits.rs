//! The numbers the guardian lives by that the owner cannot change; those under `[limits]` in `owner.toml` are the house's.

use house::clock::Millis;
pub use house::settings::guardian::Limits;

/// Rungs of the ladder, the bottom one counted.
pub const RUNGS: usize = 8;
/// Life logs kept. Beyond them the oldest go; what killed a life stands in `deaths.jsonl`.
pub const LIFE_LOGS: usize = 50;
/// Largest file that is committed or kept under a ref, in bytes: read whole, and git keeps it for ever. What is larger
/// makes way for `kept/`, unread.
pub const KEPT_FILE_BYTES: u64 = 64 << 20;
/// Files and folders that are committed or kept under a ref at once, and their bytes. A folder that holds more makes way
/// whole, unread; a commit of more is refused.
pub const KEPT_ENTRIES: usize = 250_000;
pub const KEPT_BYTES: u64 = 1 << 30;
/// Longest path of a name that is committed, from the root of the repository. Linux opens 4,095 bytes, macOS 1,023; the
/// rest is for where it is checked out.
pub const KEPT_PATH_BYTES: usize = 900;
/// Largest life log kept while it is written, in bytes; past it the log is emptied, its end kept aside.
pub const LIFE_LOG_BYTES: u64 = 64 << 20;
/// End of a log that goes into the evidence of a death, in bytes.
pub const LOG_TAIL_BYTES: u64 = 4_096;
/// Between two looks at the size of the build folder: a walk over some ten thousand files.
pub const TARGET_LOOK_MS: Millis = 60 * 60_000;
/// Largest document that is written to be read back by that measure, in bytes: room for what is added in between.
pub const DOCUMENT_BYTES: usize = 192 << 10;
