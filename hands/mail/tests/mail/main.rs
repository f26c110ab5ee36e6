//! Tests of the mail hand: its pure parts as data.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods
)]

mod looks;
mod sends;
mod settings;
