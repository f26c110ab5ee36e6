//! Secrets in texts: the house's keys in every encoding, and what looks like a secret, found and struck.
//!
//! Apart from `house`, on which the guardian stands: what searches texts is linked by broker and console alone.

pub mod encodings;
pub mod env_file;
pub mod keys;
pub mod patterns;
