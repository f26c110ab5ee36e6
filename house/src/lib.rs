//! The stable workspace's shared ground: where everything is, crash-safe files, clock, records, printing, the owner's settings.
//!
//! Nothing here decides or starts anything. The creature's workspace shares its files, never these types.

pub mod apart;
pub mod asks;
pub mod at_work;
pub mod bounds;
pub mod broker_page;
pub mod called;
pub mod clock;
pub mod files;
pub mod find;
pub mod heartbeat;
pub mod instance;
pub mod interrupt;
pub mod lines;
pub mod makers;
pub mod minds;
pub mod moments;
pub mod openat;
pub mod outlet;
pub mod own_time;
pub mod paths;
pub mod plain;
pub mod printable;
pub mod records;
pub mod refused;
pub mod repair;
pub mod risky;
pub mod sealed;
pub mod secret_beginnings;
pub mod settings;
pub mod shared;
pub mod space;
pub mod standing;
pub mod terminal;
pub mod window;

pub use paths::House;
