//! Broker: the creature's only way out. It holds keys, money and permission, and writes down every call that leaves.
//!
//! Invariant: what a client says decides nothing; what passed through here, and the owner's files, do.

pub mod broker;
pub mod clock;
pub mod door;
pub mod files;
pub mod house;
pub mod keys;
pub mod ledger;
pub mod outward;
pub mod policy;
pub mod refusal;
pub mod token;
