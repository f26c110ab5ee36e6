//! Approvals: acts that wait for the owner, and the owner's answers.

pub mod act;
pub mod answers;
pub mod ask_files;
pub mod asks;
pub mod purpose;
