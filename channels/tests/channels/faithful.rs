//! Servers on loopback that keep what the platforms publish.

pub mod discord;
pub mod slack;
