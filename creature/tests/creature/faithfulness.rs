//! The faithful servers themselves: each rule refuses what breaks it and takes what keeps it.

mod anthropic;
mod cache;
mod chat;
pub mod client;
mod fields;
mod media;
mod responses;
