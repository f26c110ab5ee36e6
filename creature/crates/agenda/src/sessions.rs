//! Sub-sessions: objectives that run apart from the wake's own thoughts, what each depends on, and how it ends.
//!
//! Invariant: whatever turns come in whatever order, a session that began ends, and is then reported once.
//! Invariant: a session starts only when all it depends on are done; where one fails, all that depend on it fail.

mod report;
mod spawn;
mod turns;

pub use report::Report;
pub use spawn::{Previous, Request, Spawned};

use crate::items;
use crate::text::clip;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Seconds of one hop, a stretch of a session; then the next hop begins.
pub const HOP_S: i64 = 300;

/// Hops a session may take, the first included.
pub const MOST_HOPS: u32 = 4;

/// Thoughts a hop may have whatever they cost; further ones only within its time and money. A smaller bound on
/// their number would not do: eight thoughts take a slow model minutes and a quick one seconds.
pub const HOP_ROUNDS: u32 = 8;

/// Thoughts a hop may have at all, so that a session that repeats itself at no cost ends: one in five seconds.
pub const MOST_HOP_ROUNDS: u32 = 60;

/// A thought spawns sessions of depth 1, those spawn sessions of depth 2, and those spawn none.
pub const MOST_DEPTH: u32 = 2;

/// Sessions that have not been reported yet.
pub const MOST_OPEN: usize = 64;

/// Reported sessions that are kept, to be listed and depended on.
pub const MOST_KEPT: usize = 32;

/// Characters of an answer, and of all answers together that a session is given by those it depended on.
pub const MOST_ANSWER: usize = 4_000;
pub const MOST_GIVEN: usize = 8_000;

/// The answer of a review that found nothing to say.
pub const NO_ACTION: &str = "[NO_ACTION]";

/// The answer of a look in own time that found nothing to say: one word, for a quick model.
pub const NOTHING: &str = "NOTHING";

/// Mode of a session: the prompts and tools it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Looks, reads the web, writes papers and files.
    #[default]
    Minimal,
    /// Purpose, what is remembered, and every tool.
    Full,
    /// Looks, reads the web and runs commands; of the standing prompt only what each session must know.
    BaseOnly,
    /// The same tools, with no standing prompt at all.
    None,
}

/// Origin of a session: who wanted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A thought or a session called the tool: `thought-12` or `session-3`.
    Tool {
        parent: String,
    },
    Pulse(String),
    Reminder(String),
    Checklist,
    Dream,
    /// A look that the creature takes in its own time, by its kind, as in `sources`.
    Own(String),
}

impl Default for Origin {
    fn default() -> Self {
        Self::Tool { parent: String::new() }
    }
}

/// Status of a session: how far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Waiting,
    Running,
    Done,
    Failed,
    Cancelled,
}

impl Status {
    pub fn ended(self) -> bool {
        !matches!(self, Status::Waiting | Status::Running)
    }

    pub fn name(self) -> String {
        items::name(self)
    }
}

/// Session: an objective that runs apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// As in `session-7`.
    pub id: String,
    pub origin: Origin,
    pub depth: u32,
    /// The root thread: where its report goes.
    pub thread: String,
    /// Whether it works on the owner's own request.
    pub owner: bool,
    pub objective: String,
    pub mode: Mode,
    /// The only tools it may use; empty: all of its mode.
    pub tools: Vec<String>,
    /// The model that works on it, by its whole name, and how much that thinks; empty: the usual of its mode.
    pub model: String,
    pub effort: String,
    pub depends_on: Vec<String>,
    pub not_before: Option<Timestamp>,
    pub status: Status,
    pub spawned_at: Timestamp,
    /// The hop it is in, from 1; 0 before it starts.
    pub hop: u32,
    pub hop_began: Timestamp,
    pub hop_rounds: u32,
    /// Cost of the hop so far, in millionths of a dollar; 0 where no price is known.
    pub hop_cost: u64,
    /// Replies in a row that could not be read.
    pub misread: u32,
    /// Thoughts in a row with calls of which none did anything: each was refused, or failed.
    pub fruitless: u32,
    /// Lives that ended while it had an open call.
    pub cuts: u32,
    /// Calls it made that have no result yet; the first may be under way.
    pub acting: Vec<String>,
    /// Answers of the sessions it depended on.
    pub given: Vec<String>,
    /// Its answer, or why it failed.
    pub answer: String,
    pub ended_at: Option<Timestamp>,
    pub reported: bool,
}

impl Session {
    /// The session in one line.
    pub fn line(&self) -> String {
        let how = match self.status {
            Status::Running => format!("running, hop {}, {} thoughts in it", self.hop, self.hop_rounds),
            Status::Waiting => match (self.depends_on.is_empty(), self.not_before) {
                (false, _) => format!("waits for {}", self.depends_on.join(", ")),
                (true, Some(at)) => format!("waits until {at:.0}"),
                (true, None) => "waits for its turn".to_owned(),
            },
            ended => ended.name().to_owned(),
        };
        format!("{} ({how}): {}", self.id, clip(&self.objective, 120))
    }
}

/// All sessions, replaced whole in `.self/mind/sessions.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sessions {
    /// The number of the last session spawned.
    pub next: u64,
    pub all: Vec<Session>,
    /// Keys that only a newer self knows, written back as they are so that a rollback does not lose them.
    #[serde(flatten)]
    pub newer: Map<String, Value>,
}

impl Sessions {
    pub fn get(&self, id: &str) -> Option<&Session> {
        self.all.iter().find(|session| session.id == id)
    }

    pub fn running(&self) -> impl Iterator<Item = &Session> {
        self.all.iter().filter(|session| session.status == Status::Running)
    }

    /// Whether a session runs, can start, or waits to be reported.
    pub fn needs_work(&self, now: Timestamp) -> bool {
        self.running().next().is_some()
            || self.all.iter().any(|session| self.ready(session, now))
            || self.unreported().next().is_some()
    }

    /// Returns the time sessions next need work: `now` where they do; none where none waits for a time alone.
    pub fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        if self.needs_work(now) {
            return Some(now);
        }
        let free = self.all.iter().filter(|session| session.status == Status::Waiting && self.fed(session));
        free.filter_map(|session| session.not_before).min()
    }

    /// The ids of the sessions that run, or could at once.
    pub fn at_work(&self, now: Timestamp) -> Vec<String> {
        let work = self.all.iter().filter(|one| one.status == Status::Running || self.ready(one, now));
        work.map(|session| session.id.clone()).collect()
    }

    /// The sessions that have not ended, a line each.
    pub fn lines(&self) -> Vec<String> {
        self.all.iter().filter(|session| !session.status.ended()).map(Session::line).collect()
    }

    /// Whether all that a session depends on are done.
    fn fed(&self, session: &Session) -> bool {
        let done = |id: &String| self.get(id).is_some_and(|on| on.status == Status::Done);
        session.depends_on.iter().all(done)
    }

    fn ready(&self, session: &Session, now: Timestamp) -> bool {
        session.status == Status::Waiting
            && session.not_before.is_none_or(|at| at <= now)
            && self.fed(session)
    }
}
