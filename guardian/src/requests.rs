//! What the creature asks for: read as untrusted input, carried out once, answered by id.

use crate::bounds::{TOLD_CHARS, brief};
use crate::files;
use crate::house::House;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Longest summary that goes into a commit message, in characters.
const SUMMARY_CHARS: usize = 200;
/// Characters of a kind of request that there is not.
const KIND_CHARS: usize = 60;

#[derive(Clone, Debug, Deserialize)]
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

    /// One line for a commit message, whatever was written.
    pub fn summary(&self) -> String {
        let line: String = self.summary.split_whitespace().collect::<Vec<_>>().join(" ");
        let line: String = line.chars().filter(|c| !c.is_control()).take(SUMMARY_CHARS).collect();
        if line.is_empty() { "no summary given".into() } else { line }
    }

    pub fn done(&self, commit: Option<String>) -> Value {
        json!({"id": self.id, "ok": true, "commit": commit})
    }

    pub fn refused(&self, error: impl Into<String>, hint: impl Into<String>) -> Value {
        let (error, hint) = (brief(&error.into(), TOLD_CHARS), brief(&hint.into(), TOLD_CHARS));
        json!({"id": self.id, "ok": false, "error": error, "hint": hint})
    }
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
