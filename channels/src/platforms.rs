//! The platforms: a file each.

pub mod mail;
pub mod matrix;
