//! The manners of both workspaces and of their docs as a test: every complaint names a file, a line and what to do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod ceilings;
mod circles;
mod dependencies;
mod docs;
mod flows;
mod manners;
mod map;
mod owners_pages;
mod secrets;
mod settled_words;
mod sources;

/// How to write the map anew.
pub const RENEW: &str = "cargo test -p guardian --test tidy -- --ignored renew";

#[track_caller]
pub fn none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{} to mend:\n{}", complaints.len(), complaints.join("\n"));
}
