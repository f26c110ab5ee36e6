//! The clients that call out, and what they trust.

pub mod outward;
pub mod tls;
