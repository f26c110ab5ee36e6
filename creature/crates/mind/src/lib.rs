//! The mind that is a model: what it is shown of a moment, its conversations, and what it answers as a thought.
//!
//! Invariant: values in (`Moment`, `ModelSettings`, `ToolList`), values out (`Thought`, `Outcome`). It runs no tool and keeps
//! nothing but its conversations and what it found out about servers.

mod apart;
pub mod context;
pub mod conversation;
pub mod extract;
pub mod grown;
pub mod handover;
mod live;
pub mod llm;
pub mod moment;
mod native;
mod outcome;
pub mod prompt;
mod reach;
pub mod rhythm;
mod runtime;
mod servers;
mod settings;
mod shape;
pub mod sight;
pub mod situation;
pub mod standing;
mod summing;
mod talk;
pub mod talks;
pub mod thought;
mod tool_list;
pub mod transcript;

pub use outcome::{Down, Outcome, Why};
pub use settings::{ModelSettings, ToolForm};
pub use tool_list::{KnownTool, Listed, MORE, ToolList};
