//! Signals from the owner during a long step: the step gives up and is done again later.

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

/// Notes every signal of the owner's from here on; other handlers of these signals still run.
pub fn listen() -> Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGUSR1] {
        signal_hook::flag::register(signal, Arc::clone(&ASKED)).context("failed to listen for signals")?;
    }
    Ok(())
}

/// Clears the note: the caller is about to read every order that is there.
pub fn heard() {
    ASKED.store(false, Ordering::Relaxed);
}

/// Fails if the owner has sent a signal since `heard`.
pub fn check() -> Result<()> {
    if ASKED.load(Ordering::Relaxed) { Err(Interrupted.into()) } else { Ok(()) }
}
