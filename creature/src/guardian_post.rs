//! The post between creature and guardian: requests one way, answers by id the other.
//!
//! Invariant: one request at a time; a new one replaces the file whole.

use crate::fault::Fault;
use crate::paths::House;
use crate::senses::guardian::Standing;
use ground::files;
use ground::text;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(100);

/// Longest wait for an answer; the guardian looks about once a second.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// Longest wait for the tests beside a life.
const LONGEST_PROOF: Duration = Duration::from_secs(20 * 60);

/// Most characters of a summary, as many as a commit message holds; its subject takes whole words of the first 72.
const MOST_SUMMARY: usize = 4_000;

/// Bytes read of what the guardian says.
const MOST_SAID: u64 = 1 << 20;

static ASKED: AtomicU32 = AtomicU32::new(0);

/// A summary on one line; one longer than a commit message holds is cut at a word.
pub fn summary_line(summary: &str) -> String {
    let line = text::one_line(summary);
    if line.chars().count() <= MOST_SUMMARY {
        return line;
    }
    let most = text::first(&line, MOST_SUMMARY - 2);
    let words = most.rsplit_once(' ').map_or(most.as_str(), |(words, _)| words);
    format!("{words} …")
}

/// Kind of a request to the guardian.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Commit `self/` and `PURPOSE.md` as they are.
    Commit,
    /// Keep `creature/` under a rescue ref, then put it back to the commit this life runs.
    Reset,
    /// Keep the draft under a rescue ref.
    Draft,
    /// Commit everything of the creature's, build and run it; written just before exit status 0.
    Rebirth,
}

#[derive(Debug, Serialize)]
struct Request<'a> {
    id: &'a str,
    life: u64,
    kind: Kind,
    summary: &'a str,
}

/// The guardian's answer to one request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Answer {
    pub ok: bool,
    /// None where there was nothing to commit.
    pub commit: Option<String>,
    #[serde(default)]
    pub error: String,
    #[serde(default)]
    pub hint: String,
}

/// Writes the request, crash-safe; returns its id.
pub fn write_request(house: &House, life: u64, kind: Kind, summary: &str) -> Result<String, Fault> {
    let count = ASKED.fetch_add(1, Ordering::Relaxed);
    let id = format!("{life}-{}-{count}", jiff::Timestamp::now().as_millisecond());
    let summary = summary_line(summary);
    let request = Request { id: &id, life, kind, summary: &summary };
    let hint = "is the disk full, or .self/mind not writable?";
    memory::state::write(&house.request(), &request)
        .map_err(|cause| Fault::caused("write the request to the guardian", &cause, hint))?;
    Ok(id)
}

/// Waits while the long tests beside this life run, 20 minutes at most: a proof would change the tree they test.
pub async fn until_proven(house: &House, life: u64) {
    let began = Instant::now();
    let run = || Standing::read(&house.guardian()).ok().flatten();
    while run().is_some_and(|said| said.life == life && said.unproven) && began.elapsed() < LONGEST_PROOF {
        tokio::time::sleep(POLL).await;
    }
}

/// The answer to the request with this id, if it is there.
pub fn answer(house: &House, id: &str) -> Option<Answer> {
    let text = files::whole(&house.guardian(), MOST_SAID).ok()?;
    let said: Value = serde_json::from_slice(&text).ok()?;
    let answers = said.get("answers")?.as_array()?;
    let ours = |answer: &&Value| answer.get("id").and_then(Value::as_str) == Some(id);
    serde_json::from_value(answers.iter().rev().find(ours)?.clone()).ok()
}

/// Asks and waits at most `patience`; a refusal is a fault in the guardian's own words, no answer in time another.
pub async fn ask(
    house: &House,
    life: u64,
    kind: Kind,
    summary: &str,
    patience: Duration,
) -> Result<Answer, Fault> {
    let hint = "the guardian starts with `cargo run -p guardian`; without it nothing is committed or reset";
    if !house.guardian().is_file() {
        return Err(Fault::new("no guardian is here: .self/guardian.json is missing", hint));
    }
    let id = write_request(house, life, kind, summary)?;
    let asked = Instant::now();
    loop {
        match answer(house, &id) {
            Some(answer) if answer.ok => return Ok(answer),
            Some(answer) => {
                let what = format!("the guardian refused request {id}: {}", answer.error);
                return Err(Fault::new(what, answer.hint));
            }
            None if asked.elapsed() >= patience => {
                // The request is taken back, or the guardian might carry it out much later.
                let _ = std::fs::remove_file(house.request());
                let seconds = patience.as_secs();
                let what = format!("the guardian did not answer request {id} within {seconds} s");
                return Err(Fault::new(what, hint));
            }
            None => tokio::time::sleep(POLL).await,
        }
    }
}
