//! Which models answer: up or down, since when, with which error of the upstream, and when it asked us to come again.
//!
//! Absent on purpose: the disk. A broker that begins anew says nothing of a model before its first call.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Models that are kept; beyond that all is learned anew.
const MOST: usize = 16;
/// Characters of what an upstream said.
const MOST_SAID: usize = 200;
/// Bytes of it that are looked at.
const MOST_READ: usize = 16 << 10;
/// Longest wait of an upstream's that is believed, in seconds.
const LONGEST_WAIT_S: i64 = 86_400;

#[derive(Default)]
pub struct Health {
    models: Mutex<BTreeMap<String, Known>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Known {
    provider: String,
    upstream: String,
    since: Timestamp,
    /// None while it answers.
    down: Option<Down>,
}

/// Why a model does not answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Down {
    pub status: Option<u16>,
    pub error: String,
    /// When the upstream asked us to come again.
    pub next_try: Option<Timestamp>,
}

impl Health {
    /// What became of a call; whether that says anything new.
    pub fn note(
        &self,
        model: &str,
        provider: &str,
        upstream: &str,
        down: Option<Down>,
        now: Timestamp,
    ) -> bool {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if models.len() >= MOST && !models.contains_key(model) {
            models.clear();
        }
        let before = models.get(model);
        let same = before.filter(|known| known.down.is_some() == down.is_some());
        let since = same.map_or(now, |known| known.since);
        let known = Known { provider: provider.to_owned(), upstream: upstream.to_owned(), since, down };
        let is_new = before != Some(&known);
        models.insert(model.to_owned(), known);
        is_new
    }

    /// As `budget.json` shows it.
    pub fn view(&self) -> Value {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |(model, known): (&String, &Known)| {
            let down = known.down.as_ref();
            json!({
                "model": model, "provider": known.provider, "upstream": known.upstream,
                "state": if down.is_some() { "down" } else { "up" },
                "since": stamp(known.since),
                "status": down.and_then(|down| down.status),
                "error": down.map(|down| &down.error),
                "next_try": down.and_then(|down| down.next_try).map(stamp),
            })
        };
        models.iter().map(line).collect()
    }
}

fn stamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `503 Service Unavailable: overloaded`, with the upstream's own words where it said some.
pub fn named(status: u16, body: &[u8]) -> String {
    let reason = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let said = said(body.get(..MOST_READ).unwrap_or(body));
    let head = format!("{status} {}", reason.unwrap_or_default()).trim_end().to_owned();
    if said.is_empty() { head } else { format!("{head}: {said}") }
}

/// The words of an error body: JSON of either wire, or a page for people.
fn said(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = match serde_json::from_str::<Value>(&text) {
        Ok(json) => {
            let error = json.get("error").unwrap_or(&json);
            let word = |key: &str| error.get(key).and_then(Value::as_str);
            let said = error.as_str().or(word("message")).or(word("detail"));
            said.unwrap_or_default().to_owned()
        }
        Err(_) => text
            .split('<')
            .map(|part| part.rsplit('>').next().unwrap_or_default())
            .collect::<Vec<_>>()
            .join(" "),
    };
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    line.chars().take(MOST_SAID).collect()
}

/// When an upstream that says `retry-after` in seconds wants to be asked again.
pub fn next_try(retry_after: Option<&str>, now: Timestamp) -> Option<Timestamp> {
    let wait_s = retry_after?.trim().parse::<i64>().ok().filter(|wait_s| *wait_s >= 0)?;
    now.checked_add(SignedDuration::from_secs(wait_s.min(LONGEST_WAIT_S))).ok()
}
