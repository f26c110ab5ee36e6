//! Where asks are announced: a line of `.self/asks.jsonl` for each state that one comes to, by which creature and owner hear.

use super::ask::{Ask, State};
use crate::ground::clock::Clock;
use crate::ground::files;
use crate::ground::house::House;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Of the file, what is looked through, in bytes.
const TAIL: u64 = 1 << 20;

pub struct Announcements {
    path: PathBuf,
    clock: Clock,
}

impl Announcements {
    pub fn open(house: &House, clock: Clock) -> Result<Self> {
        mend(&house.asks()).context("failed to mend asks.jsonl")?;
        Ok(Self { path: house.asks(), clock })
    }

    /// Writes the line of the state an ask is in.
    pub fn announce(&self, ask: &Ask) -> Result<()> {
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

    /// What was announced lately: numbers and states, oldest first.
    pub fn all(&self) -> Vec<(u64, String)> {
        let tail = tail(&self.path).unwrap_or_default();
        let lines = tail.lines().filter_map(|line| {
            let line = serde_json::from_str::<Value>(line).ok()?;
            let event = line.get("event").and_then(Value::as_str).unwrap_or_default().to_owned();
            Some((line.get("id")?.as_str()?.parse().ok()?, event))
        });
        lines.collect()
    }

    /// The highest number that was announced, should the folder of asks have been emptied.
    pub fn highest(&self) -> u64 {
        self.all().into_iter().map(|(id, _)| id).max().unwrap_or(0)
    }
}

/// Ends a line that a crash left without its end.
fn mend(path: &Path) -> Result<()> {
    if tail(path)?.is_empty() || tail(path)?.ends_with('\n') {
        return Ok(());
    }
    let mut file = OpenOptions::new().append(true).custom_flags(nix::libc::O_NOFOLLOW).open(path)?;
    file.write_all(b"\n")?;
    Ok(file.sync_data()?)
}

/// The end of a file; nothing where there is none.
fn tail(path: &Path) -> Result<String> {
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
    let mut file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error).with_context(|| format!("failed to open {}", path.display())),
    };
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    Ok(String::from_utf8_lossy(&tail).into_owned())
}
