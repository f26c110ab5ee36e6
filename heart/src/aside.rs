//! Work that may wait for a disk or for a reader of the terminal: done by a fork, for which the heart waits only a moment.

use house::clock::running_ms;
use house::terminal;
use nix::errno::Errno;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};
use std::time::Duration;

/// Longest wait for the fork; what takes longer goes on without the heart, and ends with it.
const WAIT_MS: u64 = 200;
const LOOK: Duration = Duration::from_millis(1);

/// Prints a line.
pub fn say(line: &str) {
    work(|| {
        terminal::error(&format!("guardian: {line}"));
        true
    });
}

/// Does something in a fork; whether it is known to be done.
pub fn work(work: impl FnOnce() -> bool) -> bool {
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
                    Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => std::thread::sleep(LOOK),
                    ended => return matches!(ended, Ok(WaitStatus::Exited(_, 0))),
                }
            }
            false
        }
        // Short of processes: the heart does not do it in its own.
        Err(_) => false,
    }
}
