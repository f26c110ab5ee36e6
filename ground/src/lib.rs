//! The ground that the guardian's first process and the walls stand on: paths, crash-safe files, clock, processes, printing.
//!
//! Nothing here decides, knows the owner's settings or a time zone, or logs. `house` passes all of it on.

pub mod apart;
pub mod asked;
pub mod at_work;
pub mod bounds;
pub mod checksum;
pub mod clock;
pub mod files;
pub mod hidden;
pub mod hunt;
pub mod interrupt;
pub mod lock;
pub mod openat;
pub mod outlet;
pub mod paths;
pub mod plain;
pub mod printable;
pub mod refused;
pub mod repair;
pub mod terminal;

pub use paths::House;
