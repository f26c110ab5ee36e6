//! The course of a life: what is known from one wake to the next, and lost with the life.

use crate::life::stop::Stop;
use jiff::Timestamp;

/// Seconds between two records of looks that found nothing.
const TOLD_EVERY_S: i64 = 3_600;

/// The state of this life from wake to wake; losing it costs no more than a thought.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// A thought of this life was completed.
    pub proven: bool,
    /// Why this wake thinks.
    pub why: Vec<String>,
    /// A thought of its own was had in this wake: what it leaves counts for its reason.
    pub asked: bool,
    /// What an autonomous thought meant to do, while it wants another round.
    pub busy: Option<String>,
    /// Wakes in a row that ended before their work did: out of rounds, or by a mind that failed.
    pub overran: u32,
    /// The owner's threads that want another round, the one under way first.
    pub threads: Vec<String>,
    /// When the wake under way began; none before the first.
    pub began: Option<Timestamp>,
    /// What the last act came to, in a line.
    pub last_act: String,
    /// A call of this wake did more than look.
    pub progress: bool,
    /// The rest that a thought chose last.
    pub rest: Option<ChosenRest>,
    /// Wakes in a row that thought nothing.
    pub quiet: u64,
    pub purpose_changed: bool,
    /// Mark of the checklist the thought under way was shown.
    pub checklist: String,
    /// Papers of knowledge that somebody else changed, by their paths from the house.
    pub changed: Vec<String>,
    /// The last thought also said that its work is done: only what is new or due shortens the rest.
    pub said_done: bool,
    pub emptied: Emptied,
    /// The feed was told that the owner's pause began.
    pub pause_told: bool,
    /// Wakes in a row that asked a model with nobody waiting for it.
    pub restless: u32,
    /// Threads whose conversations are to be summed up; none is its own work.
    pub to_compact: Vec<Option<String>>,
    /// The settings file as it was last read.
    pub handed: Vec<u8>,
    /// The owner is answered while a call runs beside the life: no other work meanwhile.
    pub beside: bool,
    /// When a thought was first shown what this life was born with.
    pub born_told: Option<Timestamp>,
    /// The owner's thread that is worked for just now.
    pub works_for: Option<String>,
    /// The owner's word that means stop, until it is obeyed.
    pub stop: Option<Stop>,
    /// The owner spoke while a call ran: the other calls of its thought are not run.
    pub heard_meanwhile: bool,
    /// Ends of jobs that were begun for the owner, by thread, until a thought on it has them.
    pub ended_jobs: Vec<(String, String)>,
    /// When a thought last had the unfinished draft before it.
    pub draft_seen: Option<Timestamp>,
    /// Papers earlier looks left that this wake read; used once something is made of them.
    pub read: Vec<String>,
    /// What the look under way has cost so far, in dollars.
    pub own_usd: f64,
    /// The dream is due and cannot be had: it shortens no rest.
    pub dreamless: bool,
    pub looks: Looks,
}

/// A rest that a thought chose: until it ends, what was there when it began is no reason to think.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ChosenRest {
    pub began: Timestamp,
    pub until: Timestamp,
}

impl ChosenRest {
    pub fn holds(&self, now: Timestamp) -> bool {
        self.began <= now && now < self.until
    }
}

/// The empty answers since the last answer that was not empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Emptied {
    /// The last thought had only words, and wanted another round.
    pub spoke: bool,
    /// Empty answers in a row.
    pub times: u32,
    /// The reasons for a thought that still stood after the last empty answer.
    pub reasons_left: Vec<String>,
    /// Until when those reasons call for no thought.
    pub until: Option<Timestamp>,
}

impl Emptied {
    /// Until when these reasons call for no thought; none where they do, for they are others or the time is over.
    pub fn holds(&self, why: &[String], now: Timestamp) -> Option<Timestamp> {
        self.until.filter(|until| now < *until && self.reasons_left == why)
    }
}

/// Which of instinct's looks leave a record.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    /// This wake is a look within an hour of a recorded one: it leaves no record.
    pub unrecorded: bool,
    /// When a look was last recorded.
    told_at: Option<Timestamp>,
}

impl Looks {
    /// Begins a wake; `looks` where looking around is its only reason.
    pub fn wake(&mut self, looks: bool, now: Timestamp) {
        let since_s = self.told_at.map(|at| now.duration_since(at).as_secs());
        // After a clock that was set back the look is recorded.
        self.unrecorded = looks && since_s.is_some_and(|since_s| (0..TOLD_EVERY_S).contains(&since_s));
        if looks && !self.unrecorded {
            self.told_at = Some(now);
        }
    }
}
