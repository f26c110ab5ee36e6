//! The channels, each before a server that holds to its platform's documents.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::wildcard_enum_match_arm
)]

mod faithful;
mod telegram;
mod telegram_heard;
mod telegram_rules;
