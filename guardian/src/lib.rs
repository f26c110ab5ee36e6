//! The guardian: keeps one self-editing creature alive, and is never edited by it.
//!
//! `policy` decides and `perform` acts; `run` is the loop between them. No async, no network, no model.

pub mod asks;
pub mod audit;
pub mod beneath;
pub mod binaries;
pub mod blame;
pub mod build;
pub mod cargo_home;
pub mod child;
pub mod clock;
pub mod commits;
pub mod companion;
pub mod custody;
pub mod doctor;
pub mod ends;
pub mod feed;
pub mod files;
pub mod heartbeat;
pub mod history;
pub mod house;
pub mod limits;
pub mod locks;
pub mod longevity;
pub mod orders;
pub mod perform;
pub mod policy;
pub mod quotas;
pub mod records;
pub mod recovery;
pub mod reload;
pub mod repo;
pub mod report;
pub mod requests;
pub mod revival;
pub mod run;
pub mod settings;
pub mod start;
pub mod state;
pub mod tokens;
pub mod tree;
pub mod trusted;
pub mod verdict;
pub mod vocabulary;
pub mod walls;
pub mod way;
