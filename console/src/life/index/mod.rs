//! The index of a life, made of the records and kept beside them; whatever is wrong with it, it is made anew.

pub mod bytes;
pub mod entry;
mod guarded;
pub mod known;
pub mod reason;
pub mod sources;
pub mod store;
mod take;
pub mod texts;
pub mod time;
