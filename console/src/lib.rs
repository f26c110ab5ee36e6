//! The owner's side: asks that wait, events, costs, faults; read from records and state.
//!
//! No decision depends on it, and the creature lives without it. It writes nothing but the owner's
//! words, answers and corrections, lines of `owner.toml` they said yes to, codes of pairings, what they were told, morning reports, and the page's
//! link and index; while nobody lives there, what the owner restores and merges.

pub mod agenda;
pub mod asks;
pub mod audit;
pub mod back;
pub mod backup;
pub mod budget;
pub mod channels;
pub mod commands;
pub mod completions;
pub mod diff;
pub mod doctor;
pub mod edits;
pub mod feed;
pub mod goals;
pub mod history;
pub mod life;
pub mod manual;
pub mod markdown;
pub mod mcp;
pub mod mind;
pub mod notices;
pub mod owners;
pub mod page;
pub mod plain;
pub mod report;
pub mod rollback;
pub mod say;
pub mod skills;
pub mod update;
pub mod why;
pub mod window;
pub mod words;
