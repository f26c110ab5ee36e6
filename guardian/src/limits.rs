//! The guardian's numbers that the owner cannot change; those under `[limits]` in `owner.toml` are declared in `house`.

use house::clock::Millis;
pub use house::settings::guardian::Limits;
pub use repo::limits::RUNGS;

/// Life logs kept; older ones are removed. The evidence of a death stays in `deaths.jsonl`.
pub const LIFE_LOGS: usize = 50;
/// Largest life log, in bytes; a larger one is cut to its end while it is written.
pub const LIFE_LOG_BYTES: u64 = 64 << 20;
/// End of a log that goes into the evidence of a death, in bytes.
pub const LOG_TAIL_BYTES: u64 = 4_096;
/// Time between two measurements of the build folder: each walks some ten thousand files.
pub const TARGET_LOOK_MS: Millis = 60 * 60_000;
/// Largest state file or `guardian.json`, in bytes; smaller than what is read back, so that it may grow in between.
pub const DOCUMENT_BYTES: usize = 192 << 10;
