//! Signals from the owner during a long step: the step gives up and is done again later; and whether it gets on.

use crate::files;
use anyhow::{Context, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// Function that is told that a step gets on.
static TOLD: OnceLock<fn()> = OnceLock::new();

/// Reason why a long step ended early.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("interrupted by the owner's word")
    }
}

impl std::error::Error for Interrupted {}

/// Notes these signals of the owner's from here on; other handlers of them still run.
pub fn listen(signals: &[i32]) -> Result<()> {
    for signal in wanted(signals) {
        signal_hook::flag::register(signal, Arc::clone(&ASKED)).context("failed to listen for signals")?;
    }
    Ok(())
}

/// Signals that this process was not told to ignore when it was started, as `nohup` and a shell's `&` tell it.
pub fn wanted(signals: &[i32]) -> Vec<i32> {
    static IGNORED: LazyLock<u64> = LazyLock::new(|| {
        let status = files::system("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
    });
    signals.iter().copied().filter(|signal| *IGNORED >> (signal - 1) & 1 == 0).collect()
}

/// Clears the note: the caller is about to read every order that is there.
pub fn heard() {
    ASKED.store(false, Ordering::Relaxed);
}

/// Fails if the owner has sent a signal since `heard`. Every step longer than a second calls this as it gets on.
pub fn check() -> Result<()> {
    gets_on();
    if ASKED.load(Ordering::Relaxed) { Err(Interrupted.into()) } else { Ok(()) }
}

/// Says that a step gets on which cannot be interrupted.
pub fn gets_on() {
    TOLD.get().into_iter().for_each(|tell| tell());
}

/// Has this told, from here on, as often as steps say that they get on.
pub fn tell(told: fn()) {
    let _ = TOLD.set(told);
}
