//! A process that holds secrets: no other of its user reads its memory, its environment or what it has open, and none is dumped.

use anyhow::{Context, Result};

/// Hides this process from others of its user, those of the creature's among them.
pub fn hide() -> Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_dumpable(false).context("failed to become unreadable to other processes")?;
    nix::sys::resource::setrlimit(nix::sys::resource::Resource::RLIMIT_CORE, 0, 0)
        .context("failed to forbid core files")
}
