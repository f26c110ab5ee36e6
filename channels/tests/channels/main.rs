//! Channels: what each part decides, the whole over a house and platforms, and each platform before a server that holds to
//! its documents.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod faithful;
mod form;
mod home;
mod judged;
mod kept;
mod killed;
mod meant;
mod parted;
mod pressed;
mod said;
mod telegram;
mod telegram_heard;
mod telegram_rules;
mod told;
