//! The live feed: a line for each event in `.self/mind/feed.jsonl`, for the windows that show it.
//!
//! Invariant: bounded in bytes; a feed that cannot be written is logged, and stops nothing.

use crate::clock::Clock;
use ground::files;
use serde::Serialize;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

/// Bytes past which the file becomes `feed.before.jsonl` and begins anew.
const MOST_BYTES: u64 = 1 << 20;

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    Wakeup,
    Action,
    Sleep,
    Paused,
    Resumed,
    Revenue,
    Error,
}

/// The writer of the feed.
#[derive(Clone, Debug)]
pub struct Feed {
    path: PathBuf,
    clock: Clock,
    life: u64,
}

impl Feed {
    pub fn new(path: PathBuf, clock: Clock, life: u64) -> Self {
        Self { path, clock, life }
    }

    /// Adds one event; `data` is an object.
    pub fn tell(&self, event: Event, data: Value) {
        let line = json!({"at": self.clock.text(), "life": self.life, "event": event, "data": data});
        if fs::metadata(&self.path).is_ok_and(|found| found.len() > MOST_BYTES) {
            let _ = fs::rename(&self.path, self.path.with_file_name("feed.before.jsonl"));
        }
        let written = files::open_with(OpenOptions::new().append(true).create(true), &self.path)
            .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        if let Err(error) = written {
            tracing::debug!("failed to write the feed: {error}");
        }
    }
}
