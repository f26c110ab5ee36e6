//! Work that may wait for a disk or for a reader of the terminal: done by a fork, for which the heart waits only a moment.

use ground::clock::running_ms;
use ground::terminal;
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};
use std::time::Duration;

/// Longest wait for the fork; what takes longer goes on without the heart, and ends with it.
const WAIT_MS: u64 = 200;
const LOOK: Duration = Duration::from_millis(1);

/// Prints a line.
pub fn say(line: &str) {
    work(&mut None, || {
        terminal::error(&format!("guardian: {line}"));
        true
    });
}

/// Does something in a fork, unless the former one still works: two writers could end in either order. What came of it;
/// `None` where that is not known.
pub fn work(former: &mut Option<Pid>, work: impl FnOnce() -> bool) -> Option<bool> {
    if former.is_some_and(|pid| is_alive(waitpid(pid, Some(WaitPidFlag::WNOHANG)))) {
        return None;
    }
    *former = None;
    // SAFETY: this process has one thread, so the copy may go on with the same code; it runs no destructor at its end.
    #[allow(unsafe_code)]
    match unsafe { fork() } {
        Ok(ForkResult::Child) => {
            let close = |first: u32| {
                // SAFETY: the copy's own descriptors, the house's lock among them; nothing of it is used after this.
                #[allow(unsafe_code)]
                unsafe {
                    libc::syscall(libc::SYS_close_range, first, u32::MAX, 0)
                }
            };
            // Ends with the heart: its successor writes the same file.
            let _ = prctl::set_pdeathsig(Signal::SIGKILL);
            close(3);
            let code = i32::from(!work());
            // SAFETY: ends this process.
            #[allow(unsafe_code)]
            unsafe {
                libc::_exit(code)
            }
        }
        Ok(ForkResult::Parent { child }) => {
            let until = running_ms() + WAIT_MS;
            while running_ms() < until {
                match waitpid(child, Some(WaitPidFlag::WNOHANG)) {
                    waited if is_alive(waited) => std::thread::sleep(LOOK),
                    Ok(WaitStatus::Exited(_, code)) => return Some(code == 0),
                    _ => return None,
                }
            }
            *former = Some(child);
            None
        }
        // Short of processes: the heart does not do it in its own.
        Err(_) => None,
    }
}

fn is_alive(waited: nix::Result<WaitStatus>) -> bool {
    matches!(waited, Ok(WaitStatus::StillAlive) | Err(Errno::EINTR))
}
