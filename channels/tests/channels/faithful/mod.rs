//! Servers that keep the platforms' published rules, on this machine.

pub mod matrix;
pub mod smtp;
