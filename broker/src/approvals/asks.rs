//! The store of asks: acts that wait for the owner, with their exact bytes, written to disk before they are announced.
//!
//! Invariant: an ask's state is on disk before it takes effect. Absent on purpose: anything that turns waiting into a
//! yes.

use super::act::Act;
use super::ask::{Ask, State};
use super::ask_files::AskFiles;
use super::journal::Journal;
use crate::ground::clock::Clock;
use crate::ground::files;
use crate::ground::lock::lock;
use crate::ground::refusal::Unfit;
use anyhow::Result;
use house::House;
use nix::fcntl::{Flock, FlockArg};
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::Notify;

/// Most asks that may wait at once.
const MOST_WAITING: usize = 100;
/// Most bytes of one ask; the owner has to be able to read it.
const MOST_BYTES: usize = 512 << 10;
/// Most finished asks that are kept.
const MOST_KEPT: usize = 500;
/// Milliseconds for which a no keeps the same bytes from being asked again.
const NO_LASTS_MS: i64 = 86_400_000;

/// The result of asking.
#[derive(Debug, PartialEq, Eq)]
pub enum Asking {
    New(u64),
    /// The same bytes wait already, or failed and may be approved again.
    Same(u64),
}

pub struct Asks {
    house: House,
    clock: Clock,
    files: AskFiles,
    journal: Journal,
    held: Mutex<BTreeMap<u64, Ask>>,
    /// Notified when an ask begins to wait.
    pub stirred: Notify,
}

impl Asks {
    pub fn open(house: &House, clock: Clock) -> Result<Self> {
        let files = AskFiles::new(house);
        let held = Mutex::new(files.load()?);
        let journal = Journal::open(house, clock.clone())?;
        Ok(Self { house: house.clone(), clock, files, journal, held, stirred: Notify::new() })
    }

    /// Waits until no other broker of this house runs, then reads the asks it left. The returned lock keeps others
    /// out.
    pub async fn alone(&self) -> Result<Flock<File>> {
        let path = self.house.broker().join("asks.lock");
        loop {
            let file = files::open_lock(&path)?;
            if let Ok(lock) = Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                *self.held() = self.files.load()?;
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
        // A number is never used twice: an answer to one ask must not reach another.
        let id = held.keys().next_back().map_or(1, |last| last + 1).max(self.journal.highest() + 1);
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
        self.files.write(&ask).map_err(|error| not_kept(&error))?;
        held.insert(id, ask);
        self.tell(&mut held, id);
        self.forget(&mut held);
        drop(held);
        self.stirred.notify_one();
        Ok(Asking::New(id))
    }

    /// Asks again, under its old number, about an act that failed without having happened.
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
            self.files.write(&ask).map_err(|error| not_kept(&error))?;
            held.insert(id, ask);
            self.tell(held, id);
            self.stirred.notify_one();
        }
        Ok(Asking::New(id))
    }

    /// Changes an ask that is in one of the states `from`: first on disk, then in `asks.jsonl`.
    pub fn change(&self, id: u64, from: &[State], change: impl FnOnce(&mut Ask)) -> Result<Option<Ask>> {
        let mut held = self.held();
        let Some(ask) = held.get(&id).filter(|ask| from.contains(&ask.state)) else { return Ok(None) };
        let mut ask = ask.clone();
        change(&mut ask);
        self.files.write(&ask)?;
        held.insert(id, ask.clone());
        self.tell(&mut held, id);
        Ok(Some(ask))
    }

    pub fn in_state(&self, state: State) -> Vec<u64> {
        self.held().values().filter(|ask| ask.state == state).map(|ask| ask.id).collect()
    }

    /// The newest ask about an act that fits.
    pub fn newest(&self, fits: impl Fn(&Act) -> bool) -> Option<Ask> {
        self.held().values().rev().find(|ask| fits(&ask.act)).cloned()
    }

    /// Whether the owner's no to an ask still holds.
    pub fn no_holds(&self, ask: &Ask) -> bool {
        self.clock.now().as_millisecond() < ask.answered_ms.saturating_add(NO_LASTS_MS)
    }

    pub fn get(&self, id: u64) -> Option<Ask> {
        self.held().get(&id).cloned()
    }

    /// Number of asks the owner has not answered.
    pub fn waiting(&self) -> usize {
        self.in_state(State::Asked).len()
    }

    /// Position of the first answer that may still count; `None` if no ask waits.
    pub fn answers_from(&self) -> Option<u64> {
        self.held().values().filter(|ask| ask.state.waits()).map(|ask| ask.answers_from).min()
    }

    /// Handles a file of answers that has become shorter: it is another file, and only answers added from now on count.
    pub fn answers_shrank(&self) -> Result<()> {
        let bytes = self.answers_bytes();
        let late: Vec<u64> =
            self.held().values().filter(|ask| ask.answers_from > bytes).map(|ask| ask.id).collect();
        for id in late {
            self.change(id, &[State::Asked, State::Failed], |ask| ask.answers_from = bytes)?;
        }
        Ok(())
    }

    /// Length of `answers.jsonl`.
    pub fn answers_bytes(&self) -> u64 {
        files::mark(&self.house.answers()).map_or(0, |mark| mark.bytes)
    }

    /// After a restart: announces states that a former broker could not.
    pub fn tell_the_rest(&self) {
        let mut held = self.held();
        let untold = |ask: &&Ask| ask.told != Some(ask.state) && ask.state != State::Executing;
        let ids: Vec<u64> = held.values().filter(untold).map(|ask| ask.id).collect();
        if ids.is_empty() {
            return;
        }
        let written = self.journal.all();
        for id in ids {
            let Some(ask) = held.get(&id) else { continue };
            let last = written.iter().rev().find(|(written, _)| *written == id);
            if last.is_some_and(|(_, state)| state == ask.state.name()) {
                let told = Ask { told: Some(ask.state), ..ask.clone() };
                if let Err(error) = self.files.write(&told) {
                    tracing::warn!("an ask's file is behind: {error:#}");
                }
                held.insert(id, told);
            } else {
                self.tell(&mut held, id);
            }
        }
    }

    /// Announces an ask's state, and notes that in its file, so that it is announced once.
    fn tell(&self, held: &mut BTreeMap<u64, Ask>, id: u64) {
        let untold = |ask: &&mut Ask| ask.state != State::Executing && ask.told != Some(ask.state);
        let Some(ask) = held.get_mut(&id).filter(untold) else { return };
        if let Err(error) = self.journal.write(ask) {
            tracing::error!("the creature is told later: {error:#}");
            return;
        }
        ask.told = Some(ask.state);
        if let Err(error) = self.files.write(ask) {
            tracing::warn!("a line of asks.jsonl may come twice: {error:#}");
        }
    }

    /// Drops the oldest finished asks; never the newest, whose number must not be used again.
    fn forget(&self, held: &mut BTreeMap<u64, Ask>) {
        let over = |ask: &&Ask| {
            let ended = matches!(ask.state, State::Executed | State::Denied | State::Failed);
            ended && !ask.may_have_happened && ask.told == Some(ask.state)
        };
        let ids: Vec<u64> = held.values().filter(over).map(|ask| ask.id).collect();
        for id in ids.iter().take(ids.len().saturating_sub(MOST_KEPT)) {
            held.remove(id);
            self.files.remove(*id);
        }
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<u64, Ask>> {
        lock(&self.held)
    }
}

/// Fails if an act is too large to ask about.
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
