//! Notices that wait and those already told: gathered, bounded an hour, each once. Pure, but for how they are kept.
//!
//! Invariant: what is handed to a program is noted as handed over before, so that no end at any moment tells it twice.

use crate::life::HOUR_MS;
use anyhow::Result;
use house::clock::Millis;
use house::records::follow::Cursor;
use house::{bounds, files};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Most bytes of the file, different notices that wait, and notices of one sending that are told singly.
const MOST_BYTES: u64 = 4 << 20;
const MOST_WAITING: usize = 50;
const MOST_TOLD: usize = 20;

/// Subject of a notice; the weightiest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Ask,
    /// The creature was put back.
    Fall,
    Death,
    Settings,
    Budget,
    ModelDown,
    ModelUp,
    ServerDown,
    ServerUp,
    SignIn,
    Report,
}

impl What {
    /// Whether it may come again and again: within an hour of one that was told, others wait, and go as one.
    fn comes_in_rows(self) -> bool {
        matches!(
            self,
            Self::Fall | Self::Death | Self::Settings | Self::ModelDown | Self::ServerDown | Self::SignIn
        )
    }
}

/// Something to be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    pub at: String,
    pub what: What,
    /// Notices of one name are told as one: the newest, and how often.
    pub name: String,
    /// Harmless and short, but it may be in others' words.
    pub text: String,
    /// The same in words of our own alone, for a command line.
    pub own: String,
    #[serde(default)]
    pub times: u64,
}

/// State kept between two lives of this process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub history: Option<Cursor>,
    pub deaths: Option<Cursor>,
    /// Asks that wait, caps that are nearly spent, models and MCP servers that are down, as far as they were noted here.
    pub asks: BTreeSet<String>,
    pub low: BTreeSet<String>,
    pub down: BTreeSet<String>,
    pub servers_down: BTreeSet<String>,
    /// Failed sign-ins at the page beyond this machine, as far as they were noted here.
    pub failed_sign_ins: Option<u64>,
    /// Day of the last morning report, and when it was made.
    pub reported: Option<String>,
    pub reported_at: Option<String>,
    pub waiting: Vec<Notice>,
    /// Number of notices beyond those that can wait.
    pub left_out: u64,
    /// When the first of those that wait came.
    pub since_ms: Millis,
    /// Sendings of the last hour, and when each kind was told last.
    pub sent_ms: Vec<Millis>,
    pub told_ms: BTreeMap<What, Millis>,
    /// Notices of a sending whose program has not ended.
    pub handed_over: u64,
    /// Notices that could not be told.
    pub untold: u64,
    /// Why the last sending failed; empty after one that did not.
    pub failed: String,
}

/// Notices that go as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Sending {
    pub notices: Vec<Notice>,
    /// How many more there were, and how many could not be told before.
    pub left_out: u64,
    pub untold: u64,
}

impl State {
    /// As it was kept; a new one, which knows of nothing that was, where there is none or it cannot be read.
    pub fn load(path: &Path) -> Self {
        let bytes = files::read_most(path, MOST_BYTES).ok().flatten();
        let mut state: Self =
            bytes.and_then(|bytes| serde_json::from_value(bounds::read(&bytes)?).ok()).unwrap_or_default();
        state.untold = state.untold.saturating_add(std::mem::take(&mut state.handed_over));
        state
    }

    pub fn save(&self, path: &Path) -> Result<()> {
        files::replace(path, format!("{}\n", serde_json::to_string_pretty(self)?).as_bytes())
    }

    /// Forgets how far the records were read: while nobody is told, nothing is gathered.
    pub fn forget(&mut self) {
        (self.history, self.deaths, self.failed_sign_ins) = (None, None, None);
        self.waiting.clear();
    }

    /// Takes in something to be told.
    pub fn add(&mut self, notice: Notice, now: Millis) {
        if self.waiting.is_empty() {
            self.since_ms = now;
        }
        let same = |other: &&mut Notice| other.what == notice.what && other.name == notice.name;
        if let Some(same) = self.waiting.iter_mut().find(same) {
            *same = Notice { times: same.times.saturating_add(1), ..notice };
        } else if self.waiting.len() < MOST_WAITING {
            self.waiting.push(Notice { times: 1, ..notice });
        } else {
            self.left_out += 1;
        }
    }

    /// Drops what waits of this name; whether there was any.
    pub fn drop(&mut self, what: What, name: &str) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|notice| notice.what != what || notice.name != name);
        self.waiting.len() < before
    }

    /// Takes the notices to send now, noted as handed over; `None` where nothing is due.
    pub fn take(&mut self, now: Millis, gather_ms: Millis, per_hour: u32) -> Option<Sending> {
        // Within this time a kind that comes again and again is told once, and sendings are counted. A clock that was set
        // back must not silence it.
        let is_recent = |then: &Millis| *then <= now && now - *then < HOUR_MS;
        self.sent_ms.retain(is_recent);
        self.told_ms.retain(|_, then| is_recent(then));
        let is_due = now < self.since_ms || now - self.since_ms >= gather_ms;
        if !is_due
            || self.sent_ms.len() >= per_hour as usize
            || !self.waiting.iter().any(|one| self.is_new(one))
        {
            return None;
        }
        let mut notices = std::mem::take(&mut self.waiting);
        notices.sort_by_key(|notice| notice.what);
        self.told_ms.extend(notices.iter().map(|notice| (notice.what, now)));
        self.sent_ms.push(now);
        let (left_out, untold) = (std::mem::take(&mut self.left_out), std::mem::take(&mut self.untold));
        let sending = Sending { notices, left_out, untold };
        self.handed_over = sending.count();
        Some(sending)
    }

    fn is_new(&self, notice: &Notice) -> bool {
        !notice.what.comes_in_rows() || !self.told_ms.contains_key(&notice.what)
    }

    /// Notes how a sending ended; returns why it failed, unless that was told before.
    pub fn ended(&mut self, sending: &Sending, failure: Option<String>) -> Option<String> {
        self.handed_over = 0;
        let Some(failure) = failure else {
            self.failed.clear();
            return None;
        };
        self.untold += sending.count();
        let is_known = self.failed == failure;
        self.failed.clone_from(&failure);
        (!is_known).then_some(failure)
    }
}

impl Sending {
    /// How many notices are told by it, and how many it counts.
    fn count(&self) -> u64 {
        (self.notices.len() as u64).saturating_add(self.left_out).saturating_add(self.untold)
    }

    /// The object that the owner's program gets.
    pub fn json(&self, at: &str, house: &str) -> Value {
        let notices = self.notices.iter().take(MOST_TOLD).map(|notice| {
            json!({"at": notice.at, "what": notice.what, "text": notice.text, "times": notice.times})
        });
        let notices: Vec<Value> = notices.collect();
        let what = self.notices.first().map(|notice| notice.what);
        json!({"at": at, "what": what, "house": house, "text": self.text(|notice| &notice.text), "notices": notices})
    }

    /// A line for each notice, and for those that are only counted.
    pub fn text(&self, said: impl Fn(&Notice) -> &str) -> String {
        let told = self.notices.iter().take(MOST_TOLD).map(|notice| match notice.times {
            0 | 1 => said(notice).to_owned(),
            times => format!("{times} times, last: {}", said(notice)),
        });
        let more = (self.notices.len().saturating_sub(MOST_TOLD) as u64).saturating_add(self.left_out);
        let more = (more > 0).then(|| format!("and {more} more"));
        let untold = (self.untold > 0).then(|| format!("{} before could not be told", self.untold));
        told.chain(more).chain(untold).collect::<Vec<_>>().join("\n")
    }
}
