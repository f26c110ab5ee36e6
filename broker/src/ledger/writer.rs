//! The thread that writes the ledger: many lines, one write, one sync; then each waiting caller is answered.
//!
//! Invariant: no caller hears that a line is on disk before it is; a line that failed is removed again.

use super::anchor::Anchor;
use super::chain::{self, End};
use super::entry::{Closed, Entry};
use super::opening::{self, Opened};
use super::sums::Sums;
use crate::ground::clock::Clock;
use crate::ground::files;
use house::House;
use house::mutex::lock;
use nix::fcntl::Flock;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::oneshot;

/// Most lines in one write.
const MOST_AT_ONCE: usize = 1_024;
/// Lines after which the anchor is written even without a pause; a start reads about as many lines again.
const ANCHOR_LINES: u64 = 4_096;
/// Longest time a line without a waiting caller waits for others.
const MOMENT: Duration = Duration::from_millis(40);
/// Pause after which the anchor is written.
const QUIET: Duration = Duration::from_millis(250);

/// A line to be written, and who waits for it.
pub(super) struct Waiting {
    pub(super) entry: Entry,
    /// `None`: no caller waits, so the line may wait for a line that has a caller.
    pub(super) done: Option<oneshot::Sender<Result<(), Closed>>>,
}

/// Reason why nothing can be written now; shared with the ledger's handles.
#[derive(Clone, Default)]
pub(super) struct Why(Arc<Mutex<Option<String>>>);

impl Why {
    pub(super) fn set(&self, why: Option<String>) {
        *lock(&self.0) = why;
    }

    pub(super) fn get(&self) -> Option<String> {
        lock(&self.0).clone()
    }
}

pub struct Writer {
    house: House,
    clock: Clock,
    file: File,
    /// Length of the file, all of it synced.
    bytes: u64,
    end: End,
    sums: Sums,
    largest_bytes: u64,
    lines_since_anchor: u64,
    closed: Why,
    /// Whether the file cannot be used any more while this process lives.
    is_over: bool,
    /// Whether a write failed: its remains are removed before the next write.
    has_remains: bool,
    _lock: Flock<File>,
}

impl Writer {
    pub(super) fn new(opened: Opened, house: &House, clock: Clock, largest_bytes: u64, closed: Why) -> Self {
        Self {
            house: house.clone(),
            clock,
            file: opened.file,
            bytes: opened.bytes,
            end: opened.end,
            sums: opened.sums,
            largest_bytes,
            // Lines read at the start are anchored at the first pause.
            lines_since_anchor: 1,
            closed,
            is_over: false,
            has_remains: false,
            _lock: opened.lock,
        }
    }

    pub(super) fn run(mut self, waiting: &Receiver<Waiting>) {
        let mut batch: Vec<Waiting> = Vec::new();
        loop {
            let next = match (batch.is_empty(), self.lines_since_anchor) {
                (false, _) => waiting.recv_timeout(MOMENT),
                (true, 0) => waiting.recv().map_err(|_| RecvTimeoutError::Disconnected),
                (true, _) => waiting.recv_timeout(QUIET),
            };
            match next {
                Ok(line) => {
                    batch.push(line);
                    batch.extend(waiting.try_iter().take(MOST_AT_ONCE));
                    // A sync for lines without a caller would delay those with one.
                    if batch.len() < MOST_AT_ONCE && batch.iter().all(|line| line.done.is_none()) {
                        continue;
                    }
                    self.commit(&mut batch);
                }
                Err(RecvTimeoutError::Timeout) if !batch.is_empty() => self.commit(&mut batch),
                Err(RecvTimeoutError::Timeout) => {
                    self.write_anchor(None);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    if !batch.is_empty() {
                        self.commit(&mut batch);
                    }
                    if self.lines_since_anchor > 0 {
                        self.write_anchor(None);
                    }
                    return;
                }
            }
        }
    }

    /// Writes and syncs the lines, or removes them again; answers the callers that wait.
    fn commit(&mut self, batch: &mut Vec<Waiting>) {
        let outcome = self.written(batch);
        if let Err(why) = &outcome {
            tracing::error!("failed to write the ledger: {why}");
        }
        self.closed.set(outcome.as_ref().err().cloned());
        for done in batch.drain(..).filter_map(|line| line.done) {
            let _ = done.send(outcome.clone().map_err(Closed));
        }
        if self.lines_since_anchor >= ANCHOR_LINES {
            self.write_anchor(None);
        }
        if self.bytes >= self.largest_bytes && !self.is_over {
            self.rotate();
        }
    }

    fn written(&mut self, batch: &[Waiting]) -> Result<(), String> {
        if self.is_over {
            return Err(self.closed.get().unwrap_or_default());
        }
        self.is_ours()?;
        if self.has_remains {
            self.remove_remains()?;
        }
        let (mut text, mut end) = (String::new(), self.end.clone());
        let at = self.clock.stamp();
        for Waiting { entry, .. } in batch {
            end = chain::add(&mut text, &end, &at, entry)?;
        }
        let synced = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = synced {
            self.has_remains = true;
            // At once, while there may be room for it; otherwise before the next line.
            let _ = self.remove_remains();
            let path = self.house.ledger();
            return Err(format!("{} cannot be written: {error}; is the disk full?", path.display()));
        }
        self.bytes += text.len() as u64;
        self.end = end;
        self.lines_since_anchor += batch.len() as u64;
        batch.iter().for_each(|line| self.sums.apply(&at, &line.entry));
        Ok(())
    }

    /// Whether the file under the ledger's name is still the one being written, unchanged.
    fn is_ours(&mut self) -> Result<(), String> {
        let path = self.house.ledger();
        let named = std::fs::symlink_metadata(&path).map_err(|error| error.to_string());
        let held = self.file.metadata().map_err(|error| error.to_string());
        let odd = match (named, held) {
            (Ok(named), Ok(held)) if named.ino() != held.ino() || named.dev() != held.dev() => {
                "was replaced by another hand".to_owned()
            }
            (Ok(_), Ok(held)) if held.len() != self.bytes && !self.has_remains => {
                "was changed by another hand".to_owned()
            }
            (Ok(_), Ok(_)) => return Ok(()),
            (Err(error), _) | (_, Err(error)) => format!("cannot be found: {error}"),
        };
        self.is_over = true;
        Err(format!("{} {odd}", path.display()))
    }

    /// Removes the remains of a failed write; acknowledged lines stay.
    fn remove_remains(&mut self) -> Result<(), String> {
        let removed = self.file.set_len(self.bytes).and_then(|()| self.file.sync_all());
        removed.map_err(|error| format!("{} cannot be mended: {error}", self.house.ledger().display()))?;
        self.has_remains = false;
        Ok(())
    }

    fn write_anchor(&mut self, rotating: Option<String>) -> bool {
        let anchor = Anchor {
            at: self.clock.stamp(),
            end: self.end.clone(),
            bytes: self.bytes,
            rotating,
            sums: self.sums.clone(),
            ..Anchor::default()
        };
        // If this fails it is tried again after as many lines; an old anchor only makes the next start slower.
        self.lines_since_anchor = 0;
        anchor.write(&self.house).map_err(|error| tracing::warn!("{error:#}")).is_ok()
    }

    /// Begins a new file; chain and sums continue.
    fn rotate(&mut self) {
        let name = format!("ledger-{}.jsonl", opening::stamp(&self.clock));
        let target = self.house.ledger().with_file_name(&name);
        if target.exists() || !self.write_anchor(Some(name)) {
            return;
        }
        let moved = std::fs::rename(self.house.ledger(), &target).and_then(|()| {
            let mut options = std::fs::OpenOptions::new();
            options.read(true).append(true).create_new(true);
            let file = files::open_by(&mut options, &self.house.ledger())?;
            files::sync_folder(&target)?;
            Ok(file)
        });
        match moved {
            Ok(file) => {
                self.file = file;
                self.bytes = 0;
                self.write_anchor(None);
            }
            Err(error) => {
                tracing::error!("failed to rotate the ledger: {error}");
                // If this fails too, the next write notices that the file is missing, and closes the ledger.
                if !self.house.ledger().exists() && std::fs::rename(&target, self.house.ledger()).is_ok() {
                    self.write_anchor(None);
                }
            }
        }
    }
}
