//! The ledger: a line for every call out, synced before it counts; each line holds the hash of the one before.
//!
//! Invariant: a ledger that is unreadable, inconsistent or shorter than before is closed, and never counted as new.

pub mod anchor;
pub mod chain;
mod entry;
pub mod opening;
pub mod refusals;
pub mod sums;
mod writer;

pub use entry::{Closed, Entry};

use crate::ground::clock::Clock;
use house::House;
use house::mutex::lock;
use refusals::{Kind, Noted, Refusals, SPAN};
use std::sync::{Arc, Mutex, mpsc};
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
    /// Whether it had no line when it was opened.
    is_new: bool,
    refusals: Mutex<Refusals>,
    clock: Clock,
}

/// Size at which a new ledger file is begun; some hundred thousand lines.
pub const LARGEST_BYTES: u64 = 64 << 20;

impl Ledger {
    /// Opens a house's ledger; a ledger with a fault is opened as closed.
    pub fn open(house: &House, clock: Clock) -> Self {
        Self::open_with(house, clock, LARGEST_BYTES)
    }

    /// A ledger that takes no line and touches no file: for a stage that runs beside the broker that writes it.
    pub fn of_another(clock: Clock) -> Self {
        let closed = Why::default();
        closed.set(Some("another process writes it".to_owned()));
        let (opened, refusals) = (Sums::default(), Mutex::default());
        let shared = Shared { lines: None, writer: None, closed, opened, is_new: false, refusals, clock };
        Self { shared: Arc::new(shared) }
    }

    pub fn open_with(house: &House, clock: Clock, largest_bytes: u64) -> Self {
        let (closed, kept) = (Why::default(), clock.clone());
        let (lines, waiting) = mpsc::channel();
        let mut is_new = false;
        let (opened, writer) = match opening::open(house, &clock) {
            Ok(opened) => {
                is_new = opened.end.seq == 0;
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
        let refusals = Mutex::default();
        let lines = Some(lines);
        Self { shared: Arc::new(Shared { lines, writer, closed, opened, is_new, refusals, clock: kept }) }
    }

    /// The sums of all lines when it was opened.
    pub fn opened(&self) -> &Sums {
        &self.shared.opened
    }

    /// Whether it had no line when it was opened.
    pub fn is_new(&self) -> bool {
        self.shared.is_new
    }

    /// Returns the reason why nothing may be sent, if that is so.
    pub fn closed(&self) -> Option<String> {
        self.shared.closed.get()
    }

    /// Fails if nothing may be sent.
    pub fn is_open(&self) -> Result<(), Closed> {
        self.closed().map_or(Ok(()), |why| Err(Closed(why)))
    }

    /// Records the end of what has happened; its outcome counts even if this fails.
    pub async fn ended(&self, entry: Entry) {
        if let Err(closed) = self.append(entry).await {
            tracing::error!("the end of a call is not in the ledger: {}", closed.0);
        }
    }

    /// Appends a line and waits until it is on disk.
    pub async fn append(&self, entry: Entry) -> Result<(), Closed> {
        let (done, written) = oneshot::channel();
        self.hand_over(entry, Some(done));
        // If the writer has ended, the sender is dropped.
        written.await.unwrap_or_else(|_| Err(self.gone()))
    }

    /// Appends the line of a refusal by which nothing left. Of many only the first are lines of their own; the others
    /// wait a minute for the line with their number, which a broker that is killed does not write.
    pub async fn refused(&self, entry: Entry) -> Result<(), Closed> {
        let noted = lock(&self.shared.refusals).note(&entry, self.shared.clock.instant());
        if noted == Noted::Whole {
            return self.append(entry).await;
        }
        if let Noted::First(kind) = noted {
            let shared = Arc::downgrade(&self.shared);
            tokio::spawn(async move {
                tokio::time::sleep(SPAN).await;
                if let Some(shared) = shared.upgrade() {
                    Self { shared }.sum_up(&kind);
                }
            });
        }
        self.is_open()
    }

    fn sum_up(&self, kind: &Kind) {
        let sum = lock(&self.shared.refusals).sum(kind, self.shared.clock.instant());
        sum.into_iter().for_each(|entry| self.submit(entry));
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
        self.shared.send(entry, done);
    }

    fn gone(&self) -> Closed {
        Closed(self.closed().unwrap_or_else(|| "its writer has ended; restart the broker".into()))
    }
}

impl Shared {
    fn send(&self, entry: Entry, done: Option<oneshot::Sender<Result<(), Closed>>>) {
        if let Some(lines) = &self.lines {
            let _ = lines.send(Waiting { entry, done });
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let rest = lock(&self.refusals).rest();
        rest.into_iter().for_each(|entry| self.send(entry, None));
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
