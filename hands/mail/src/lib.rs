//! A mailbox as an MCP server: searched and read by IMAP, sent from by SMTP, with nothing sent twice.

pub mod files;
pub mod folders;
pub mod message;
pub mod names;
pub mod news;
pub mod outbox;
pub mod outgoing;
pub mod query;
pub mod sending;
pub mod server;
pub mod session;
pub mod settings;
pub mod smtp;
pub mod text;
pub mod tools;
pub mod wire;
