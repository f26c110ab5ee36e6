//! The views, one a file: each is made of the facts that a command of the terminal tells as well.

pub mod now;
pub mod talk;
