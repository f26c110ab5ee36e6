//! The executor: the parts that carry out the policy's actions, and what they share.
//!
//! Invariant: the executor decides nothing: events go to the policy by `heard`, actions come from it.

use crate::act::around::Around;
use crate::act::builder::Builder;
use crate::act::daemons::keep::Daemons;
use crate::act::ladder::Ladder;
use crate::act::living::Living;
use crate::decide::vocabulary::Event;
use house::clock::Millis;
use house::files::Mark;
use std::collections::VecDeque;

/// The parts that carry out the policy's actions, each with fields of its own, and what is around them all.
pub struct Executor {
    pub(crate) around: Around,
    /// Events for the policy to hear.
    pub(crate) heard: VecDeque<Event>,
    /// Git, the rungs and their binaries.
    pub(crate) ladder: Ladder,
    /// Cargo over the creature: its build, and the tests beside a first life.
    pub(crate) builder: Builder,
    /// The creature's process.
    pub(crate) living: Living,
    /// The owner's processes.
    pub(crate) daemons: Daemons,
    /// How the last life or build ended, for its record.
    pub(crate) end: End,
    pub(crate) order_seen: Option<Mark>,
}

/// The end of a life or build, with its evidence.
#[derive(Clone, Debug, Default)]
pub struct End {
    pub cause: String,
    pub lived_ms: Millis,
    pub log_tail: String,
}
