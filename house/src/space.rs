//! Space on a disk: what the system counts as free there, and whether it takes a file, which a quota may not.

use nix::fcntl::OFlag;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Bytes written by a trial: fewer than any build, or any memory record of a day, takes.
const TRIAL_BYTES: usize = 256 << 10;

/// Free space where a path lies, in MiB: none where no file can be made any more, for lack of inodes; `None` where the
/// system does not say.
pub fn free_mib(path: &Path) -> Option<u64> {
    let told = nix::sys::statvfs::statvfs(path).ok()?;
    // Some file systems count no inodes, and say that they have none.
    let has_none = told.files() > 0 && told.files_available() == 0;
    Some(if has_none { 0 } else { (told.blocks_available() as u64 * told.fragment_size() as u64) >> 20 })
}

/// As `free_mib`, and none where a folder takes no file: the system counts as free what a quota does not give.
pub fn tried_mib(folder: &Path) -> Option<u64> {
    if takes(folder) { free_mib(folder) } else { Some(0) }
}

/// Whether a folder takes a file now. The file has no name and is gone with this call; true where there are no such
/// files.
fn takes(folder: &Path) -> bool {
    let mut unnamed = File::options();
    unnamed.write(true).custom_flags(OFlag::O_TMPFILE.bits()).mode(0o600);
    #[allow(clippy::disallowed_methods)]
    let written = unnamed.open(folder).and_then(|mut file| file.write_all(&vec![0; TRIAL_BYTES]));
    !written.is_err_and(|error| matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
}
