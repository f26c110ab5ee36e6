//! One outward act with its exact bytes: these are judged, shown to the owner, and sent.
//!
//! Invariant: the digest covers everything that is sent except the secret. Pure: nothing here reads, sends or waits.

use crate::ground::text::{cut, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A call to a service, directly or through Janee.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Name of the service or of Janee's capability.
    pub service: String,
    pub method: String,
    /// The normalised path, which rules are judged on.
    pub path: String,
    /// Address, path and query; without an address where only Janee knows it.
    pub url: String,
    /// Sorted, without the header that holds the secret.
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// The reason told to Janee; services are not told one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// An act that may need the owner's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Act {
    Service(Call),
    Janee(Call),
    Purpose { text: String },
}

impl Act {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Service(_) => "service",
            Self::Janee(_) => "janee",
            Self::Purpose { .. } => "purpose",
        }
    }

    pub fn call(&self) -> Option<&Call> {
        match self {
            Self::Service(call) | Self::Janee(call) => Some(call),
            Self::Purpose { .. } => None,
        }
    }

    /// SHA-256 of the exact bytes, in hex.
    pub fn digest(&self) -> String {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        hex(&Sha256::digest(bytes))
    }

    /// A summary for the owner of at most `most` characters.
    pub fn summary(&self, most: usize) -> String {
        let text = match self {
            Self::Service(call) => format!("{} {} {}", call.method, call.url, call.body),
            Self::Janee(call) => format!("{} {} by {}: {}", call.method, call.url, call.service, call.body),
            Self::Purpose { text } => format!("PURPOSE.md becomes: {text}"),
        };
        cut(text.trim(), most)
    }
}
