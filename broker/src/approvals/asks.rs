//! What waits for the owner, with its exact bytes, on the disk before anybody is told that it waits.
//!
//! Invariant: an ask's state is on the disk before it counts, and goes asked → approved → executing → executed or
//! failed; from executing it is never begun again by itself. Deliberately absent: any way from time to a yes.

use crate::approvals::act::Act;
use crate::approvals::ask_files::{load, mend, tail};
use crate::ground::clock::Clock;
use crate::ground::files;
use crate::ground::house::House;
use crate::services::canonical::Unfit;
use anyhow::{Context, Result};
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Asks that may wait at once.
const MOST_WAITING: usize = 100;
/// Bytes of one ask; the owner has to be able to read it.
const MOST_BYTES: usize = 512 << 10;
/// Asks kept after they are over.
const MOST_KEPT: usize = 500;
/// For this long a no to the same bytes is not asked again, in milliseconds.
const NO_LASTS_MS: i64 = 86_400_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Asked,
    Approved,
    Executing,
    Executed,
    Failed,
    Denied,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Approved => "approved",
            Self::Executing => "executing",
            Self::Executed => "executed",
            Self::Failed => "failed",
            Self::Denied => "denied",
        }
    }

    /// The owner can still answer.
    pub fn waits(self) -> bool {
        matches!(self, Self::Asked | Self::Failed)
    }
}

/// One ask, as its file holds it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ask {
    pub id: u64,
    pub at: String,
    pub life: u64,
    pub state: State,
    /// The last state that stands in `asks.jsonl`.
    pub told: Option<State>,
    /// Why the owner is asked.
    pub why: String,
    /// What the creature says it is for.
    pub reason: String,
    pub summary: String,
    pub digest: String,
    /// Where in `answers.jsonl` answers to this begin to count, in bytes: each is taken once.
    pub answers_from: u64,
    /// It failed in a way that leaves open whether it happened.
    pub may_have_happened: bool,
    /// When it was answered, in milliseconds since 1970.
    pub answered_ms: i64,
    pub status: Option<u16>,
    pub result: String,
    pub act: Act,
}

/// What asking led to.
#[derive(Debug, PartialEq, Eq)]
pub enum Asking {
    New(u64),
    /// The same bytes wait already, or failed and wait to be approved anew.
    Same(u64),
}

pub struct Asks {
    house: House,
    clock: Clock,
    held: Mutex<BTreeMap<u64, Ask>>,
    /// Told when something begins to wait.
    pub stirred: Notify,
}

impl Asks {
    pub fn open(house: &House, clock: Clock) -> Result<Self> {
        let held = Mutex::new(load(house)?);
        mend(&house.asks()).context("failed to mend asks.jsonl")?;
        Ok(Self { house: house.clone(), clock, held, stirred: Notify::new() })
    }

    /// Waits until no other broker of this house is at work, then reads what it left. Held until dropped.
    pub async fn alone(&self) -> Result<Flock<File>> {
        let path = self.house.own().join("asks.lock");
        loop {
            let file = OpenOptions::new()
                .create(true)
                .append(true)
                .custom_flags(nix::libc::O_NOFOLLOW)
                .open(&path)?;
            if let Ok(lock) = Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                *self.held() = load(&self.house)?;
                return Ok(lock);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Keeps an act until the owner answers.
    pub fn ask(
        &self,
        life: u64,
        act: Act,
        why: String,
        reason: String,
        summary: String,
    ) -> Result<Asking, Unfit> {
        let digest = act.digest();
        let mut held = self.held();
        let now = self.clock.now().as_millisecond();
        let same = held.values().rev().find(|ask| ask.digest == digest);
        match same.map(|ask| (ask.id, ask.state, ask.answered_ms)) {
            Some((id, State::Failed, _)) if held.get(&id).is_some_and(|ask| !ask.may_have_happened) => {
                return self.reopen(&mut held, id, why, reason);
            }
            Some((id, State::Asked | State::Approved | State::Executing | State::Failed, _)) => {
                return Ok(Asking::Same(id));
            }
            Some((id, State::Denied, at)) if now < at.saturating_add(NO_LASTS_MS) => {
                return Err(Unfit {
                    error: format!("the owner said no to exactly this (ask {id})"),
                    hint: "do something else, or ask the owner why".to_owned(),
                });
            }
            _ => {}
        }
        if held.values().filter(|ask| ask.state == State::Asked || ask.may_have_happened).count()
            >= MOST_WAITING
        {
            return Err(Unfit {
                error: format!("{MOST_WAITING} asks wait for the owner already"),
                hint: "wait until some are answered".to_owned(),
            });
        }
        // An id is never given twice: an answer to the one must not reach the other.
        let id = held.keys().next_back().map_or(1, |last| last + 1).max(self.last_told() + 1);
        let ask = Ask {
            id,
            at: self.clock.stamp(),
            life,
            state: State::Asked,
            told: None,
            why,
            reason,
            summary,
            digest,
            answers_from: self.answers_bytes(),
            may_have_happened: false,
            answered_ms: 0,
            status: None,
            result: String::new(),
            act,
        };
        self.write(&ask).map_err(|error| not_kept(&error))?;
        held.insert(id, ask);
        self.tell(&mut held, id);
        self.forget(&mut held);
        drop(held);
        self.stirred.notify_one();
        Ok(Asking::New(id))
    }

    /// What failed without anything done waits once more, under its number.
    fn reopen(
        &self,
        held: &mut BTreeMap<u64, Ask>,
        id: u64,
        why: String,
        reason: String,
    ) -> Result<Asking, Unfit> {
        if let Some(mut ask) = held.get(&id).cloned() {
            ask.state = State::Asked;
            (ask.why, ask.reason, ask.answers_from) = (why, reason, self.answers_bytes());
            self.write(&ask).map_err(|error| not_kept(&error))?;
            held.insert(id, ask);
            self.tell(held, id);
            self.stirred.notify_one();
        }
        Ok(Asking::New(id))
    }

    /// Changes an ask that is in one of the states `from`: on the disk first, then in `asks.jsonl`.
    pub fn change(&self, id: u64, from: &[State], change: impl FnOnce(&mut Ask)) -> Result<Option<Ask>> {
        let mut held = self.held();
        let Some(ask) = held.get(&id).filter(|ask| from.contains(&ask.state)) else { return Ok(None) };
        let mut ask = ask.clone();
        change(&mut ask);
        self.write(&ask)?;
        held.insert(id, ask.clone());
        self.tell(&mut held, id);
        Ok(Some(ask))
    }

    pub fn in_state(&self, state: State) -> Vec<u64> {
        self.held().values().filter(|ask| ask.state == state).map(|ask| ask.id).collect()
    }

    pub fn get(&self, id: u64) -> Option<Ask> {
        self.held().get(&id).cloned()
    }

    /// Asks the owner has not answered.
    pub fn waiting(&self) -> usize {
        self.in_state(State::Asked).len()
    }

    /// Where the first answer that still counts may stand; nothing where no ask waits.
    pub fn answers_from(&self) -> Option<u64> {
        self.held().values().filter(|ask| ask.state.waits()).map(|ask| ask.answers_from).min()
    }

    /// A file of answers that became shorter is another one: nothing in it was meant for what waits.
    pub fn answers_shrank(&self) -> Result<()> {
        let bytes = self.answers_bytes();
        let late: Vec<u64> =
            self.held().values().filter(|ask| ask.answers_from > bytes).map(|ask| ask.id).collect();
        for id in late {
            self.change(id, &[State::Asked, State::Failed], |ask| ask.answers_from = bytes)?;
        }
        Ok(())
    }

    /// How long `answers.jsonl` is.
    pub fn answers_bytes(&self) -> u64 {
        files::mark(&self.house.answers()).map_or(0, |mark| mark.bytes)
    }

    /// After a restart: writes the lines that were not written any more.
    pub fn tell_the_rest(&self) {
        let mut held = self.held();
        let untold = |ask: &&Ask| ask.told != Some(ask.state) && ask.state != State::Executing;
        let ids: Vec<u64> = held.values().filter(untold).map(|ask| ask.id).collect();
        if ids.is_empty() {
            return;
        }
        let tail = tail(&self.house.asks()).unwrap_or_default();
        let lines: Vec<Value> = tail.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        for id in ids {
            let Some(ask) = held.get(&id) else { continue };
            let last = lines.iter().rev().find(|line| line["id"] == json!(id.to_string()));
            if last.is_some_and(|line| line["event"] == json!(ask.state.name())) {
                let told = Ask { told: Some(ask.state), ..ask.clone() };
                if let Err(error) = self.write(&told) {
                    tracing::warn!("an ask's file is behind: {error:#}");
                }
                held.insert(id, told);
            } else {
                self.tell(&mut held, id);
            }
        }
    }

    /// A line for the creature; the file remembers that it was written, so that none is written twice.
    fn tell(&self, held: &mut BTreeMap<u64, Ask>, id: u64) {
        let untold = |ask: &&mut Ask| ask.state != State::Executing && ask.told != Some(ask.state);
        let Some(ask) = held.get_mut(&id).filter(untold) else { return };
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
        if let Err(error) = files::append_line(&self.house.asks(), &line.to_string()) {
            tracing::error!("the creature is told later: {error:#}");
            return;
        }
        ask.told = Some(ask.state);
        if let Err(error) = self.write(ask) {
            tracing::warn!("a line of asks.jsonl may come twice: {error:#}");
        }
    }

    fn write(&self, ask: &Ask) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(ask)?;
        files::replace_secret(&self.file(ask.id), &bytes)
    }

    fn file(&self, id: u64) -> PathBuf {
        self.house.asks_folder().join(format!("{id}.json"))
    }

    /// Drops the oldest of those that are over; never the newest, whose number must not come again.
    fn forget(&self, held: &mut BTreeMap<u64, Ask>) {
        let over = |ask: &&Ask| {
            let ended = matches!(ask.state, State::Executed | State::Denied | State::Failed);
            ended && !ask.may_have_happened && ask.told == Some(ask.state)
        };
        let ids: Vec<u64> = held.values().filter(over).map(|ask| ask.id).collect();
        for id in ids.iter().take(ids.len().saturating_sub(MOST_KEPT)) {
            held.remove(id);
            let _ = std::fs::remove_file(self.file(*id));
        }
    }

    /// The highest number `asks.jsonl` knows of, should the folder have been emptied.
    fn last_told(&self) -> u64 {
        let tail = tail(&self.house.asks()).unwrap_or_default();
        let ids = tail.lines().filter_map(|line| {
            serde_json::from_str::<Value>(line).ok()?.get("id")?.as_str()?.parse::<u64>().ok()
        });
        ids.max().unwrap_or(0)
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<u64, Ask>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why an act is too large to be asked about.
pub fn fits(act: &Act) -> Result<(), Unfit> {
    let bytes = serde_json::to_vec(act).map_or(usize::MAX, |bytes| bytes.len());
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let error = format!("this needs the owner's approval and is larger than {MOST_BYTES} bytes");
    Err(Unfit { error, hint: "the owner has to be able to read it: send less at once".to_owned() })
}

fn not_kept(error: &anyhow::Error) -> Unfit {
    tracing::error!("failed to keep an ask: {error:#}");
    Unfit {
        error: "the ask could not be kept".to_owned(),
        hint: "is the disk full? try again later".to_owned(),
    }
}
