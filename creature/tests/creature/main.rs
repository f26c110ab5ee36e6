//! Every test of the creature's own crate, in one binary: they run inside each self-edit, and one links faster than ten.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod agenda;
mod bad_state;
mod boundary;
mod broker;
mod broker_away;
mod config;
mod context;
mod context_caps;
mod digest;
mod endings;
mod formats;
mod guardian_post;
mod heartbeat;
mod house;
mod instinct;
mod life;
mod llm;
mod models;
mod patch;
mod patch_damage;
mod process;
mod rehearsal;
mod replace;
mod self_edit;
mod senses;
mod services;
mod setbacks;
mod spawning;
mod subsessions;
mod thought;
mod tools;
mod yard;
