//! The guardian: keeps one self-editing creature alive, and is never edited by it.
//!
//! `run` is the loop: it hears, has `decide` step, and `act` carries out. No async, no network, no model.

pub mod act;
pub mod asks;
pub mod audit;
pub mod custody;
pub mod decide;
pub mod doctor;
pub mod feed;
pub mod git;
pub mod help;
pub mod history;
pub mod limits;
pub mod minds;
pub mod orders;
pub mod own_time;
pub mod processes;
pub mod run;
pub mod settings;
pub mod start;
