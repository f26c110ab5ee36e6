//! The creature: senses, thinks, acts, remembers, rests, and rewrites itself.

pub mod birth;
pub mod clock;
pub mod config;
pub mod desk;
pub mod digest;
pub mod dream;
pub mod endings;
pub mod fault;
pub mod feed;
pub mod guardian_post;
pub mod heartbeat;
pub mod keepsake;
pub mod last_words;
pub mod life;
pub mod mind;
pub mod outlook;
pub mod pace;
pub mod paths;
pub mod process;
pub mod rehearse;
pub mod self_edit;
pub mod senses;
pub mod setbacks;
pub mod subsessions;
pub mod tools;
pub mod wakes;
