//! Standard output and standard error: written straight, or by a thread of their own that alone waits for a reader.
//!
//! A terminal that is held (Ctrl-S) or a pipe that nobody reads makes a writer wait. A loop that must hear begins with
//! `apart`; from then on nothing it prints makes it wait, and what does not fit is left out and counted.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// Texts that may wait for a reader; a text has a row, a frame or a line of a log.
const MOST_WAITING: usize = 1_024;
/// Longest wait for the last texts, at the end.
const SETTLE: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(5);

/// A standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Output,
    Error,
}

static APART: OnceLock<SyncSender<(Stream, Vec<u8>)>> = OnceLock::new();
/// Texts handed over and not yet written.
static WAITING: AtomicUsize = AtomicUsize::new(0);
static LEFT_OUT: AtomicUsize = AtomicUsize::new(0);

/// Starts a thread that writes, so that printing no longer makes its caller wait.
pub fn apart() -> io::Result<()> {
    let (sender, texts) = sync_channel::<(Stream, Vec<u8>)>(MOST_WAITING);
    std::thread::Builder::new().name("outlet".into()).spawn(move || {
        for (stream, bytes) in texts {
            let left_out = LEFT_OUT.swap(0, Ordering::Relaxed);
            if left_out > 0 {
                let told = format!("… {left_out} lines were left out: nobody read them\n");
                let _ = straight(stream, told.as_bytes());
            }
            let _ = straight(stream, &bytes);
            WAITING.fetch_sub(1, Ordering::Relaxed);
        }
    })?;
    // A second call changes nothing.
    let _ = APART.set(sender);
    Ok(())
}

/// Waits until all that was printed is written, or half a second where nobody reads.
pub fn settle() {
    for _ in 0..SETTLE.as_millis() / LOOK.as_millis() {
        if WAITING.load(Ordering::Relaxed) == 0 {
            return;
        }
        std::thread::sleep(LOOK);
    }
}

fn straight(stream: Stream, bytes: &[u8]) -> io::Result<()> {
    match stream {
        Stream::Output => {
            let mut out = io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush())
        }
        Stream::Error => io::stderr().lock().write_all(bytes),
    }
}

/// A text under way to a stream: whole, once it is dropped or flushed.
pub struct Outlet {
    stream: Stream,
    bytes: Vec<u8>,
}

impl Outlet {
    pub fn new(stream: Stream) -> Self {
        Self { stream, bytes: Vec::new() }
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes.is_empty() {
            return Ok(());
        }
        let Some(apart) = APART.get() else { return straight(self.stream, &bytes) };
        WAITING.fetch_add(1, Ordering::Relaxed);
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
            apart.try_send((self.stream, bytes))
        {
            WAITING.fetch_sub(1, Ordering::Relaxed);
            LEFT_OUT.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}
