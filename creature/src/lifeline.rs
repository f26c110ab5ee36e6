//! Sign that the guardian lives: it holds the other end of a pipe, which closes when it ends, however it ends.

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

/// The reading end of the pipe; none where no guardian started this life.
#[derive(Clone, Debug, Default)]
pub struct Lifeline(Option<Arc<OwnedFd>>);

impl Lifeline {
    /// The descriptor `FERAL_LIFELINE` names. It is closed on exec: processes of tools end with this life anyhow.
    pub fn from_env() -> Self {
        let number = std::env::var("FERAL_LIFELINE").ok().and_then(|number| number.parse::<RawFd>().ok());
        let Some(number) = number.filter(|number| *number > 2) else { return Self::default() };
        // SAFETY: borrowed only to be duplicated and flagged; where this number is not open, duplicating fails.
        let there = unsafe { BorrowedFd::borrow_raw(number) };
        let Ok(held) = there.try_clone_to_owned() else { return Self::default() };
        let _ = fcntl(there, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC));
        Self::held_by(held)
    }

    /// A lifeline from the reading end of a pipe to which nobody writes.
    pub fn held_by(pipe: OwnedFd) -> Self {
        Self(Some(Arc::new(pipe)))
    }

    /// Whether there is a guardian, and it lives.
    pub fn holds(&self) -> bool {
        let Some(pipe) = &self.0 else { return false };
        let mut heard = [PollFd::new(pipe.as_fd(), PollFlags::empty())];
        let cut = PollFlags::POLLHUP | PollFlags::POLLERR;
        let is_cut = |heard: &PollFd| heard.revents().is_some_and(|seen| seen.intersects(cut));
        // A poll that was interrupted counts as alive: the next look asks again.
        poll(&mut heard, PollTimeout::ZERO).is_err() || !heard.iter().any(is_cut)
    }
}
