//! The journal of asks: a line in `.self/asks.jsonl` for each state of an ask, read by creature, guardian and console.

use super::ask::{Ask, State};
use crate::ground::files;
use anyhow::Result;
use house::House;
use house::records::{self, text};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

/// Bytes read from the file's end.
const MOST_READ_BYTES: u64 = 16 << 20;
/// Largest number of an ask that a line is believed: the creature can write here too, and numbers must not run out.
const LARGEST: u64 = 1 << 53;

/// Writes a line with the ask's state.
pub fn write(house: &House, ask: &Ask, at: &str) -> Result<()> {
    let [service, method, path] = ask.act.place();
    let mut line = json!({
        "at": at, "id": ask.id.to_string(), "event": ask.state, "kind": ask.act.kind(),
        "service": service, "method": method, "path": path, "why": ask.why, "reason": ask.reason,
        "summary": ask.summary, "digest": ask.digest,
    });
    if let Some(fields) = line.as_object_mut()
        && matches!(ask.state, State::Executed | State::Failed)
    {
        fields.insert("status".to_owned(), ask.status.into());
        fields.insert("result".to_owned(), ask.result.clone().into());
    }
    // Closes off a torn line before it.
    files::append_line(&house.asks(), &line.to_string())
}

/// The last state announced of each ask, by its number; `None` where a line names none that is known. Fails if the lines cannot be read, since a number might then be
/// used twice.
pub fn read(house: &House) -> Result<BTreeMap<u64, Option<State>>> {
    let path = house.asks();
    house::files::open(&path)?;
    let lines = records::newest(&path, MOST_READ_BYTES).filter_map(|line| {
        let id = text(&line, "id").parse().ok().filter(|id| *id <= LARGEST)?;
        Some((id, line.get("event").and_then(|event| State::deserialize(event).ok())))
    });
    Ok(lines.collect())
}
