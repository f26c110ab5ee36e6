//! Secrets: the owner's keys, what else looks like one, and the encodings both are found in.

pub mod encodings;
pub mod keys;
pub mod patterns;
