//! Applies an edit or a patch to a text. Pure.

mod body;
pub mod diff;
pub mod hunks;
mod names;
mod nearest;
pub mod replace;
pub mod unified;
