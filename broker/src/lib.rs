//! The broker: the creature's only way out. It holds keys, money and permission, and records every call that leaves.
//!
//! Invariant: a client's words about itself decide nothing; only the owner's files and what passed through here do.

pub mod approvals;
pub mod broker;
pub mod cargo;
pub mod channels;
pub mod door;
pub mod forward;
pub mod ground;
pub mod handles;
pub mod health;
pub mod ledger;
pub mod llm;
pub mod makers;
pub mod money;
pub mod net;
pub mod packages;
pub mod policy;
pub mod secrets;
pub mod services;
pub mod web;
