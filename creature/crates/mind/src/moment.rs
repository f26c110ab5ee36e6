//! Moment that a mind is given to think about: everything sensed and recalled, already read, nothing fetched later.

use agenda::stack::Line;
use agenda::standing::Standing;
use jiff::tz::TimeZone;
use memory::Record;
use serde::{Deserialize, Serialize};

/// The world as one wake finds it. A mind sees nothing else.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// UTC now, RFC 3339.
    pub now: String,
    /// The owner's time zone; none is UTC.
    pub time_zone: Option<TimeZone>,
    pub life: u64,
    /// Commit this life runs, full sha.
    pub commit: String,
    /// This life runs with `FERAL_SAFE=1`: no memory tail, no tools but talking.
    pub safe: bool,
    /// This life is a rehearsal: a copy of the house, nothing outward.
    pub rehearsal: bool,
    /// Thoughts completed over all lives, this one not counted.
    pub thoughts_before: u64,
    /// Round within this wake, 0 first.
    pub round: u32,
    /// Rounds a wake may have; 0 where that is not known.
    pub rounds: u32,
    /// Text of `PURPOSE.md`, capped; empty when missing.
    pub purpose: String,
    /// `PURPOSE.md` differs from what the last thought saw.
    pub purpose_changed: bool,
    /// Text of `self/HEARTBEAT.md`, capped; empty when missing.
    pub checklist: String,
    /// Head of `self/scratch.md`, capped.
    pub scratch: String,
    /// The owner's skills, each its path and what it is for, by name; then those of its own.
    pub skills: Vec<String>,
    pub own_skills: Vec<String>,
    /// The owner's words of this thread not yet answered, oldest first.
    pub words: Vec<Word>,
    /// Number of `words`, counted from the end, that no thought has been shown yet.
    pub unseen: usize,
    /// Deaths, falls and the owner's decisions not yet told of, oldest first, as plain sentences.
    pub news: Vec<String>,
    /// Text of the last snapshot, if any.
    pub snapshot: Option<String>,
    /// The newest records, oldest first.
    pub records: Vec<Record>,
    /// Shortest and longest rest this thought may choose, in seconds.
    pub rest_s: (u64, u64),
    /// State of the money, in one line; empty where no budget is kept.
    pub budget: String,
    /// A warning about the money, or why calls are stopped; empty when all is well.
    pub alarm: String,
    /// Reason that the model gives no answer; empty where it does, or where there is none.
    pub outage: String,
    /// The broker did not say which model it offers: there may be one.
    pub unconsulted: bool,
    /// The self-edit this life was started with, or the one that was put back; empty where neither.
    pub born: String,
    /// Packages that may be installed, and how; empty where none may.
    pub packages: String,
    /// The creature's unfinished draft of its source, in a line; empty where there is none.
    pub draft: String,
    /// Acts that wait for the owner's yes.
    pub asks_waiting: u64,
    /// The owner's own request is worked on; else the creature acts by itself.
    pub owner: bool,
    /// The thread of talk this thought belongs to; empty is `main`.
    pub thread: String,
    /// Reasons that this wake needs a thought.
    pub reasons: Vec<String>,
    /// The goals with their checkpoints, a line each, by rank.
    pub goals: String,
    /// The brief for time of its own; empty where this thought has another reason.
    pub own: String,
    /// The priority stack, highest rank first.
    pub stack: Vec<Line>,
    /// The owner's directives that hold now, a sentence each, newest first.
    pub directives: Vec<String>,
    /// A directive pauses all work but the owner's.
    pub paused: bool,
    /// The owner's open requests, a line each: how far they are, what is next, which tools they allow.
    pub requests: Vec<String>,
    /// Wishes of the owner and what was done about them; none in a thought that answers the owner.
    pub standing: Option<Standing>,
    /// Sub-sessions at work, a line each.
    pub sessions: Vec<String>,
}

impl Moment {
    /// Whether this thought answers the owner.
    pub fn answers(&self) -> bool {
        self.owner || !self.words.is_empty()
    }

    /// The name of its thread.
    pub fn thread(&self) -> &str {
        if self.thread.is_empty() { "main" } else { &self.thread }
    }
}

/// Message of the owner's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// Time at which it was written, RFC 3339; empty when the line did not say.
    pub at: String,
    pub text: String,
    /// The thread of talk it belongs to.
    #[serde(default = "main_thread")]
    pub thread: String,
}

/// The thread of words that name none.
pub fn main_thread() -> String {
    "main".to_owned()
}
