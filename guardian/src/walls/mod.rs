//! The walls around the creature: what the operating system holds, found out at start and put up before every exec.

pub mod network;
