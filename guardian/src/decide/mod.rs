//! Decides: pure, from what is known and what just happened to what is to be done next; no file, clock or process is touched.

pub mod blame;
pub mod longevity;
pub mod messages;
pub mod policy;
pub mod probation;
pub mod recovery;
pub mod revival;
pub mod verdict;
pub mod vocabulary;
