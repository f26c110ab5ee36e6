//! Signals from the owner during a long step: the step gives up and is done again later; and whether it gets on.

use crate::files;
use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static LEAVE: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static ORDER: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// Calls of `check`: a number that stands still tells of a step that does not get on.
static CHECKS: AtomicU64 = AtomicU64::new(0);

/// Reason why a long step ended early.
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
    let register = |signal, note: &Arc<AtomicBool>| {
        signal_hook::flag::register(signal, Arc::clone(note)).context("failed to listen for signals")
    };
    for signal in wanted(&[SIGINT, SIGTERM, SIGHUP]) {
        register(signal, &ASKED)?;
        register(signal, &LEAVE)?;
    }
    register(SIGUSR1, &ASKED)?;
    register(SIGUSR1, &ORDER)?;
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

/// Clears the notes: the caller is about to read every order that is there.
pub fn heard() {
    for note in [&ASKED, &LEAVE, &ORDER] {
        note.store(false, Ordering::Relaxed);
    }
}

/// Fails if the owner has sent a signal since `heard`. Every step longer than a second calls this as it gets on.
pub fn check() -> Result<()> {
    gets_on();
    if ASKED.load(Ordering::Relaxed) { Err(Interrupted.into()) } else { Ok(()) }
}

/// Notes that a step gets on which cannot be interrupted.
pub fn gets_on() {
    CHECKS.fetch_add(1, Ordering::Relaxed);
}

/// Returns how often a step has said that it gets on.
pub fn checks() -> u64 {
    CHECKS.load(Ordering::Relaxed)
}

/// Takes the note of a signal to leave (SIGINT, SIGTERM, SIGHUP), if there is one.
pub fn take_leave() -> bool {
    LEAVE.swap(false, Ordering::Relaxed)
}

/// Takes the note of an order that waits in its file (SIGUSR1), if there is one.
pub fn take_order() -> bool {
    ORDER.swap(false, Ordering::Relaxed)
}
