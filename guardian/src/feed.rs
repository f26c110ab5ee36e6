//! Memory as a live feed: one line for people per thought, action, change of the agenda, self-edit, word and death.

use crate::records::text;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Longest line shown, in characters.
const WIDTH: usize = 160;
/// Longest record line read; longer ones are passed over.
const MOST_BYTES: u64 = 4 << 20;

/// Follows the memory file over rotation.
pub struct Feed {
    path: PathBuf,
    open: Option<(BufReader<File>, u64)>,
    colour: bool,
}

impl Feed {
    /// From the end of what is there now.
    pub fn from_end(path: PathBuf, colour: bool) -> Self {
        let mut feed = Self { path, open: None, colour };
        feed.reopen(true);
        feed
    }

    pub fn from_start(path: PathBuf, colour: bool) -> Self {
        Self { path, open: None, colour }
    }

    fn reopen(&mut self, at_end: bool) {
        let Ok(Some(mut file)) = crate::files::open(&self.path) else { return };
        let inode = file.metadata().map_or(0, |meta| meta.ino());
        if at_end {
            let _ = file.seek(SeekFrom::End(0));
        }
        self.open = Some((BufReader::new(file), inode));
    }

    /// Lines for what came since the last call.
    pub fn next_lines(&mut self) -> Vec<String> {
        let there = std::fs::metadata(&self.path).map_or(0, |meta| meta.ino());
        if self.open.as_ref().is_none_or(|(_, inode)| *inode != there) {
            self.reopen(false);
        }
        let Some((reader, _)) = &mut self.open else { return vec![] };
        let mut lines = Vec::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader.by_ref().take(MOST_BYTES).read_until(b'\n', &mut line).unwrap_or(0);
            if read == 0 {
                return lines;
            }
            if line.last() != Some(&b'\n') && (read as u64) < MOST_BYTES {
                let _ = reader.seek_relative(-(read as i64));
                return lines;
            }
            if let Ok(record) = serde_json::from_slice(&line) {
                lines.extend(render(&record, self.colour));
            }
        }
    }
}

use std::io::Read as _;

/// Whether a line of memory is a readable thought of a life.
pub fn is_thought_of(line: &str, life: u64) -> bool {
    let Ok(record) = serde_json::from_str::<Value>(line) else { return false };
    text(&record, "kind") == "thought"
        && record.get("life").and_then(Value::as_u64) == Some(life)
        && record.get("data").is_some_and(|data| data.get("garbled").is_none())
}

/// A change of the agenda in words; looks at it and the post's own book-keeping are none.
fn change(data: &Value) -> Option<String> {
    if let Some(session) = data.get("session").and_then(Value::as_str) {
        return Some(format!("{session}: {}", text(data, "thought")));
    }
    let (kind, change) = data.get("change")?.as_object()?.iter().next()?;
    let words = ["do", "id", "title", "text", "what", "place"].map(|key| text(change, key)).join(" ");
    (kind != "looked" && kind != "outbox").then(|| format!("{kind} {words}"))
}

/// One line for a record worth showing.
pub fn render(record: &Value, colour: bool) -> Option<String> {
    let data = record.get("data")?;
    let (tag, paint, body) = match text(record, "kind") {
        "thought" if data.get("garbled").is_some() => {
            ("garbled", "31", format!("the mind's reply could not be read: {}", text(data, "error")))
        }
        "thought" => {
            let (intent, monologue) = (text(data, "intent"), text(data, "monologue"));
            let both = if intent.is_empty() { monologue.into() } else { format!("{monologue} — {intent}") };
            ("thought", "36", both)
        }
        "action" => {
            let result = data.get("result")?;
            let ok = result.get("ok").and_then(Value::as_bool) == Some(true);
            let outcome = if ok { "ok".into() } else { format!("failed: {}", text(result, "error")) };
            ("action", if ok { "32" } else { "33" }, format!("{} {outcome}", text(data, "tool")))
        }
        "self_change" => {
            let ok = data.get("ok").and_then(Value::as_bool) == Some(true);
            let end = if ok { String::new() } else { format!(": {}", text(data, "error")) };
            ("self-edit", "35", format!("{} ({}){end}", text(data, "summary"), text(data, "stage")))
        }
        "death" => ("death", "31", text(data, "told").to_owned()),
        "message" => ("word", "34", format!("{}: {}", text(data, "from"), text(data, "text"))),
        "agenda" => ("agenda", "90", change(data)?),
        "snapshot" => ("snapshot", "90", text(data, "path").to_owned()),
        "observation" => ("noticed", "90", format!("{}: {}", text(data, "about"), text(data, "text"))),
        _ => return None,
    };
    let time = text(record, "at").get(11..19).filter(|time| time.bytes().all(|byte| byte.is_ascii_graphic()));
    let time = time.unwrap_or("--:--:--");
    let body: String = body.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = body.chars().filter(|c| !c.is_control()).take(WIDTH).collect();
    let mut shown = crate::asks::spelled(&shown);
    if body.chars().count() > WIDTH {
        shown.push('…');
    }
    Some(if colour {
        format!("\x1b[90m{time}\x1b[0m \x1b[{paint}m{tag:<9}\x1b[0m {shown}")
    } else {
        format!("{time} {tag:<9} {shown}")
    })
}
