//! Carries out the policy's actions and reports what came of them as events; reads and writes the guardian's state files.

pub mod asks;
pub mod binaries;
pub mod build;
pub mod commits;
pub mod conduct;
pub mod controls;
pub mod daemons;
pub mod ends;
pub mod exam;
pub mod executor;
pub mod fall;
pub mod first_fetch;
pub mod first_minutes;
pub mod greeting;
pub mod heartbeat;
pub mod made;
pub mod perform;
pub mod publish;
pub mod quotas;
pub mod reload;
pub mod report;
pub mod requests;
pub mod set_aside;
pub mod state;
pub mod tokens;
