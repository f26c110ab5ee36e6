//! The stable workspace's shared house: records, printing, the owner's settings and times, and all of `ground`.
//!
//! Nothing here decides or starts anything. The creature's workspace shares its files, never these types.

pub mod asks;
pub mod beyond;
pub mod broker_page;
pub mod called;
pub mod channels;
pub mod decimal;
pub mod find;
pub mod heartbeat;
pub mod instance;
pub mod lines;
pub mod makers;
pub mod minds;
pub mod moments;
pub mod mutex;
pub mod own_time;
pub mod records;
pub mod risky;
pub mod sealed;
pub mod secret_beginnings;
pub mod servers;
pub mod settings;
pub mod shared;
pub mod space;
pub mod standing;
pub mod terminal;
pub mod window;

pub use ground::{
    House, apart, at_work, bounds, clock, files, hidden, interrupt, openat, outlet, paths, plain, printable,
    refused, repair,
};
