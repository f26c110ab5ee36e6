//! Every test of self-edits that needs no life, in one binary.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod boundary;
mod cases;
mod change;
mod damage;
mod diagnostics;
mod diff;
mod hostile;
mod judged;
mod members;
mod packages;
mod proof;
mod rehearsal;
mod replace;
mod trees;
mod yard;
