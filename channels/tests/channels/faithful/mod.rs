//! Servers on loopback that hold to what the platforms document; each rule names its section.

pub mod relay;
pub mod telegram;
