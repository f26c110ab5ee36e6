//! Memory as a live feed: one line for people per thought, action, change of the agenda, self-edit, word and death.

use crate::lines::{Lines, Next};
use crate::records::{self, text};
use serde_json::Value;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Longest line shown, in characters.
const WIDTH: usize = 160;
/// What a look reads, in bytes, and the most lines that come of it: whoever looks has more to do than to look.
const LOOK_BYTES: u64 = 1 << 20;
const LOOK_LINES: usize = 200;
/// So far behind, a live feed passes over what it missed, but for its end, in bytes.
const BEHIND_BYTES: u64 = 1 << 20;
const END_BYTES: u64 = 16 << 10;
/// What is passed over at a look, in bytes: it is counted, not read.
const PASS_BYTES: u64 = 64 << 20;

/// Follows the memory file over rotation.
pub struct Feed {
    path: PathBuf,
    /// With the number of the file it leads through.
    open: Option<(Lines, u64)>,
    colour: bool,
    /// Whoever watches a life wants to see what happens now; a follower wants all of it.
    live: bool,
}

impl Feed {
    /// From the end of what is there now.
    pub fn from_end(path: PathBuf, colour: bool) -> Self {
        let mut feed = Self { path, open: None, colour, live: true };
        feed.reopen(true);
        feed
    }

    pub fn from_start(path: PathBuf, colour: bool) -> Self {
        Self { path, open: None, colour, live: false }
    }

    fn reopen(&mut self, at_end: bool) -> bool {
        let Ok(Some(mut file)) = crate::files::open(&self.path) else { return false };
        let inode = file.metadata().map_or(0, |meta| meta.ino());
        if at_end {
            let _ = file.seek(SeekFrom::End(0));
        }
        self.open = Some((Lines::new(file, records::LONGEST_LINE), inode));
        true
    }

    /// Lines for what came since the last look, a bounded number of them, and whether there is more to be seen at once.
    pub fn look(&mut self) -> (Vec<String>, bool) {
        if self.open.is_none() {
            self.reopen(false);
        }
        let Some((lines, inode)) = &mut self.open else { return (vec![], false) };
        let (mut shown, mut passed, end) = (Vec::new(), 0, lines.bytes().saturating_sub(END_BYTES));
        if self.live && end > lines.at() + BEHIND_BYTES {
            lines.allow(PASS_BYTES);
            passed = lines.pass(end);
        }
        lines.allow(if passed > 0 && lines.at() < end { 0 } else { LOOK_BYTES });
        while shown.len() < LOOK_LINES {
            match lines.next_line() {
                Next::Line(line) => {
                    shown.extend(records::parse(line).and_then(|it| render(&it, self.colour)))
                }
                Next::Long => passed += 1,
                Next::End => break,
            }
        }
        if passed > 0 {
            let all = if self.live { "; scripts/feed shows them" } else { "" };
            shown.insert(0, format!("… {passed} records passed over{all}"));
        }
        let seen = lines.at() >= lines.bytes();
        let there = std::fs::metadata(&self.path).map_or(*inode, |meta| meta.ino());
        if seen && (there != *inode || lines.at() > lines.bytes()) {
            return (shown, self.reopen(false));
        }
        (shown, !seen)
    }
}

/// Whether a line of memory is a readable thought of a life.
pub fn is_thought_of(line: &str, life: u64) -> bool {
    let Some(record) = records::parse(line.as_bytes()) else { return false };
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
