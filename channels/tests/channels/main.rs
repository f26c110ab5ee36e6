//! Channels: what each part decides, and the whole over a house and platforms.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod form;
mod home;
mod judged;
mod kept;
mod killed;
mod meant;
mod parted;
mod pressed;
mod said;
mod told;
