//! The ledger: a line for every call out, synced before it counts; each line holds the hash of the one before.
//!
//! Invariant: a ledger that is unreadable, inconsistent or shorter than before is closed, and never counted as new.

pub mod anchor;
pub mod chain;
mod entry;
pub mod opening;
pub mod sums;
mod writer;

pub use entry::{Closed, Entry};

use crate::ground::clock::Clock;
use house::House;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use sums::Sums;
use tokio::sync::oneshot;
use writer::{Waiting, Why};

/// A handle; the file is closed with the last handle.
#[derive(Clone)]
pub struct Ledger {
    shared: Arc<Shared>,
}

struct Shared {
    /// `None` only while it is dropped.
    lines: Option<mpsc::Sender<Waiting>>,
    writer: Option<JoinHandle<()>>,
    closed: Why,
    opened: Sums,
}

/// Size at which a new ledger file is begun; some hundred thousand lines.
pub const LARGEST_BYTES: u64 = 64 << 20;

impl Ledger {
    /// Opens a house's ledger; one with a fault is opened as closed.
    pub fn open(house: &House, clock: Clock) -> Self {
        Self::open_with(house, clock, LARGEST_BYTES)
    }

    pub fn open_with(house: &House, clock: Clock, largest_bytes: u64) -> Self {
        let closed = Why::default();
        let (lines, waiting) = mpsc::channel();
        let (opened, writer) = match opening::open(house, &clock) {
            Ok(opened) => {
                let (sums, torn) = (opened.sums.clone(), opened.torn_bytes);
                let writer = writer::Writer::new(opened, house, clock, largest_bytes, closed.clone());
                let thread = std::thread::Builder::new().name("ledger".into());
                match thread.spawn(move || writer.run(&waiting)) {
                    Ok(thread) => {
                        note_torn(&lines, torn);
                        (sums, Some(thread))
                    }
                    Err(error) => {
                        closed.set(Some(format!("its writer cannot be started: {error}")));
                        (sums, None)
                    }
                }
            }
            Err(Closed(why)) => {
                tracing::error!("the ledger is closed: {why}");
                closed.set(Some(why));
                (Sums::default(), None)
            }
        };
        Self { shared: Arc::new(Shared { lines: Some(lines), writer, closed, opened }) }
    }

    /// The sums of all lines when it was opened.
    pub fn opened(&self) -> &Sums {
        &self.shared.opened
    }

    /// Why nothing may be sent, if that is so.
    pub fn closed(&self) -> Option<String> {
        self.shared.closed.get()
    }

    /// Appends a line and waits until it is on disk.
    pub async fn append(&self, entry: Entry) -> Result<(), Closed> {
        let (done, written) = oneshot::channel();
        self.hand_over(entry, Some(done));
        // If the writer has ended, the sender is dropped.
        written.await.unwrap_or_else(|_| Err(self.gone()))
    }

    /// Appends a line without waiting, for lines whose loss is harmless: it is on disk within a moment, after earlier
    /// lines.
    pub fn submit(&self, entry: Entry) {
        self.hand_over(entry, None);
    }

    /// As `submit`, without delay: for lines that raise the spend recorded so far.
    pub fn submit_at_once(&self, entry: Entry) {
        self.hand_over(entry, Some(oneshot::channel().0));
    }

    fn hand_over(&self, entry: Entry, done: Option<oneshot::Sender<Result<(), Closed>>>) {
        if let Some(lines) = &self.shared.lines {
            let _ = lines.send(Waiting { entry, done });
        }
    }

    fn gone(&self) -> Closed {
        Closed(self.closed().unwrap_or_else(|| "its writer has ended; restart the broker".into()))
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn note_torn(lines: &mpsc::Sender<Waiting>, torn_bytes: u64) {
    if torn_bytes > 0 {
        let note = format!("a torn last line of {torn_bytes} bytes was set aside; nothing had left on it");
        let entry = Entry { decision: "torn".into(), ..Entry::note(note) };
        let _ = lines.send(Waiting { entry, done: None });
    }
}
