//! The creature: senses, thinks, acts, remembers, rests, and rewrites itself.

pub mod birth;
pub mod config;
pub mod digest;
pub mod endings;
pub mod fault;
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
pub mod tools;
