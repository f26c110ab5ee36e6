//! Values that one stage returns and the next is given: the reasons of a wake, what was sensed, a stop, a call's doing, a rest.

use crate::senses::cursors::Waiting;
use crate::store::caller::Caller;
use agenda::stack::Line;
use mind::moment::Moment;
use std::collections::BTreeSet;
use std::time::Duration;

/// Reasons a wake thinks for; without a reason it does not.
#[derive(Clone, Debug, Default)]
pub struct Reasons {
    pub why: Vec<String>,
    /// A look of instinct's within an hour of a recorded one: it leaves no record.
    pub unrecorded: bool,
    /// A call of another thought runs: the owner alone is answered, and no other work is done.
    pub beside: bool,
}

/// Moment of a thought, and what was read for the thought that the moment does not hold.
pub struct Sensed {
    pub moment: Moment,
    /// Thoughts this wake had before.
    pub(crate) round: u32,
    pub(crate) reasons: Reasons,
    /// Caller in whose name the thought is had.
    pub(crate) caller: Caller,
    /// The request this wake is for, where no thought of it was had for that yet.
    pub(crate) request: Option<String>,
    pub(crate) shown: Shown,
}

/// Events and line that are not told again once a thought of its own was shown them.
pub(crate) struct Shown {
    pub events: Vec<String>,
    /// The first ready line of the stack; only in the first round of a wake, for later ones see another because that
    /// one was done.
    pub line: Option<Line>,
}

/// Consequence of a wake, or of a rest.
pub enum Next {
    Rest(Duration),
    /// Summary of the self-edit to be born of.
    Reborn(String),
    Leave,
}

/// Rest that thoughts end with, before what comes due shortens it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    pub lasts: Duration,
    /// The last thought also said that its work is done: only what is new or due shortens the rest.
    pub said_done: bool,
    /// The mind failed, or said nothing new: nothing that waits shortens the rest.
    pub setback: bool,
}

/// Consequence of one round of a wake: another, or the end of its thoughts.
pub(crate) enum Round {
    Again(Done),
    Ends(Ends),
}

/// End of the thoughts of a wake.
pub(crate) enum Ends {
    Rest(Rest),
    Leave,
}

/// Calls so far: whether they did more than look or ended the work, and how to go on.
#[derive(Default)]
pub(crate) struct Done {
    /// A call did more than look.
    pub progress: bool,
    /// A call said that the work is complete.
    pub completed: bool,
    pub then: Then,
}

/// How the calls of a thought go on after one of them.
#[derive(Default)]
pub(crate) enum Then {
    #[default]
    On,
    /// The owner spoke, and the call goes on in the background: the others are not run.
    Heard,
    /// The owner said stop.
    Stopped(Stop),
    /// The life was asked to leave.
    Left,
}

/// The owner's word that means stop, until it is obeyed.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    pub thread: String,
    /// The thread of the owner's whose work was under way, if it was the owner's.
    pub work: Option<String>,
    /// Work that was ended, in words for the owner.
    pub ended: Vec<String>,
    /// Words that waited for an answer when it was said, and wait no longer.
    pub cancelled: Vec<Waiting>,
    /// The threads whose work and words it ended.
    pub threads: BTreeSet<String>,
}

impl Stop {
    /// Takes in one that was said before this and is not obeyed yet.
    pub fn after(mut self, earlier: Option<Self>) -> Self {
        let Some(earlier) = earlier else { return self };
        self.work = self.work.or(earlier.work);
        self.ended.splice(0..0, earlier.ended);
        self.cancelled.splice(0..0, earlier.cancelled);
        self.threads.extend(earlier.threads);
        self
    }
}
