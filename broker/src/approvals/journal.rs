//! The journal of asks: a line in `.self/asks.jsonl` for each state of an ask, read by creature, guardian and console.

use super::ask::{Ask, State};
use crate::ground::clock::Clock;
use crate::ground::files;
use anyhow::Result;
use house::House;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Bytes read from the file's end.
const TAIL_BYTES: u64 = 1 << 20;

pub struct Journal {
    path: PathBuf,
    clock: Clock,
}

impl Journal {
    /// Fails if the lines cannot be read, since an ask's number might then be used twice. The next line closes off a
    /// torn one.
    pub fn open(house: &House, clock: Clock) -> Result<Self> {
        house::files::open(&house.asks())?;
        Ok(Self { path: house.asks(), clock })
    }

    /// Writes a line with the ask's state.
    pub fn write(&self, ask: &Ask) -> Result<()> {
        let [service, method, path] = ask.act.place();
        let mut line = json!({
            "at": self.clock.stamp(), "id": ask.id.to_string(), "event": ask.state.name(), "kind": ask.act.kind(),
            "service": service, "method": method, "path": path, "why": ask.why, "reason": ask.reason,
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

    /// Numbers and states announced lately, oldest first.
    pub fn all(&self) -> Vec<(u64, String)> {
        let tail = house::files::tail(&self.path, TAIL_BYTES);
        let lines = tail.lines().filter_map(|line| {
            let line = serde_json::from_str::<Value>(line).ok()?;
            let event = line.get("event").and_then(Value::as_str).unwrap_or_default().to_owned();
            Some((line.get("id")?.as_str()?.parse().ok()?, event))
        });
        lines.collect()
    }

    /// The highest number announced, in case the folder of asks was emptied.
    pub fn highest(&self) -> u64 {
        self.all().into_iter().map(|(id, _)| id).max().unwrap_or(0)
    }
}
