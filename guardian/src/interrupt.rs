//! Whether the owner wants something while a long step is at work: such a step gives up, and is done again later.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Why a long step ended early.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("interrupted by the owner's word")
    }
}

impl std::error::Error for Interrupted {}

/// An error as soon as somebody asked.
pub fn check() -> anyhow::Result<()> {
    if ASKED.load(Ordering::Relaxed) { Err(Interrupted.into()) } else { Ok(()) }
}
