//! What an edit or a patch makes of a text. Pure.

mod body;
pub mod diff;
pub mod hunks;
mod names;
mod nearest;
pub mod replace;
pub mod unified;
