//! The network: clients for outward calls, the certificates they trust, and name resolution.

pub mod outward;
pub mod resolve;
pub mod tls;
