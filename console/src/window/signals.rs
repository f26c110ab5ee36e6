//! Signals that the window hears: those that end it, another size, and that it goes on after it was stopped.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Who waits for `pipe` is woken by each of them.
pub struct Signals {
    pub pipe: UnixStream,
    ends: Arc<AtomicBool>,
    goes_on: Arc<AtomicBool>,
}

impl Signals {
    pub fn listen() -> Result<Self> {
        let (pipe, theirs) = UnixStream::pair().context("failed to make a pipe for signals")?;
        pipe.set_nonblocking(true).context("failed to read without waiting")?;
        let signals = Self { pipe, ends: Arc::default(), goes_on: Arc::default() };
        let (ends, goes_on) = (Some(&signals.ends), Some(&signals.goes_on));
        let flags = [(SIGTERM, ends), (SIGHUP, ends), (SIGINT, ends), (SIGCONT, goes_on), (SIGWINCH, None)];
        for (signal, flag) in flags {
            // The flag is set before the pipe wakes anybody.
            if let Some(flag) = flag {
                signal_hook::flag::register(signal, flag.clone()).context("failed to listen for signals")?;
            }
            let to = theirs.try_clone().context("failed to share a pipe")?;
            signal_hook::low_level::pipe::register(signal, to).context("failed to listen for signals")?;
        }
        Ok(signals)
    }

    /// Whether it is to end.
    pub fn end(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// Empties the pipe; whether it goes on after it was stopped, once each time.
    pub fn came_back(&mut self) -> bool {
        let mut bytes = [0; 64];
        while self.pipe.read(&mut bytes).is_ok_and(|read| read > 0) {}
        self.goes_on.swap(false, Ordering::Relaxed)
    }
}
