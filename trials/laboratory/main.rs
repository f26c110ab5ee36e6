//! What the laboratory says of itself is true: bricks are counted as such, and every path of the formats has its trials.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]
#![allow(clippy::indexing_slicing, clippy::wildcard_enum_match_arm)]

mod bricks;
mod formats;
#[allow(dead_code)]
#[path = "../survival/mod.rs"]
mod survival;
