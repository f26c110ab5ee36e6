//! The senses: what is read from the house before a thought, each with a cap on what it costs.

pub mod asks;
pub mod born;
pub mod budget;
pub mod cursors;
pub mod guardian;
pub mod inbox;
pub mod news;
pub mod packages;
pub mod typing;
pub mod watch;
