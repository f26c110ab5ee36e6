//! The steward's line to the heart, which started it: says that its loop goes round, and what a life needs without it.
//!
//! Invariant: nothing here waits for the heart, and a beat that does not fit is left out.

use anyhow::{Context, Result};
use heart::wire::{Line, Record, Said};
use house::clock::{Millis, running_ms};
use house::interrupt;
use nix::sys::prctl;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Longest time between two rounds of the loop: silence tells the heart that it hangs.
pub const ROUND_MS: Millis = 10_000;
/// Shortest time between two words that a step gets on.
const GETS_ON_MS: Millis = 100;
/// Shortest time between two rounds that are told although only time began them: each word wakes the heart.
const TELLS_MS: Millis = 5_000;

static LINE: OnceLock<Line> = OnceLock::new();
static LEAVING: AtomicBool = AtomicBool::new(false);
static BEGAN_MS: AtomicU64 = AtomicU64::new(0);
static SAID_MS: AtomicU64 = AtomicU64::new(0);
/// When a round was told last, and whether the one under way was.
static TOLD_MS: AtomicU64 = AtomicU64::new(0);
static IS_TOLD: AtomicBool = AtomicBool::new(true);
static LONGEST_GAP_MS: AtomicU64 = AtomicU64::new(0);
static LONGEST_STEP_MS: AtomicU64 = AtomicU64::new(0);
/// Words of what lasts, as they were said last, of a life and of what is blessed; and whether they arrived.
static TOLD: Mutex<Vec<(Said, bool)>> = Mutex::new(Vec::new());

/// Takes the line up, once signals are listened for: the heart's word to leave would kill before. The first step has begun.
pub fn begin() -> Result<()> {
    let line = Line::inherited().context("only the guardian starts its steward: `cargo run -p guardian`")?;
    let _ = LINE.set(line);
    prctl::set_name(c"steward")?;
    interrupt::tell(gets_on);
    begins(true);
    Ok(())
}

/// The heart's process: the one that the owner's commands and service manager know as the guardian.
pub fn heart_pid() -> i32 {
    nix::unistd::getppid().as_raw()
}

fn say(said: Said) -> bool {
    LINE.get().is_some_and(|line| line.say(said))
}

/// Says that the loop has waited for events and begins to handle them; `is_called`: there was one, not time alone.
pub fn begins(is_called: bool) {
    let (now, leaves) = (running_ms(), LEAVING.load(Ordering::Relaxed));
    BEGAN_MS.store(now, Ordering::Relaxed);
    let is_told = is_called || leaves || now >= TOLD_MS.load(Ordering::Relaxed) + TELLS_MS;
    IS_TOLD.store(is_told, Ordering::Relaxed);
    if is_told {
        TOLD_MS.store(now, Ordering::Relaxed);
        say(Said::Round { leaves });
    }
}

/// Says that the loop waits for events from here on.
pub fn waits() {
    say_again();
    let (began, leaves) = (BEGAN_MS.load(Ordering::Relaxed), LEAVING.load(Ordering::Relaxed));
    // After a word that a step gets on, the heart takes it for under way until it hears this.
    let got_on = SAID_MS.load(Ordering::Relaxed) >= began;
    if IS_TOLD.load(Ordering::Relaxed) || leaves || got_on {
        say(Said::Waits { leaves });
    }
    let took = running_ms().saturating_sub(began);
    LONGEST_STEP_MS.fetch_max(took, Ordering::Relaxed);
}

fn gets_on() {
    let now = running_ms();
    if now >= SAID_MS.load(Ordering::Relaxed) + GETS_ON_MS {
        SAID_MS.store(now, Ordering::Relaxed);
        say(Said::On);
    }
}

/// Notes whether the owner wants to leave, as far as the loop has heard.
pub fn leaves(leaving: bool) {
    LEAVING.store(leaving, Ordering::Relaxed);
}

/// Says that the loop begins.
pub fn ready() {
    say(Said::Ready);
}

/// Says which life runs, and what a blessed version needs to run without this steward, where the heart does not know.
pub fn records(record: Record, life: u64, pid: i32) {
    let Ok(mut told) = TOLD.lock() else { return };
    let new = [Said::Life { number: life, pid }, Said::Record(record)].map(|said| {
        let arrived = told.contains(&(said.clone(), true)) || say(said.clone());
        (said, arrived)
    });
    *told = new.into();
}

/// Says again what did not arrive.
fn say_again() {
    let Ok(mut told) = TOLD.lock() else { return };
    told.iter_mut().filter(|(_, arrived)| !arrived).for_each(|(said, arrived)| *arrived = say(said.clone()));
}

/// Longest time in which the heart could not hear the owner, since it began.
pub fn longest_gap_ms() -> Millis {
    let told = LINE.get().and_then(Line::told_gap).unwrap_or_default();
    LONGEST_GAP_MS.fetch_max(told, Ordering::Relaxed).max(told)
}

/// Longest time between two waits of the loop for events.
pub fn longest_step_ms() -> Millis {
    LONGEST_STEP_MS.load(Ordering::Relaxed)
}
