//! The faithful servers themselves: each rule refuses what breaks it and takes what keeps it.

mod anthropic;
mod chat;
mod client;
