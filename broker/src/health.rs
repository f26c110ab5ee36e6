//! The health of models: which answer, since when not, and which need the owner first. How long to wait is the creature's.
//!
//! Absent on purpose: the disk. After a restart nothing is known of a model before its first call; only stopped
//! providers are in the ledger.

use crate::ground::files;
use crate::ground::lock::lock;
use crate::ground::refusal::Refusal;
use crate::ledger::sums::{STOPPED, Stopped};
use crate::ledger::{Entry, chain};
use house::House;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Most models that are remembered; beyond that all are forgotten and learned again.
const MOST: usize = 16;
/// Most silent servers that are remembered.
const MOST_SILENT: usize = 64;
/// Most characters kept of an upstream's message.
const MOST_SAID: usize = 200;
/// Most bytes of it that are read.
const MOST_READ: usize = 16 << 10;
/// Longest wait an upstream may ask for, in seconds.
const LONGEST_WAIT_S: i64 = 86_400;
/// Statuses of a request that was not accepted: they say nothing about the model.
const NOT_ACCEPTED: [u16; 3] = [400, 413, 422];

pub struct Health {
    models: Mutex<BTreeMap<String, Known>>,
    /// Providers that are not called again before the owner acts.
    stopped: Mutex<Vec<Stopped>>,
    /// Silent servers: no model there has answered since that was noted.
    silent: Mutex<Vec<String>>,
    /// Fingerprint of this process's keys and settings; stops noted under others do not hold.
    fingerprint: String,
}

#[derive(Clone, Debug, PartialEq)]
struct Known {
    provider: String,
    upstream: String,
    since: Timestamp,
    /// `None` while it answers.
    down: Option<Down>,
}

/// Why a model does not answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Down {
    pub status: Option<u16>,
    pub error: String,
    /// When the upstream asked for the next try.
    pub next_try: Option<Timestamp>,
}

impl Health {
    /// Goes on from the stop noted in the ledger, if it holds for this fingerprint.
    pub fn new(stopped: Option<Stopped>, fingerprint: String) -> Self {
        let stopped = stopped.into_iter().filter(|stopped| stopped.fingerprint == fingerprint).collect();
        Self { models: Mutex::default(), stopped: Mutex::new(stopped), silent: Mutex::default(), fingerprint }
    }

    /// Fails if the provider must not be called.
    pub fn may(&self, provider: &str) -> Result<(), Refusal> {
        let stopped = lock(&self.stopped);
        let Some(stopped) = stopped.iter().find(|stopped| stopped.provider == provider) else {
            return Ok(());
        };
        let message = format!(
            "{} answered {} and is not asked again until the owner acts",
            stopped.provider, stopped.status
        );
        Err(Refusal::new(403, "stopped_until_owner", message, stopped.hint.clone()))
    }

    /// Stops calling a provider until the owner acts; returns the entry to record, if this is new.
    pub fn stop(&self, stopped: Stopped) -> Option<Entry> {
        let stopped = Stopped { fingerprint: self.fingerprint.clone(), ..stopped };
        let mut all = lock(&self.stopped);
        if all.iter().any(|known| known.provider == stopped.provider) {
            return None;
        }
        all.push(stopped.clone());
        Some(Entry {
            decision: STOPPED.into(),
            path: stopped.provider,
            status: Some(stopped.status),
            call: stopped.fingerprint,
            ..Entry::note(stopped.hint)
        })
    }

    /// Notes that a model answered at a server.
    pub fn answered(&self, server: &str) {
        lock(&self.silent).retain(|silent| silent != server);
    }

    /// Notes that no model answered at a server; returns whether that is new since one last did.
    pub fn is_newly_silent(&self, server: &str) -> bool {
        let mut silent = lock(&self.silent);
        let is_new = !silent.iter().any(|known| known == server);
        if is_new {
            silent.truncate(MOST_SILENT);
            silent.push(server.to_owned());
        }
        is_new
    }

    /// Notes whether a model answered; returns whether that changes anything.
    pub fn note(
        &self,
        model: &str,
        provider: &str,
        upstream: &str,
        down: Option<Down>,
        now: Timestamp,
    ) -> bool {
        let mut models = lock(&self.models);
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

    /// The models' part of `budget.json`.
    pub fn models(&self) -> Value {
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
        lock(&self.models).iter().map(line).collect()
    }

    /// The first stopped provider, for `budget.json`.
    pub fn stopped(&self) -> Option<Value> {
        let stopped = lock(&self.stopped);
        stopped.first().map(
            |stopped| json!({"provider": stopped.provider, "status": stopped.status, "hint": stopped.hint}),
        )
    }
}

fn stamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// As in `503 Service Unavailable: overloaded`, with the upstream's message if there is one.
pub fn named(status: u16, body: &[u8]) -> String {
    let reason = http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let said = said(body.get(..MOST_READ).unwrap_or(body));
    let head = format!("{status} {}", reason.unwrap_or_default()).trim_end().to_owned();
    if said.is_empty() { head } else { format!("{head}: {said}") }
}

/// The message in an error's body: JSON of any API, or a web page.
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

/// When an upstream wants the next try, by its `retry-after` in seconds.
pub fn next_try(retry_after: Option<&str>, now: Timestamp) -> Option<Timestamp> {
    let wait_s = retry_after?.trim().parse::<i64>().ok().filter(|wait_s| *wait_s >= 0)?;
    now.checked_add(SignedDuration::from_secs(wait_s.min(LONGEST_WAIT_S))).ok()
}

/// Whether an error says anything about the model: a request that was not accepted does not.
pub fn is_of_model(status: u16) -> bool {
    !NOT_ACCEPTED.contains(&status)
}

/// Whether the owner must act first; some providers say so with unusual statuses. A web page comes from a portal or a
/// proxy, not from the provider, and does not count.
pub fn owner_must_act(provider: &str, is_anthropic: bool, status: u16, body: &[u8]) -> Option<Stopped> {
    if body.trim_ascii_start().starts_with(b"<") {
        return None;
    }
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let word = |path: &str| said.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let has_no_money = matches!(word("/error/code"), "insufficient_quota" | "billing_hard_limit_reached")
        || (is_anthropic && word("/error/message").contains("credit balance is too low"));
    let hint = match status {
        402 => {
            "no money or quota is left (402): top up the account, then save owner.toml or restart the guardian"
        }
        _ if has_no_money => {
            "no money or quota is left: top up the account, then save owner.toml or restart the guardian"
        }
        401 => "the key is refused (401): put a right one into .env",
        403 => "the key may not do this (403): check its rights and the model, then save .env or owner.toml",
        _ => return None,
    };
    Some(Stopped { provider: provider.to_owned(), status, hint: hint.to_owned(), ..Stopped::default() })
}

/// Changes when the owner acts: by keys, settings, `.env`, or a restart of the guardian, which is the parent process.
pub fn fingerprint(house: &House, keys: &[&str]) -> String {
    let parent = nix::unistd::getppid();
    // The start time tells a process from a later one of the same id.
    let stat = files::system(format!("/proc/{parent}/stat")).unwrap_or_default();
    let started = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19));
    let files = [house.owner_settings(), house.secrets()].map(|path| files::mark(&path));
    let text = format!("{keys:?} {files:?} {parent} {started:?}");
    chain::hash(text.as_bytes()).chars().take(16).collect()
}
