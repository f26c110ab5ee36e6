//! The owner's daemons: one table of them, one mechanism that builds, starts, watches and ends them, and what each has of its own.

pub mod broker;
pub mod channels;
pub mod door;
pub mod hands;
pub mod jobs;
pub mod keep;
pub mod notices;
pub mod phone_page;
pub mod small;
pub mod table;
pub mod window;
