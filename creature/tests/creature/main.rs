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
mod dream;
mod endings;
mod formats;
mod guardian_post;
mod heartbeat;
mod house;
mod instinct;
mod keepsakes;
mod knowing;
mod life;
mod llm;
mod models;
mod owners;
mod patch;
mod patch_damage;
mod permission;
mod process;
mod rehearsal;
mod replace;
mod self_edit;
mod senses;
mod services;
mod setbacks;
mod spawning;
mod standing;
mod subsessions;
mod thought;
mod tools;
<<<<<<< HEAD
mod week;
=======
mod wakes;
>>>>>>> mind-d
mod yard;
