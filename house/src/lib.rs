//! The stable workspace's shared ground: where everything is, crash-safe files, clock, records, printing, the owner's settings.
//!
//! Nothing here decides or starts anything. The creature's workspace shares its files, never these types.

pub mod bounds;
pub mod clock;
pub mod files;
pub mod interrupt;
pub mod lines;
pub mod moments;
pub mod openat;
pub mod paths;
pub mod plain;
pub mod printable;
pub mod records;
pub mod repair;
pub mod settings;
pub mod terminal;

pub use paths::House;
