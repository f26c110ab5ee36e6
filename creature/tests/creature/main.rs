//! Every test of the creature's own crate, in one binary: they run inside each self-edit, and one links faster than ten.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod agenda;
mod answers;
mod bad_state;
mod books;
mod born;
mod broker;
mod broker_away;
mod changing;
mod clock;
mod compacting;
mod config;
mod context;
mod digest;
mod draft;
mod dream;
mod endings;
mod events;
mod evidence;
mod examine;
#[path = "../faithful/mod.rs"]
mod faithful;
mod faithfulness;
mod followed;
mod formats;
mod forms;
mod forms_any;
mod guardian_post;
mod heartbeat;
mod hidden;
mod house;
mod inbox;
mod knowing;
mod life;
mod listing;
mod lived;
mod llm;
mod looking;
mod mapped;
mod models;
mod own_time;
mod owners;
mod pace;
mod packages;
mod pages;
mod paid;
mod panics;
mod patience;
mod pauses;
mod permission;
mod probation;
mod requests;
mod rests;
mod rights;
mod scanning;
mod seeing;
mod self_edit;
mod senses;
mod servers;
mod services;
mod shapes;
mod skills;
mod snapshots;
mod spawning;
mod spent;
mod spoken;
mod standing;
mod stopping;
mod subsessions;
mod table;
mod told_once;
mod tools;
mod transcript;
mod unfinished;
mod unneeded;
mod upkeep;
mod wakes;
mod watched;
mod watching;
mod yard;
