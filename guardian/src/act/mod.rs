//! Carries out the policy's actions and reports what came of them as events; reads and writes the guardian's state files.

pub mod asks;
pub mod binaries;
pub mod broker_process;
pub mod build;
pub mod commits;
pub mod conduct;
pub mod console_process;
pub mod controls;
pub mod ends;
pub mod exam;
pub mod executor;
pub mod fall;
pub mod first_minutes;
pub mod heartbeat;
pub mod jobs;
pub mod made;
pub mod notices_process;
pub mod perform;
pub mod quotas;
pub mod reload;
pub mod report;
pub mod requests;
pub mod set_aside;
pub mod small_process;
pub mod state;
pub mod tokens;
