//! The agenda tested as data, and by properties against simple models.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod directive;
mod foreign;
mod goals;
mod items;
mod kept;
mod opportunities;
mod outbox;
mod own;
mod pulse;
mod reasons;
mod reminder;
mod repeat;
mod requests;
mod rest;
mod sessions;
mod sessions_model;
mod stack;
mod standing;
mod waking;
mod yes;
