//! Servers that keep the platforms' published rules, on this machine.

pub mod matrix;
pub mod relay;
pub mod smtp;
pub mod telegram;
