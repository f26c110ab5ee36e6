//! Whether the guardian lives: a pipe whose other end it holds, which closes when it ends, however it ends.

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

/// None where nobody started this life.
#[derive(Clone, Debug, Default)]
pub struct Lifeline(Option<Arc<OwnedFd>>);

impl Lifeline {
    /// The descriptor `FERAL_LIFELINE` names. It is not passed on: what tools run lives no longer than this life anyhow.
    pub fn from_env() -> Self {
        let number = std::env::var("FERAL_LIFELINE").ok().and_then(|number| number.parse::<RawFd>().ok());
        let Some(number) = number.filter(|number| *number > 2) else { return Self::default() };
        // SAFETY: borrowed to be looked at and copied; where nothing is open under this number, that fails.
        let there = unsafe { BorrowedFd::borrow_raw(number) };
        let Ok(held) = there.try_clone_to_owned() else { return Self::default() };
        let _ = fcntl(there, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC));
        Self::held_by(held)
    }

    /// The reading end of a pipe to which nobody writes.
    pub fn held_by(pipe: OwnedFd) -> Self {
        Self(Some(Arc::new(pipe)))
    }

    /// Whether there is a guardian, and it lives.
    pub fn holds(&self) -> bool {
        let Some(pipe) = &self.0 else { return false };
        let mut heard = [PollFd::new(pipe.as_fd(), PollFlags::empty())];
        let cut = PollFlags::POLLHUP | PollFlags::POLLERR;
        let is_cut = |heard: &PollFd| heard.revents().is_some_and(|seen| seen.intersects(cut));
        // Interrupted: asked again at the next look.
        poll(&mut heard, PollTimeout::ZERO).is_err() || !heard.iter().any(is_cut)
    }
}
