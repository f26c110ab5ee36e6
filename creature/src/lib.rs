//! The creature: senses, thinks, acts, remembers, rests, and rewrites itself.

pub mod clock;
pub mod config;
pub mod digest;
pub mod dream;
pub mod examine;
pub mod guardian_post;
pub mod heartbeat;
pub mod jobs;
pub mod life;
pub mod lifeline;
pub mod mind;
pub mod models;
pub mod pace;
pub mod panic;
pub mod rehearse;
pub mod senses;
pub mod store;
pub mod subsessions;
pub mod tools;
pub mod watches;

pub use ground::{fault, paths, process};
