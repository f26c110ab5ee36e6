//! The owner's side: what waits for a yes or no, what happened, what it cost, what is missing; read from records and state.
//!
//! No decision depends on it, and the creature lives without it. It writes nothing but the owner's words and answers.

pub mod asks;
pub mod audit;
pub mod doctor;
pub mod feed;
pub mod help;
pub mod history;
pub mod report;
pub mod say;
