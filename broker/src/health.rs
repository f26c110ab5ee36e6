//! Health of models: which answer, since when not, which need the owner first; the creature decides how long to wait.
//!
//! Absent on purpose: the disk. After a restart nothing is known of a model before its first call; only stopped
//! providers are in the ledger.

pub mod meaning;

use crate::ground::clock;
use crate::ground::files;
use crate::ground::refusal::Refusal;
use crate::ledger::sums::{RESUMED, STOPPED, Stopped};
use crate::ledger::{Entry, chain};
use house::House;
use house::mutex::lock;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Most models that are remembered; beyond that all are forgotten and learned again.
const MOST: usize = 16;
/// Most silent servers that are remembered.
const MOST_SILENT: usize = 64;
/// Time a stopped provider is left alone before a call tries it anew: a refused call costs nothing.
const TRY_ANEW: SignedDuration = SignedDuration::from_hours(1);

pub struct Health {
    models: Mutex<BTreeMap<String, Known>>,
    /// Providers that are not called before the owner acts, or time has come for one call, and since when.
    stopped: Mutex<Vec<(Stopped, Timestamp)>>,
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

/// Failure by which a model does not answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Down {
    pub status: Option<u16>,
    pub error: String,
    /// Time at which the upstream wants the next try.
    pub next_try: Option<Timestamp>,
}

impl Health {
    /// Goes on from the stop noted in the ledger, if it holds for this fingerprint.
    pub fn new(stopped: Option<Stopped>, fingerprint: String, now: Timestamp) -> Self {
        let stopped = stopped.into_iter().filter(|stopped| stopped.fingerprint == fingerprint);
        let stopped = stopped.map(|stopped| (stopped, now)).collect();
        Self { models: Mutex::default(), stopped: Mutex::new(stopped), silent: Mutex::default(), fingerprint }
    }

    /// Fails if the provider must not be called. One call tries it anew from time to time, and after each word of the owner's,
    /// who may have mended it: `spoke` is when that was heard last.
    pub fn may(&self, provider: &str, now: Timestamp, spoke: Option<Timestamp>) -> Result<(), Refusal> {
        let mut all = lock(&self.stopped);
        let Some((stopped, since)) = all.iter_mut().find(|(stopped, _)| stopped.provider == provider) else {
            return Ok(());
        };
        let waited = now.duration_since(*since);
        // A clock that was set back must not keep it stopped for longer.
        let heard = spoke.is_some_and(|spoke| spoke > *since && spoke <= now);
        if waited >= TRY_ANEW || waited.is_negative() || heard {
            *since = now;
            return Ok(());
        }
        let left_s = (TRY_ANEW - waited).as_secs().unsigned_abs() + 1;
        let message = format!(
            "{} answered {} and is not asked before the owner's next word, or for {left_s} s",
            stopped.provider, stopped.status
        );
        Err(Refusal::new(403, "stopped_until_owner", message, stopped.hint.clone()).after(left_s))
    }

    /// Stops calling a provider until the owner acts; returns the entry to record, if this is new.
    pub fn stop(&self, stopped: Stopped, now: Timestamp) -> Option<Entry> {
        let stopped = Stopped { fingerprint: self.fingerprint.clone(), ..stopped };
        let mut all = lock(&self.stopped);
        if all.iter().any(|(known, _)| known.provider == stopped.provider) {
            return None;
        }
        all.push((stopped.clone(), now));
        Some(Entry {
            decision: STOPPED.into(),
            path: stopped.provider,
            status: Some(stopped.status),
            call: stopped.fingerprint,
            ..Entry::note(stopped.hint)
        })
    }

    /// Calls a provider again, since it answered; returns the entry to record, if it was stopped.
    pub fn resume(&self, provider: &str) -> Option<Entry> {
        let mut all = lock(&self.stopped);
        let at = all.iter().position(|(stopped, _)| stopped.provider == provider)?;
        let (stopped, _) = all.remove(at);
        let note = Entry::note("it answered when it was tried anew");
        Some(Entry { decision: RESUMED.into(), path: stopped.provider, ..note })
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
                "since": clock::told(known.since.as_millisecond()),
                "status": down.and_then(|down| down.status),
                "error": down.map(|down| &down.error),
                "next_try": down.and_then(|down| down.next_try).map(|at| clock::told(at.as_millisecond())),
            })
        };
        lock(&self.models).iter().map(line).collect()
    }

    /// The first stopped provider, for `budget.json`.
    pub fn stopped(&self) -> Option<Value> {
        let stopped = lock(&self.stopped);
        stopped.first().map(
            |(stopped, _)| json!({"provider": stopped.provider, "status": stopped.status, "hint": stopped.hint}),
        )
    }
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
