//! What an edit or a patch makes of a text. Pure.

pub mod diff;
pub mod hunks;
mod nearest;
pub mod replace;
