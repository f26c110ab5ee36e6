//! Channels: where the owner talks with the creature from a chat of their own; each platform is a file, all else is shared.

pub mod channel;
pub mod door;
pub mod platforms;
