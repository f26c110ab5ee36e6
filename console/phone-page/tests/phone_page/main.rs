//! The page beyond this machine as browsers and attackers meet it: a real program, real TLS, files and terminals.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod another_host;
mod certificates;
mod client;
mod commands;
mod guarded;
mod guesses;
mod links;
mod seats;
mod served;
mod sessions;
mod spoilt;
