//! What the laboratory says of itself is true: bricks are counted as such, every path of the formats has its trials, every harm and the demo its place, faults of words are seen, pictures show what was there.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]
#![allow(clippy::indexing_slicing, clippy::wildcard_enum_match_arm)]

mod bricks;
mod demo;
#[allow(dead_code)]
#[path = "../channels/fates.rs"]
mod fates;
mod formats;
mod harms;
mod pictures;
#[allow(dead_code)]
#[path = "../record/mod.rs"]
mod record;
#[allow(dead_code)]
#[path = "../survival/mod.rs"]
mod survival;
mod words;
