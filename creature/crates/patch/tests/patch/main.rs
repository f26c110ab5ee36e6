//! Every test of self-edits that needs no life, in one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod boundary;
mod damage;
mod diff;
mod members;
mod rehearsal;
mod replace;
mod yard;
