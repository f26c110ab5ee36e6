//! A process tree in a namespace of its own, with an init: when the init ends, the kernel ends all the others.
//!
//! The init is this program: it starts the walled program, passes signals on to it, reaps its orphans, and ends with
//! the guardian or the program. Invariant: once the init is reaped, no process of the tree is left. The tree has its
//! own `/proc`, which shows only its own processes: process ids from outside mean nothing inside.

use crate::spec::{Handover, Spec};
use anyhow::{Context, Result, bail};
use nix::fcntl::OFlag;
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill, killpg, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, pipe2, setsid};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

/// The walled program's process id in its tree: the init is 1 and starts nothing before it.
pub const PROGRAM: u64 = 2;
/// Exit status of the init when its guardian is gone, as of a killed process.
const ABANDONED: i32 = 137;

/// Makes the tree. Returns in the process that is to become the walled program; the other processes never return from
/// here.
pub fn enter(spec: &Spec) -> Result<()> {
    let (outcome, told) = pipe2(OFlag::O_CLOEXEC).context("failed to make a pipe")?;
    unshare(CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS).context("failed to make a namespace")?;
    // The kernel discards signals to an init that are neither handled nor blocked.
    SigSet::all().thread_block().context("failed to hold signals back")?;
    // SAFETY: this process has one thread, so the copy may go on with the same code.
    #[allow(unsafe_code)]
    match unsafe { fork() }.context("failed to fork the init")? {
        ForkResult::Parent { child } => match spec.handover {
            Some(Handover { report, .. }) => {
                tell(borrow(report), child.as_raw());
                end(0)
            }
            None => {
                drop(told);
                stand_for(child, &outcome)
            }
        },
        ForkResult::Child => {
            drop(outcome);
            let report = spec.handover.map_or(told.as_fd(), |handover| borrow(handover.report));
            become_init(spec, report)
        }
    }
}

/// Without a handover the process outside stays: it waits for the init and ends as the walled program did.
fn stand_for(init: Pid, outcome: &OwnedFd) -> ! {
    let _ = prctl::set_pdeathsig(Signal::SIGKILL);
    let own = tend(init, None);
    let mut raw = [0; 4];
    let whole = matches!(nix::unistd::read(outcome, &mut raw), Ok(4));
    let status = if whole { WaitStatus::from_raw(init, i32::from_ne_bytes(raw)).unwrap_or(own) } else { own };
    let (raw, code) = told_of(status);
    if let Ok(number) = Signal::try_from(raw) {
        let _ = SigSet::all().thread_unblock();
        let _ = raise(number);
    }
    end(code)
}

fn become_init(spec: &Spec, report: BorrowedFd) -> Result<()> {
    if let Some(Handover { gate, .. }) = spec.handover {
        // Wait until the launcher is reaped: its end would trigger the parent-death signal set below.
        let _ = nix::unistd::read(borrow(gate), &mut [0]);
    }
    prctl::set_pdeathsig(Signal::SIGKILL).context("failed to bind this tree to the guardian")?;
    let lifeline = spec.lifeline.map(borrow);
    if lifeline.is_some_and(is_cut) {
        bail!("the guardian that started this is gone");
    }
    let _ = setsid();
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>).context("failed to leave shared mounts")?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, None::<&str>)
        .context("failed to mount its own /proc")?;
    // Not to be inspected or written to from inside, whichever other walls stand.
    prctl::set_dumpable(false).context("failed to shut the init")?;
    // SAFETY: as in `enter`.
    #[allow(unsafe_code)]
    match unsafe { fork() }.context("failed to fork the program")? {
        ForkResult::Parent { child } => {
            let (raw, code) = told_of(tend(child, lifeline));
            tell(report, raw);
            end(code)
        }
        ForkResult::Child => {
            SigSet::all().thread_unblock().context("failed to let signals in")?;
            prctl::set_dumpable(true).context("failed to open the program")?;
            let _ = setsid();
            Ok(())
        }
    }
}

/// Reaps, and passes signals on to `child` and its group until `child` has ended; returns how it ended. Ends with the
/// guardian.
fn tend(child: Pid, lifeline: Option<BorrowedFd>) -> WaitStatus {
    let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
    let Ok(signals) = SignalFd::with_flags(&SigSet::all(), flags) else { end(ABANDONED) };
    loop {
        // Reap before waiting: no signal tells of a process that ended before signals were blocked.
        if let Some(status) = reap(child) {
            return status;
        }
        let heard = [Some(signals.as_fd()), lifeline].into_iter().flatten();
        let mut heard: Vec<PollFd> = heard.map(|heard| PollFd::new(heard, PollFlags::POLLIN)).collect();
        let _ = poll(&mut heard, PollTimeout::NONE);
        if lifeline.is_some_and(is_cut) {
            end(ABANDONED);
        }
        while let Ok(Some(heard)) = signals.read_signal() {
            let heard = Signal::try_from(heard.ssi_signo as i32).ok().filter(|it| *it != Signal::SIGCHLD);
            // Until the child has made a group of its own, only its process id reaches it.
            heard.map(|heard| killpg(child, heard).or_else(|_| kill(child, heard)));
        }
    }
}

/// Reaps every process that has ended; returns the status of `child` if it is among them.
fn reap(child: Pid) -> Option<WaitStatus> {
    let mut ended = None;
    while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG)) {
        let Some(pid) = status.pid() else { break };
        if pid == child {
            ended = Some(status);
        }
    }
    ended
}

/// An end as a raw wait status, and as a shell's exit status.
fn told_of(status: WaitStatus) -> (i32, i32) {
    if let WaitStatus::Signaled(_, signal, _) = status {
        (signal as i32, 128 + signal as i32)
    } else if let WaitStatus::Exited(_, code) = status {
        (code << 8, code)
    } else {
        (ABANDONED << 8, ABANDONED)
    }
}

fn tell(to: BorrowedFd, number: i32) {
    let _ = nix::unistd::write(to, &number.to_ne_bytes());
}

/// Whether the other end of a pipe, to which nobody writes, is closed.
fn is_cut(pipe: BorrowedFd) -> bool {
    let mut heard = [PollFd::new(pipe, PollFlags::empty())];
    poll(&mut heard, PollTimeout::ZERO).is_ok()
        && heard.iter().any(|heard| heard.revents().is_some_and(|seen| seen.contains(PollFlags::POLLHUP)))
}

/// Says the same as `is_cut` of an inherited descriptor.
pub fn is_cut_off(pipe: RawFd) -> bool {
    is_cut(borrow(pipe))
}

fn borrow<'a>(descriptor: RawFd) -> BorrowedFd<'a> {
    // SAFETY: inherited open, and closed by nobody before this process ends or executes another program.
    #[allow(unsafe_code)]
    unsafe {
        BorrowedFd::borrow_raw(descriptor)
    }
}

/// Ends at once, without flushing or running destructors: the process is a copy of another that goes on.
fn end(code: i32) -> ! {
    // SAFETY: ends this process.
    #[allow(unsafe_code)]
    unsafe {
        libc::_exit(code)
    }
}
