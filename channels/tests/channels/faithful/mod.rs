//! Servers that keep the platforms' published rules, on this machine.

pub mod discord;
pub mod listening;
pub mod matrix;
pub mod relay;
pub mod slack;
pub mod smtp;
pub mod telegram;
