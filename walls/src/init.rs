//! A tree of processes with a first one of its own: when that one ends, the kernel ends all the others.
//!
//! The first process (the init) is ours: it starts the program, passes signals on to it, reaps what it leaves, and ends with
//! the guardian or with the program. Invariant: once the init is reaped, no process of the tree is left.
//! The tree has its own `/proc`, in which only its own processes are seen: numbers from outside mean nothing inside.

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

/// The number of the program in its tree: the init is 1 and starts nothing before it.
pub const PROGRAM: u64 = 2;
/// What the init ends with when its guardian is gone, as if killed.
const ABANDONED: i32 = 137;

/// Makes the tree. Comes back in the process that is to become the program; the others never come back from here.
pub fn enter(spec: &Spec) -> Result<()> {
    let (outcome, told) = pipe2(OFlag::O_CLOEXEC).context("failed to make a pipe")?;
    unshare(CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS).context("failed to make a namespace")?;
    // The kernel throws away what the first process of a namespace neither handles nor holds back.
    SigSet::all().thread_block().context("failed to hold signals back")?;
    // SAFETY: this process has one thread, and its copy goes on with the same code.
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

/// Where nobody asked for the init's number, the process outside waits for it and ends as the program did.
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
        // The kernel would take the launcher's end for the one that is to be ours.
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
    // Not to be looked into or written to from inside, whichever walls stand there.
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

/// Reaps, and passes signals on to a child and its group, until that child has ended: how. Ends with the guardian.
fn tend(child: Pid, lifeline: Option<BorrowedFd>) -> WaitStatus {
    let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
    let Ok(signals) = SignalFd::with_flags(&SigSet::all(), flags) else { end(ABANDONED) };
    loop {
        // Before anything is waited for: who ended before signals were held back is told of by none.
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
            // Before it has a group of its own it has ours.
            heard.map(|heard| killpg(child, heard).or_else(|_| kill(child, heard)));
        }
    }
}

/// Everything that has ended; what `child` ended with, if it is among them.
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

/// An end as the kernel writes it in one number, and as a shell would.
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

/// Whether the other end of a pipe is closed. Nobody writes to it.
fn is_cut(pipe: BorrowedFd) -> bool {
    let mut heard = [PollFd::new(pipe, PollFlags::empty())];
    poll(&mut heard, PollTimeout::ZERO).is_ok()
        && heard.iter().any(|heard| heard.revents().is_some_and(|seen| seen.contains(PollFlags::POLLHUP)))
}

/// The same of an inherited descriptor.
pub fn is_cut_off(pipe: RawFd) -> bool {
    is_cut(borrow(pipe))
}

fn borrow<'a>(descriptor: RawFd) -> BorrowedFd<'a> {
    // SAFETY: inherited open, and closed by nobody before this process ends or becomes another.
    #[allow(unsafe_code)]
    unsafe {
        BorrowedFd::borrow_raw(descriptor)
    }
}

/// At once, with nothing flushed or run: the process is a copy of one that goes on.
fn end(code: i32) -> ! {
    // SAFETY: ends this process.
    #[allow(unsafe_code)]
    unsafe {
        libc::_exit(code)
    }
}
