//! Signals that the window hears: those that end it, another size, and that it goes on after it was stopped.

use anyhow::{Context, Result};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Signals of the process; each of them wakes a wait on `pipe`.
pub struct Signals {
    pub pipe: UnixStream,
    /// Another size. Kept from every handler: the reader of the keys would have one of its own, and where it hears of
    /// both at once it ignores the keys.
    pub sizes: SignalFd,
    ends: Arc<AtomicBool>,
    goes_on: Arc<AtomicBool>,
}

impl Signals {
    pub fn listen() -> Result<Self> {
        let (pipe, theirs) = UnixStream::pair().context("failed to make a pipe for signals")?;
        pipe.set_nonblocking(true).context("failed to read without waiting")?;
        let mut size = SigSet::empty();
        size.add(Signal::SIGWINCH);
        size.thread_block().context("failed to hold a signal back")?;
        let sizes = SignalFd::with_flags(&size, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC);
        let sizes = sizes.context("failed to listen for another size")?;
        let signals = Self { pipe, sizes, ends: Arc::default(), goes_on: Arc::default() };
        let (ends, goes_on) = (&signals.ends, &signals.goes_on);
        for (signal, flag) in [(SIGTERM, ends), (SIGHUP, ends), (SIGINT, ends), (SIGCONT, goes_on)] {
            // The flag is set before the pipe wakes anybody.
            signal_hook::flag::register(signal, flag.clone()).context("failed to listen for signals")?;
            let to = theirs.try_clone().context("failed to share a pipe")?;
            signal_hook::low_level::pipe::register(signal, to).context("failed to listen for signals")?;
        }
        Ok(signals)
    }

    /// Whether it is to end.
    pub fn end(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// Takes the signals that came; returns whether it goes on after it was stopped, once each time.
    pub fn came_back(&mut self) -> bool {
        let mut bytes = [0; 64];
        while self.pipe.read(&mut bytes).is_ok_and(|read| read > 0) {}
        while self.sizes.read_signal().is_ok_and(|signal| signal.is_some()) {}
        self.goes_on.swap(false, Ordering::Relaxed)
    }
}
