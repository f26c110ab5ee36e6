//! The platforms there are, each a file.

pub mod telegram;
