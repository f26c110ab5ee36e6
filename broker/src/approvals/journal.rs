//! The journal of asks: a line of `.self/asks.jsonl` for each state that one comes to, read by creature, guardian and console.

use super::ask::{Ask, State};
use crate::ground::clock::Clock;
use crate::ground::files;
use anyhow::Result;
use house::House;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Of the file, what is looked through.
const TAIL_BYTES: u64 = 1 << 20;

pub struct Journal {
    path: PathBuf,
    clock: Clock,
}

impl Journal {
    /// An error where lines cannot be read: a number might be given twice. A torn last line is closed off by the next.
    pub fn open(house: &House, clock: Clock) -> Result<Self> {
        house::files::open(&house.asks())?;
        Ok(Self { path: house.asks(), clock })
    }

    /// Writes the line of the state an ask is in.
    pub fn write(&self, ask: &Ask) -> Result<()> {
        let call = ask.act.call();
        let mut line = json!({
            "at": self.clock.stamp(), "id": ask.id.to_string(), "event": ask.state.name(), "kind": ask.act.kind(),
            "service": call.map_or("", |call| &call.service), "method": call.map_or("", |call| &call.method),
            "path": call.map_or("", |call| &call.path), "why": ask.why, "reason": ask.reason,
            "summary": ask.summary, "digest": ask.digest,
        });
        if let Some(fields) = line.as_object_mut()
            && matches!(ask.state, State::Executed | State::Failed)
        {
            fields.insert("status".to_owned(), ask.status.into());
            fields.insert("result".to_owned(), ask.result.clone().into());
        }
        files::append_line(&self.path, &line.to_string())
    }

    /// What was written lately: numbers and states, oldest first.
    pub fn all(&self) -> Vec<(u64, String)> {
        let tail = house::files::tail(&self.path, TAIL_BYTES);
        let lines = tail.lines().filter_map(|line| {
            let line = serde_json::from_str::<Value>(line).ok()?;
            let event = line.get("event").and_then(Value::as_str).unwrap_or_default().to_owned();
            Some((line.get("id")?.as_str()?.parse().ok()?, event))
        });
        lines.collect()
    }

    /// The highest number that was written, should the folder of asks have been emptied.
    pub fn highest(&self) -> u64 {
        self.all().into_iter().map(|(id, _)| id).max().unwrap_or(0)
    }
}
