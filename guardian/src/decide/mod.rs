//! Decides, without touching files, clock or processes: from what is known and an event to the next actions. Pure.

pub mod blame;
pub mod conduct;
pub mod longevity;
pub mod messages;
pub mod policy;
pub mod probation;
pub mod recovery;
pub mod revival;
pub mod shared_state;
pub mod verdict;
pub mod vocabulary;
pub mod witness;
