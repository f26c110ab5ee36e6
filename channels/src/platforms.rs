//! The platforms: a file each, and what two of them share on the wire.

pub mod calls;
pub mod discord;
pub mod slack;
pub mod websocket;
