//! The creature's requests: read as untrusted input, carried out once, answered by id.

use anyhow::{Context, Result, bail};
use house::bounds::{TOLD_CHARS, brief};
use house::{House, files, printable};
use serde::Deserialize;
use serde_json::{Value, json};

/// Most characters of a summary for people, of the first line of a commit message, and of the whole text.
const SUMMARY_CHARS: usize = 200;
const SUBJECT_CHARS: usize = 72;
const WHOLE_CHARS: usize = 4_000;
/// Characters kept of an unknown kind of request.
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

    /// Returns the summary on one line for people, cut between two words.
    pub fn summary(&self) -> String {
        let line = self.line();
        let (head, rest) = parted(&line, SUMMARY_CHARS);
        if rest.is_empty() { head.to_owned() } else { format!("{head} …") }
    }

    /// A commit message: a subject of whole words, and in the body the rest of the summary.
    pub fn message(&self, who: &str) -> String {
        let line = format!("{who}: {}", self.line());
        let (subject, rest) = parted(&line, SUBJECT_CHARS);
        if rest.is_empty() { line } else { format!("{subject} …\n\n… {rest}\n") }
    }

    /// The whole summary, bounded, on one line without control characters; those that hide or reorder others are
    /// spelled out, for git shows a message as it is.
    fn line(&self) -> String {
        let line = self.summary.split_whitespace().collect::<Vec<_>>().join(" ");
        let line: String = line.chars().filter(|letter| !letter.is_control()).take(WHOLE_CHARS).collect();
        let line: String = printable::spelled(&line).chars().take(WHOLE_CHARS).collect();
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

/// Splits a line into the whole words that leave room for ` …`, and the rest. Only a word longer than a line is cut.
fn parted(line: &str, most: usize) -> (&str, &str) {
    if line.chars().nth(most).is_none() {
        return (line, "");
    }
    let at = |chars: usize| line.char_indices().nth(chars).map_or(line.len(), |(at, _)| at);
    let words = line.get(..at(most - 1)).and_then(|head| head.rsplit_once(' ')).map(|(words, _)| words);
    let end = words.filter(|words| !words.ends_with(':')).map_or(at(most - 2), str::len);
    let (head, rest) = line.split_at(end);
    (head.trim_end(), rest.trim_start())
}

/// The request file's content, if it is there.
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
