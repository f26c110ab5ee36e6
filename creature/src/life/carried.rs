//! State that stages carry from wake to wake, a struct for each stage that owns it.

pub(super) mod newborn;
pub(super) mod scanned;
pub(super) mod unfinished;

use crate::jobs::Left;
use crate::store::Store;
use crate::store::caller::Caller;
use agenda::Change;
use agenda::repeat::Repeats;
use agenda::requests::RequestChange;
use jiff::Timestamp;

/// Seconds between two records of looks that found nothing.
const LOOK_RECORDED_EVERY_S: i64 = 3_600;

/// The wake under way, or the last one.
#[derive(Debug, Default)]
pub(crate) struct Wakes {
    pub began: Timestamp,
    /// Wakes in a row that thought nothing.
    pub quiet: u64,
    pub why: Vec<String>,
    /// Time at which a look of instinct's was last recorded.
    pub look_recorded_at: Option<Timestamp>,
    /// The feed was told that the owner's pause began.
    pub pause_told: bool,
}

/// Papers that changed, and those a thought was shown.
#[derive(Debug, Default)]
pub(crate) struct Papers {
    /// PURPOSE.md changed, and no thought of its own was told so.
    pub purpose_changed: bool,
    /// Mark of the checklist that was last shown to a thought, until one of its own had it.
    pub checklist: String,
    /// Papers of knowledge that somebody else changed, by their paths from the house.
    pub changed: Vec<String>,
    /// Time at which a thought last had the unfinished draft before it.
    pub draft_seen: Option<Timestamp>,
}

impl Wakes {
    /// Whether a look leaves no record, for another did within the hour; after a clock that was set back it does.
    pub fn is_unrecorded(&mut self, now: Timestamp) -> bool {
        let since_s = self.look_recorded_at.map(|at| now.duration_since(at).as_secs());
        let unrecorded = since_s.is_some_and(|since_s| (0..LOOK_RECORDED_EVERY_S).contains(&since_s));
        if !unrecorded {
            self.look_recorded_at = Some(now);
        }
        unrecorded
    }
}

/// Calls of this life: repeats, the last one, and what they leave to the life.
#[derive(Debug, Default)]
pub(crate) struct Acts {
    pub repeats: Repeats,
    /// Result of the last call, in a line.
    pub last: String,
    /// Summary of the self-edits that passed: from now on no call is begun, and the wake or the rest ends with a rebirth.
    pub rebirth: Option<String>,
}

impl Acts {
    /// Takes over what a call leaves to the life.
    pub fn take_over(&mut self, store: &mut Store, caller: &Caller, left: Left) {
        if let Some(summary) = left.rebirth {
            // Two edits that passed before the rebirth are born together and named together.
            let before = self.rebirth.take().filter(|before| *before != summary);
            self.rebirth = Some(before.map_or(summary.clone(), |before| format!("{before}; {summary}")));
        }
        for tool in left.used {
            store.made(caller, &Change::Request(RequestChange::Used { tool }));
        }
    }
}

/// A rest that a thought chose: until it ends, what was there when it began is no reason to think.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChosenRest {
    pub began: Timestamp,
    pub until: Timestamp,
}

/// Rests: the one chosen last, and answers that were empty.
#[derive(Debug, Default)]
pub(crate) struct Resting {
    /// The rest that a thought chose last.
    pub chosen: Option<ChosenRest>,
    pub emptied: Emptied,
    /// Wakes in a row that asked a model with nobody waiting for it.
    pub restless: u32,
}

impl Resting {
    /// Returns the rest that a thought chose, while it is not over.
    pub fn chosen(&self, now: Timestamp) -> Option<ChosenRest> {
        self.chosen.filter(|rest| rest.began <= now && now < rest.until)
    }

    /// Returns the time until which the rest lasts that a thought chose last.
    pub fn until(&self) -> Option<Timestamp> {
        self.chosen.map(|rest| rest.until)
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
    /// Time until which those reasons call for no thought.
    pub until: Option<Timestamp>,
}

impl Emptied {
    /// Returns the time until which these reasons call for no thought; none where they are others, or the time is over.
    pub fn holds(&self, why: &[String], now: Timestamp) -> Option<Timestamp> {
        self.until.filter(|until| now < *until && self.reasons_left == why)
    }
}
