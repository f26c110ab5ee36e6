//! Ground shared by every part of the creature: where files are, how a failure is told, how a command is run.

pub mod checklist;
pub mod fault;
pub mod files;
pub mod pages;
pub mod papers;
pub mod paths;
pub mod process;
pub mod sentences;
pub mod summary;
pub mod text;
