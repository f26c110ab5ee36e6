//! Tests of the channels: each platform before a server that keeps its published rules.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod discord;
mod discord_sends;
mod faithful;
mod slack;
mod slack_sends;
