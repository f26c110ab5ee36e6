//! Broker: the creature's only way out. It holds keys, money and permission, and writes down every call that leaves.
//!
//! Invariant: what a client says decides nothing; what passed through here, and the owner's files, do.

pub mod act;
pub mod address;
pub mod answers;
pub mod asks;
pub mod broker;
pub mod budget;
pub mod clock;
pub mod door;
pub mod drafts;
pub mod files;
pub mod front;
pub mod hours;
pub mod house;
pub mod implicit;
pub mod janee;
pub mod keys;
pub mod ledger;
pub mod llm;
pub mod mcp;
pub mod money;
pub mod oauth;
pub mod oauth1;
pub mod outward;
pub mod pages;
pub mod patterns;
pub mod policy;
pub mod prices;
pub mod purpose;
pub mod refusal;
pub mod registries;
pub mod registry;
pub mod room;
pub mod rules;
pub mod seal;
pub mod sending;
pub mod service;
pub mod shelf;
pub mod spelling;
pub mod taint;
pub mod tls;
pub mod token;
pub mod tunnel;
pub mod upstream;
pub mod web;
