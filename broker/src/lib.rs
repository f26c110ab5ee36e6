//! Broker: the creature's only way out. It holds keys, money and permission, and writes down every call that leaves.
//!
//! Invariant: what a client says decides nothing; what passed through here, and the owner's files, do.

pub mod address;
pub mod broker;
pub mod budget;
pub mod clock;
pub mod door;
pub mod files;
pub mod front;
pub mod house;
pub mod keys;
pub mod ledger;
pub mod llm;
pub mod money;
pub mod outward;
pub mod pages;
pub mod policy;
pub mod prices;
pub mod refusal;
pub mod registries;
pub mod registry;
pub mod room;
pub mod taint;
pub mod token;
pub mod tunnel;
pub mod web;
