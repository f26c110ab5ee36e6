//! What the creature asks for: read as untrusted input, carried out once, answered by id.

use crate::bounds::{TOLD_CHARS, brief};
use crate::files;
use crate::house::House;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Longest first line of a commit message, and longest whole of what was said, in characters.
const SUMMARY_CHARS: usize = 200;
const WHOLE_CHARS: usize = 4_000;
/// Characters of a kind of request that there is not.
const KIND_CHARS: usize = 60;

#[derive(Clone, Debug, Default, Deserialize)]
pub struct Request {
    pub id: String,
    pub life: u64,
    pub kind: String,
    #[serde(default)]
    pub summary: String,
}

impl Request {
    pub fn is_rebirth_of(&self, life: u64) -> bool {
        self.kind == "rebirth" && self.life == life
    }

    /// One line for a commit message, whatever was written; cut between two words.
    pub fn summary(&self) -> String {
        let line = self.line();
        if line.is_empty() {
            return "no summary given".into();
        }
        if !is_long(&line) {
            return line;
        }
        let most: String = line.chars().take(SUMMARY_CHARS - 2).collect();
        let words = most.rsplit_once(' ').map_or(most.as_str(), |(words, _)| words);
        format!("{words} …")
    }

    /// A whole commit message: the summary, and all that was said where that is more.
    pub fn message(&self, who: &str) -> String {
        let (summary, line) = (self.summary(), self.line());
        if is_long(&line) { format!("{who}: {summary}\n\n{line}\n") } else { format!("{who}: {summary}") }
    }

    /// All that was said, bounded, on one line that is harmless.
    fn line(&self) -> String {
        let line = self.summary.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().filter(|letter| !letter.is_control()).take(WHOLE_CHARS).collect()
    }

    pub fn done(&self, commit: Option<String>) -> Value {
        json!({"id": self.id, "ok": true, "commit": commit})
    }

    pub fn refused(&self, error: impl Into<String>, hint: impl Into<String>) -> Value {
        let (error, hint) = (brief(&error.into(), TOLD_CHARS), brief(&hint.into(), TOLD_CHARS));
        json!({"id": self.id, "ok": false, "error": error, "hint": hint})
    }
}

fn is_long(line: &str) -> bool {
    line.chars().nth(SUMMARY_CHARS).is_some()
}

/// The request that lies there, if any.
pub fn read(house: &House) -> Result<Option<Request>> {
    let path = house.request();
    let Some(bytes) = files::read_small(&path)? else { return Ok(None) };
    let mut request: Request = serde_json::from_slice(&bytes).with_context(|| {
        format!("{} is not a request: {{\"id\",\"life\",\"kind\",\"summary\"}}", path.display())
    })?;
    if request.id.is_empty() || request.id.len() > 64 {
        bail!("{} has no usable id", path.display());
    }
    request.kind = brief(&request.kind, KIND_CHARS);
    Ok(Some(request))
}

/// Tells one set of uncommitted edits from another, also where the house was moved or copied meanwhile: by what a copy
/// keeps, so not by the numbers of files.
pub fn fingerprint(house: &House, dirty: &[PathBuf]) -> String {
    if dirty.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    for path in dirty {
        let meta = std::fs::symlink_metadata(house.creature().join(path)).ok();
        let mark = meta.map(|meta| (meta.mode(), meta.size(), meta.mtime(), meta.mtime_nsec()));
        text.push_str(&format!("{} {mark:?}\n", path.display()));
    }
    crate::state::checksum(text.as_bytes())
}
