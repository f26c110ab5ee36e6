//! Hears the owner while a step of the loop is held up in the kernel, and begins the guardian anew where one does not end.
//!
//! A step can be held up by whatever another process does to a file: a lease, a frozen disk, a reader that stopped.
//! Invariant: the thread in here takes no lock that the loop holds while it waits, and neither opens nor writes what the
//! creature can reach.
//! Invariant: it does not run while the loop waits for events: a timer, set for each step, wakes it.

use crate::orders;
use anyhow::{Context, Result};
use house::clock::{Millis, running_ms};
use house::{House, files, interrupt, outlet, terminal};
use nix::sys::signal::{SigSet, SigmaskHow};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use processes::hunt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Time between two looks at a step; the owner is heard within two of them.
pub const LOOK_MS: Millis = 400;
/// Looks without progress after which the creature is asked to end, where the owner wants to leave.
const ASK_LOOKS: u32 = 2;
/// Further looks after which everything is killed: ten seconds.
const KILL_LOOKS: u32 = 25;
/// Looks without progress after which the guardian begins anew: 20 s asleep in the kernel. Work that only takes long
/// says that it gets on; a disk that is slow does not count as asleep.
const ANEW_LOOKS: u32 = 50;
/// Time for processes that are asked to end before the guardian begins anew.
const GRACE_MS: Millis = 2_000;

static LEAVING: AtomicBool = AtomicBool::new(false);
static ROUNDS: AtomicU64 = AtomicU64::new(0);
static BEGAN_MS: AtomicU64 = AtomicU64::new(0);
static HEARD_MS: AtomicU64 = AtomicU64::new(0);
static LONGEST_GAP_MS: AtomicU64 = AtomicU64::new(0);
static LONGEST_STEP_MS: AtomicU64 = AtomicU64::new(0);

/// Longest time in which neither the loop nor this thread could hear the owner, since the guardian began.
pub fn longest_gap_ms() -> Millis {
    LONGEST_GAP_MS.load(Ordering::Relaxed)
}

/// Longest time between two waits of the loop for events.
pub fn longest_step_ms() -> Millis {
    LONGEST_STEP_MS.load(Ordering::Relaxed)
}

/// The loop's end of the timer.
pub struct Stall(Arc<TimerFd>);

impl Stall {
    /// Starts the thread that looks at steps; the first has begun.
    pub fn watch(house: &House) -> Result<Self> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC);
        let timer = Arc::new(timer.context("failed to make a timer")?);
        let (looks, house) = (Arc::clone(&timer), house.clone());
        let main = nix::unistd::gettid();
        let looking = move || look_at_steps(&looks, &house, main.as_raw());
        std::thread::Builder::new()
            .name("stall".into())
            .spawn(looking)
            .context("failed to start a thread")?;
        let stall = Self(timer);
        stall.begins();
        Ok(stall)
    }

    /// Notes that the loop has waited for events and begins to handle them.
    pub fn begins(&self) {
        ROUNDS.fetch_add(1, Ordering::Relaxed);
        BEGAN_MS.store(running_ms(), Ordering::Relaxed);
        HEARD_MS.store(running_ms(), Ordering::Relaxed);
        let every = TimeSpec::from_duration(Duration::from_millis(LOOK_MS));
        let _ = self.0.set(Expiration::Interval(every), TimerSetTimeFlags::empty());
    }

    /// Notes that the loop waits for events from here on.
    pub fn ends(&self) {
        let _ = self.0.unset();
        hear();
        let took = running_ms().saturating_sub(BEGAN_MS.load(Ordering::Relaxed));
        LONGEST_STEP_MS.fetch_max(took, Ordering::Relaxed);
    }
}

/// Notes whether the owner wants to leave, as far as the loop has heard.
pub fn leaves(leaving: bool) {
    LEAVING.store(leaving, Ordering::Relaxed);
}

/// Notes that the owner can be heard now.
fn hear() {
    let now = running_ms();
    let gap = now.saturating_sub(HEARD_MS.swap(now, Ordering::Relaxed));
    LONGEST_GAP_MS.fetch_max(gap, Ordering::Relaxed);
}

/// A step as the looks at it found it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    /// Looks in a row without progress, and those of them that found the loop asleep in the kernel.
    pub looks: u32,
    pub asleep: u32,
    /// Whether the owner wants to leave, and said so again.
    pub leaves: bool,
    pub again: bool,
    /// At which look the creature was asked to end.
    pub asked: Option<u32>,
}

/// Consequence of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    Nothing,
    /// Everything is asked to end.
    Ask,
    /// Everything is killed, and the guardian leaves.
    Leave,
    /// Everything is ended, and the guardian begins anew, as after a kill.
    Anew,
}

pub fn follows(held: &Held) -> Follows {
    match held.asked {
        None if held.leaves && held.looks >= ASK_LOOKS => Follows::Ask,
        Some(at) if held.again || held.looks >= at + KILL_LOOKS => Follows::Leave,
        None if !held.leaves && held.asleep >= ANEW_LOOKS => Follows::Anew,
        _ => Follows::Nothing,
    }
}

fn look_at_steps(timer: &TimerFd, house: &House, main: i32) {
    let (mut seen, mut held) = ((0, 0), Held::default());
    while timer.wait().is_ok() {
        hear();
        take_signals();
        let progress = (ROUNDS.load(Ordering::Relaxed), interrupt::checks());
        let again = interrupt::take_leave() || interrupt::take_order() && orders::is_to_stop(house);
        // Not counted by time: a machine that was suspended, or a guardian that was stopped, was not held up.
        if progress != seen {
            // A new round has heard all that was said before it.
            let leaves = held.leaves && progress.0 == seen.0;
            (seen, held) = (progress, Held { leaves, ..Held::default() });
        }
        held.looks += 1;
        held.asleep = if is_asleep(main) { held.asleep + 1 } else { 0 };
        held.again = held.leaves && again;
        held.leaves |= again || LEAVING.load(Ordering::Relaxed);
        match follows(&held) {
            Follows::Nothing => {}
            Follows::Ask => {
                held.asked = Some(held.looks);
                say(&format!("a step is held up {}; what lives here is asked to end", place(main)));
                hunt::ask_children();
            }
            Follows::Leave => {
                say(&format!(
                    "a step is held up {}; everything is ended, and the next start goes on as after a kill",
                    place(main)
                ));
                end_all();
                outlet::settle();
                // SAFETY: ends this process at once; whatever is held up holds it no longer than itself.
                #[allow(unsafe_code)]
                unsafe {
                    libc::_exit(0)
                }
            }
            Follows::Anew => {
                begin_anew(&format!(
                    "a step was held up {} for {} s",
                    place(main),
                    held.asleep * LOOK_MS as u32 / 1_000
                ));
                held = Held { leaves: held.leaves, ..Held::default() };
            }
        }
    }
}

/// Runs the handlers of signals that the kernel gave to the loop's thread, which cannot take them while a disk holds it:
/// a thread whose mask changes takes what waits for the whole process.
fn take_signals() {
    if let Ok(before) = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK) {
        let _ = before.thread_set_mask();
    }
}

/// Ends everything and replaces this process by a new guardian, which goes on as after a kill. Returns only if that
/// fails.
fn begin_anew(why: &str) {
    say(&format!("{why}; everything is ended, and the guardian begins anew"));
    hunt::ask_children();
    let until = running_ms() + GRACE_MS;
    while running_ms() < until && !hunt::reap_into(&mut Vec::new()) {
        std::thread::sleep(Duration::from_millis(20));
    }
    end_all();
    outlet::settle();
    let mut words = std::env::args_os();
    let mut anew = Command::new("/proc/self/exe");
    words.next().iter().for_each(|name| _ = anew.arg0(name));
    let failed = anew.args(words).env(hunt::ANEW, why).exec();
    say(&format!("the guardian cannot begin anew: {failed}"));
}

fn end_all() {
    while !hunt::sweep(&[], &mut Vec::new()) {
        hear();
    }
}

/// Whether the loop sleeps in the kernel until something happens. Waiting for a disk is no such sleep: it cannot be
/// ended, and only takes long.
fn is_asleep(thread: i32) -> bool {
    let stat = files::system(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('S'))
}

/// The place in the kernel where the loop waits, by the kernel's name for it.
fn place(thread: i32) -> String {
    let name = files::system(format!("/proc/self/task/{thread}/wchan")).unwrap_or_default();
    match name.trim() {
        "" | "0" => "in the kernel".into(),
        name => format!("in the kernel ({name})"),
    }
}

fn say(text: &str) {
    terminal::error(&format!("guardian: {text}"));
}
