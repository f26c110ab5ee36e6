//! The network: clients that call out, what they trust, and where names lead.

pub mod outward;
pub mod resolve;
pub mod tls;
