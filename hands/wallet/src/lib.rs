//! A wallet as an MCP server: it keeps one key, says what it holds and what it sent, and sends ether and tokens, nothing else.
//!
//! Invariant: a transfer is simulated before it is signed, kept on disk before it is sent, and sent again only as the same bytes.

pub mod amount;
pub mod fee;
pub mod files;
pub mod journal;
pub mod key;
pub mod node;
pub mod server;
pub mod settings;
pub mod settle;
pub mod tools;
pub mod transfer;
pub mod wallet;
