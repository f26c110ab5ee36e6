//! All tests of the channels in one binary: it links once, and those that wait do so side by side.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod attached;
mod attacked;
mod careless;
mod discord;
mod discord_sends;
mod door;
mod faithful;
mod form;
mod home;
mod judged;
mod kept;
mod killed;
mod mail_proven;
mod mail_reading;
mod mail_sends;
mod matrix;
mod matrix_events;
mod meant;
mod parted;
mod pressed;
mod said;
mod slack;
mod slack_sends;
mod telegram;
mod telegram_heard;
mod telegram_rules;
mod telegram_sends;
mod told;
mod tunnelled;
mod walked;
