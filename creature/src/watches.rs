//! Watches: events that the owner or the creature wants to be told of. Plain code looks for them, no model is asked.
//!
//! Invariant: one task looks and one file keeps them; what is told is remembered before the watch forgets what it was.

mod judge;
mod look;
mod number;
pub mod task;

pub use judge::{Condition, Seen, Verdict, items, judge};
pub use look::{Looked, within};
pub use number::number;

use ground::text::keep_last;
use jiff::Timestamp;
use memory::state;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Watches at once, and the shortest and longest time between two looks of one, in seconds.
pub const MOST: usize = 32;
pub const EVERY_S: (u64, u64) = (15, 86_400);

/// News kept for a thought; of more, the oldest go.
const MOST_NEWS: usize = 64;

/// Source that a watch looks at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Url(String),
    Feed(String),
    /// A path from the root of the house.
    File(String),
    Command(String),
}

impl Source {
    pub fn name(&self) -> &str {
        match self {
            Source::Url(name) | Source::Feed(name) | Source::File(name) | Source::Command(name) => name,
        }
    }
}

/// Watch, and what was seen of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    pub id: String,
    pub source: Source,
    pub every_s: u64,
    /// A regular expression; its first group, else all of it, is the value.
    #[serde(default)]
    pub find: Option<String>,
    pub when: Condition,
    /// Words that are said; old → new stand behind them.
    pub say: String,
    pub thread: String,
    /// The owner asked for it: the owner is told, else a thought of its own.
    pub owner: bool,
    /// Least seconds from one telling to the next; what comes between is told together.
    #[serde(default)]
    pub at_most_every_s: u64,
    pub made_at: Timestamp,
    pub next: Timestamp,
    #[serde(default)]
    pub seen: Seen,
    /// Looks in a row that came to nothing, and why.
    #[serde(default)]
    pub fails: u32,
    #[serde(default)]
    pub error: String,
    #[serde(default)]
    pub told_broken: bool,
    /// Number of times it told, and when last.
    #[serde(default)]
    pub told: u64,
    #[serde(default)]
    pub told_at: Option<Timestamp>,
}

impl Watch {
    /// Says what it tells and when, in a line that stays as it is.
    pub fn wish(&self) -> String {
        let (say, source) = (judge::brief(&self.say), judge::brief(self.source.name()));
        format!(
            "{} tells your owner \"{say}\" when {source} {}; no thought is needed",
            self.id,
            self.when.name()
        )
    }

    /// The watch in a line, with what was seen of it.
    pub fn line(&self) -> String {
        let value = self.seen.value.as_deref().map(judge::brief).unwrap_or_default();
        let last = match (self.error.as_str(), value.as_str()) {
            ("", "") => "not seen yet".to_owned(),
            ("", value) => format!("now {value}"),
            (error, _) => format!("cannot be looked at: {error}"),
        };
        format!(
            "{}: tells \"{}\" when {} {}, every {} s; {last}, told {} times",
            self.id,
            judge::brief(&self.say),
            judge::brief(self.source.name()),
            self.when.name(),
            self.every_s,
            self.told
        )
    }
}

/// All watches, as their file has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Watches {
    /// Number of the watch made last.
    pub last: u64,
    pub list: Vec<Watch>,
    /// News told by watches that no thought was told of yet, the newest last.
    pub news: Vec<String>,
}

impl Watches {
    /// Keeps the watch as it is after a look, and what it told.
    fn looked(&mut self, watch: Watch, told: Option<String>) {
        self.news.extend(told.map(|told| format!("{} tells: {told}", watch.id)));
        keep_last(&mut self.news, MOST_NEWS);
        if let Some(mine) = self.list.iter_mut().find(|one| one.id == watch.id) {
            *mine = watch;
        }
    }
}

/// The watches of a life, shared by its tools and the task that looks.
#[derive(Clone)]
pub struct Shared {
    path: PathBuf,
    all: Arc<Mutex<Watches>>,
    /// A watch was made or ended.
    pub changed: Arc<Notify>,
    /// News came.
    pub heard: Arc<Notify>,
}

impl Shared {
    pub fn load(path: &Path) -> Self {
        let all = state::read(path).unwrap_or_default();
        Self {
            path: path.to_path_buf(),
            all: Arc::new(Mutex::new(all)),
            changed: Arc::default(),
            heard: Arc::default(),
        }
    }

    fn all(&self) -> MutexGuard<'_, Watches> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn list(&self) -> Vec<Watch> {
        self.all().list.clone()
    }

    /// Makes a change and keeps it.
    pub fn change<T>(&self, change: impl FnOnce(&mut Watches) -> T) -> T {
        let mut all = self.all();
        let done = change(&mut all);
        state::keep(&self.path, &*all);
        drop(all);
        self.changed.notify_one();
        done
    }

    /// Returns the news that no call of `took` has struck off yet; kept over ends of lives.
    pub fn news(&self) -> Vec<String> {
        self.all().news.clone()
    }

    /// Strikes off the oldest news, once they are kept elsewhere.
    pub fn took(&self, news: usize) {
        self.change(|all| drop(all.news.drain(..news.min(all.news.len()))));
    }
}
