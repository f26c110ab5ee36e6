//! A mailbox as an MCP server: searched and read by IMAP, sent from by SMTP, with nothing sent twice.

pub mod folders;
pub mod message;
pub mod names;
pub mod query;
pub mod server;
pub mod session;
pub mod settings;
pub mod text;
pub mod tools;
pub mod wire;
