//! The index of a life, made of the records and kept beside them in SQLite; whatever is wrong with it, it is made anew.

pub mod base;
mod guarded;
pub mod reason;
pub mod rows;
pub mod seen;
pub mod sources;
mod take;
pub mod texts;
pub mod time;
