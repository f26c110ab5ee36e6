//! Whether the owner wants something while a long step is at work: such a step gives up, and is done again later.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Why a long step ended early.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("interrupted by the owner's word")
    }
}

impl std::error::Error for Interrupted {}

/// Notes every word of the owner's from here on, beside whatever else hears it.
pub fn listen() -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGUSR1] {
        signal_hook::flag::register(signal, Arc::clone(&ASKED)).context("failed to listen for signals")?;
    }
    Ok(())
}

/// All there was to hear is about to be heard.
pub fn heard() {
    ASKED.store(false, Ordering::Relaxed);
}

/// An error as soon as the owner has said something.
pub fn check() -> Result<()> {
    if ASKED.load(Ordering::Relaxed) { Err(Interrupted.into()) } else { Ok(()) }
}
