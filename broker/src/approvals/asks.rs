//! The store of asks: acts that wait for the owner, with their exact bytes, written to disk before they are announced.
//!
//! Invariant: an ask's state is on disk before it takes effect. Absent on purpose: anything that turns waiting into a
//! yes.

use super::act::Act;
use super::ask::{Ask, State};
use super::journal;
use crate::ground::clock::Clock;
use crate::ground::files;
use crate::ground::refusal::Unfit;
use anyhow::{Context, Result};
use house::House;
use house::mutex::lock;
use nix::fcntl::{Flock, FlockArg};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
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

/// All asks on disk, and what was announced of them.
struct Held {
    asks: BTreeMap<u64, Ask>,
    /// The last state announced in `asks.jsonl`, by number; of asks that are no longer kept too.
    announced: BTreeMap<u64, Option<State>>,
}

pub struct Asks {
    house: House,
    clock: Clock,
    held: Mutex<Held>,
    /// Notified when an ask begins to wait.
    pub stirred: Notify,
}

impl Asks {
    pub fn open(house: &House, clock: Clock) -> Result<Self> {
        Ok(Self { house: house.clone(), clock, held: Mutex::new(read(house)?), stirred: Notify::new() })
    }

    /// Waits until no other broker of this house runs, then reads the asks it left. The returned lock keeps others
    /// out.
    pub async fn alone(&self) -> Result<Flock<File>> {
        let path = self.house.broker().join("asks.lock");
        loop {
            let file = files::open_lock(&path)?;
            if let Ok(lock) = Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                *self.held() = read(&self.house)?;
                return Ok(lock);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Keeps an act until the owner answers. One that failed without having happened is asked about again under its
    /// old number.
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
        let same = held.asks.values().rev().find(|ask| ask.digest == digest);
        let again = same.filter(|ask| ask.state == State::Failed && !ask.may_have_happened);
        match same {
            _ if again.is_some() => {}
            Some(ask) if ask.state == State::Denied && self.no_holds(ask) => {
                let error = format!("the owner said no to exactly this (ask {})", ask.id);
                return Err(Unfit::new(error, "do something else, or ask the owner why"));
            }
            Some(ask) if !matches!(ask.state, State::Denied | State::Executed) => {
                return Ok(Asking::Same(ask.id));
            }
            _ if held.open() >= MOST_WAITING => {
                let error = format!("{MOST_WAITING} asks wait for the owner already");
                return Err(Unfit::new(error, "wait until some are answered"));
            }
            _ => {}
        }
        let mut ask = again.cloned().unwrap_or_else(|| Ask {
            id: held.unused(),
            at: self.clock.stamp(),
            life,
            state: State::Asked,
            why: String::new(),
            reason: String::new(),
            summary,
            digest,
            answers_from: 0,
            may_have_happened: false,
            answered_ms: 0,
            status: None,
            result: String::new(),
            act,
        });
        ask.state = State::Asked;
        (ask.why, ask.reason, ask.answers_from) = (why, reason, self.answers_bytes());
        let id = ask.id;
        self.keep(&mut held, ask).map_err(|error| not_kept(&error))?;
        self.forget(&mut held);
        Ok(Asking::New(id))
    }

    /// Changes an ask that is in one of the states `from`.
    pub fn change(&self, id: u64, from: &[State], change: impl FnOnce(&mut Ask)) -> Result<Option<Ask>> {
        let mut held = self.held();
        let Some(ask) = held.asks.get(&id).filter(|ask| from.contains(&ask.state)) else { return Ok(None) };
        let mut ask = ask.clone();
        change(&mut ask);
        self.keep(&mut held, ask.clone())?;
        Ok(Some(ask))
    }

    pub fn in_state(&self, state: State) -> Vec<u64> {
        self.held().asks.values().filter(|ask| ask.state == state).map(|ask| ask.id).collect()
    }

    /// The newest ask about an act that fits.
    pub fn newest(&self, fits: impl Fn(&Act) -> bool) -> Option<Ask> {
        self.held().asks.values().rev().find(|ask| fits(&ask.act)).cloned()
    }

    /// Whether an act that fits waits for the owner, or may be begun again by a yes.
    pub fn any_open(&self, fits: impl Fn(&Act) -> bool) -> bool {
        let is_over = |ask: &Ask| matches!(ask.state, State::Denied | State::Executed);
        self.held().asks.values().any(|ask| !is_over(ask) && fits(&ask.act))
    }

    /// Whether the owner's no to an ask still holds.
    pub fn no_holds(&self, ask: &Ask) -> bool {
        self.clock.now().as_millisecond() < ask.answered_ms.saturating_add(NO_LASTS_MS)
    }

    pub fn get(&self, id: u64) -> Option<Ask> {
        self.held().asks.get(&id).cloned()
    }

    /// Number of asks the owner has not answered.
    pub fn waiting(&self) -> usize {
        self.in_state(State::Asked).len()
    }

    /// Position of the first answer that may still count; `None` if no ask waits.
    pub fn answers_from(&self) -> Option<u64> {
        self.held().asks.values().filter(|ask| ask.state.waits()).map(|ask| ask.answers_from).min()
    }

    /// Handles a file of answers that has become shorter: it is another file, and only answers added from now on count.
    pub fn answers_shrank(&self) -> Result<()> {
        let bytes = self.answers_bytes();
        let late: Vec<u64> =
            self.held().asks.values().filter(|ask| ask.answers_from > bytes).map(|ask| ask.id).collect();
        for id in late {
            self.change(id, &[State::Asked, State::Failed], |ask| ask.answers_from = bytes)?;
        }
        Ok(())
    }

    /// Length of `answers.jsonl`.
    pub fn answers_bytes(&self) -> u64 {
        files::mark(&self.house.answers()).map_or(0, |mark| mark.bytes)
    }

    /// Announces every state that is not in `asks.jsonl`: a kill came between, or the disk was full.
    pub fn tell_the_rest(&self) {
        let mut held = self.held();
        let ids: Vec<u64> = held.asks.keys().copied().collect();
        ids.into_iter().for_each(|id| self.tell(&mut held, id));
    }

    /// Puts an ask on disk, then announces its state.
    fn keep(&self, held: &mut Held, ask: Ask) -> Result<()> {
        let id = ask.id;
        write(&self.house, &ask)?;
        held.asks.insert(id, ask);
        self.tell(held, id);
        self.stirred.notify_one();
        Ok(())
    }

    /// Announces an ask's state, once.
    fn tell(&self, held: &mut Held, id: u64) {
        let Some(ask) = held.asks.get(&id).filter(|ask| !held.is_told(ask)) else { return };
        match journal::write(&self.house, ask, &self.clock.stamp()) {
            Ok(()) => drop(held.announced.insert(id, Some(ask.state))),
            Err(error) => tracing::error!("the creature is told later: {error:#}"),
        }
    }

    /// Drops the oldest finished asks.
    fn forget(&self, held: &mut Held) {
        let over = |ask: &&Ask| {
            let ended = matches!(ask.state, State::Executed | State::Denied | State::Failed);
            ended && !ask.may_have_happened && held.is_told(ask)
        };
        let ids: Vec<u64> = held.asks.values().filter(over).map(|ask| ask.id).collect();
        for id in ids.iter().take(ids.len().saturating_sub(MOST_KEPT)) {
            held.asks.remove(id);
            let _ = std::fs::remove_file(self.house.ask(&id.to_string()));
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        lock(&self.held)
    }
}

impl Held {
    /// Number of asks that the owner has to answer or look into.
    fn open(&self) -> usize {
        self.asks.values().filter(|ask| ask.state == State::Asked || ask.may_have_happened).count()
    }

    /// A number never used before: an answer to one ask must not reach another.
    fn unused(&self) -> u64 {
        let last = |id: Option<&u64>| id.copied().unwrap_or(0);
        last(self.asks.keys().next_back()).max(last(self.announced.keys().next_back())) + 1
    }

    /// Whether an ask's state was announced; that it is being carried out never is.
    fn is_told(&self, ask: &Ask) -> bool {
        ask.state == State::Executing || self.announced.get(&ask.id) == Some(&Some(ask.state))
    }
}

/// Reads the asks, and what was announced of them.
fn read(house: &House) -> Result<Held> {
    Ok(Held { asks: load(house)?, announced: journal::read(house)? })
}

/// Reads all asks, each in a file of its own that only the broker reads and writes.
fn load(house: &House) -> Result<BTreeMap<u64, Ask>> {
    let folder = house.asks_folder();
    std::fs::create_dir_all(&folder).with_context(|| format!("failed to make {}", folder.display()))?;
    let entries =
        std::fs::read_dir(&folder).with_context(|| format!("failed to list {}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut held = BTreeMap::new();
    for path in paths.filter(|path| path.extension().is_some_and(|end| end == "json")) {
        match read_ask(&path) {
            Ok(ask) if house.ask(&ask.id.to_string()) == path => drop(held.insert(ask.id, ask)),
            Ok(_) => tracing::error!("an ask is lost to sight: {} is not its name", path.display()),
            Err(error) => tracing::error!("an ask is lost to sight: {error:#}"),
        }
    }
    Ok(held)
}

fn write(house: &House, ask: &Ask) -> Result<()> {
    files::replace_secret(&house.ask(&ask.id.to_string()), &serde_json::to_vec_pretty(ask)?)
}

fn read_ask(path: &Path) -> Result<Ask> {
    let bytes = files::read_small(path)?.with_context(|| format!("{} is gone", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("failed to understand {}", path.display()))
}

/// Fails if an act is too large to ask about.
pub fn fits(act: &Act) -> Result<(), Unfit> {
    let bytes = serde_json::to_vec(act).map_or(usize::MAX, |bytes| bytes.len());
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let error = format!("this needs the owner's approval and is larger than {MOST_BYTES} bytes");
    Err(Unfit::new(error, "the owner has to be able to read it: send less at once"))
}

fn not_kept(error: &anyhow::Error) -> Unfit {
    tracing::error!("failed to keep an ask: {error:#}");
    Unfit::new("the ask could not be kept", "is the disk full? try again later")
}
