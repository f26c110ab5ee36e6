//! Numbers of the repository that the owner cannot change: rungs, and the most that is kept or committed.

/// Rungs of the ladder, including the bottom one.
pub const RUNGS: usize = 8;
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
