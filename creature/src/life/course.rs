//! The course of a life: what is known from one wake to the next, and lost with the life.

use agenda::stack::Line;
use jiff::Timestamp;

/// Seconds between two records of looks that found nothing.
const TOLD_EVERY_S: i64 = 3_600;

/// How the wakes of this life go; lost with it, at no more cost than a thought.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// A thought of this life was completed.
    pub proven: bool,
    /// Why this wake thinks.
    pub why: Vec<String>,
    /// What an autonomous thought meant to do, while it wants another round.
    pub busy: Option<String>,
    /// The rounds of the last wake were not enough; how often in a row.
    pub overran: u32,
    /// The thread of the owner's whose request wants another round.
    pub on: Option<String>,
    /// Wakes in a row that thought nothing.
    pub quiet: u64,
    /// Until then the mind is not asked, unless by the owner's word.
    pub down_until: Option<Timestamp>,
    pub purpose_changed: bool,
    /// The budget is nearly gone.
    pub poor: bool,
    /// Mark of the checklist the thought under way was shown.
    pub checklist: String,
    /// Events it was shown.
    pub shown: usize,
    /// The first ready line of the stack it was shown, once a wake.
    pub line: Option<Line>,
    /// Papers of knowledge that another changed.
    pub changed: Vec<String>,
    /// The mind failed in this wake: its rest stands, whatever waits.
    pub setback: bool,
    /// The last thought chose its rest itself.
    pub chose: bool,
    /// And said that its work is done: only what is new or due comes sooner.
    pub ended: bool,
    pub emptied: Emptied,
    /// The owner's pause was told in the feed.
    pub held: bool,
    /// Wakes in a row that asked a model with nobody waiting for it.
    pub restless: u32,
    /// How the way to a model was when it was last looked at.
    pub way: Option<String>,
    /// Instinct answers in the mind's place.
    pub stands_in: bool,
    /// The owner's word stopped sub-sessions.
    pub stopped: bool,
    /// The owner is answered while a call of its own work runs: no other work meanwhile.
    pub beside: bool,
    /// When a thought last had the unfinished draft before it.
    pub draft_seen: Option<Timestamp>,
    /// What earlier looks left and this wake read, until something is made of it.
    pub read: Vec<String>,
    /// What the look under way was paid so far.
    pub own_usd: f64,
    /// The dream is due and cannot be had: no wake comes sooner for it.
    pub dreamless: bool,
    pub looks: Looks,
}

/// What empty answers came to since the last that was none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Emptied {
    /// The thought before had only words, and wanted another round.
    pub spoke: bool,
    /// Empty answers in a row.
    pub times: u32,
    /// The reasons for a thought that were left after the last one.
    pub left: Vec<String>,
    pub until: Option<Timestamp>,
}

impl Emptied {
    /// Until when these reasons are none.
    pub fn holds(&self, why: &[String], now: Timestamp) -> Option<Timestamp> {
        self.until.filter(|until| now < *until && self.left == why)
    }
}

/// How the looks of this life go.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    /// This wake is one more look, of which no record need tell.
    pub dull: bool,
    /// When one was last told of.
    told_at: Option<Timestamp>,
}

impl Looks {
    /// A wake begins; `looks` where it has no other reason.
    pub fn wake(&mut self, looks: bool, now: Timestamp) {
        let since_s = self.told_at.map(|at| now.duration_since(at).as_secs());
        // After a clock that was set back it is told of anew.
        self.dull = looks && since_s.is_some_and(|since_s| (0..TOLD_EVERY_S).contains(&since_s));
        if looks && !self.dull {
            self.told_at = Some(now);
        }
    }
}
