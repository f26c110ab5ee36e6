//! What a patch or an edit makes of a text. Pure.

pub mod diff;
pub mod hunks;
pub mod replace;
pub mod unified;
