//! One outward act with its exact bytes: what is judged, shown to the owner, and sent.
//!
//! Invariant: the digest covers everything that is sent but the secret. Pure: nothing here reads, sends or waits.

use crate::ground::text::{cut, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A call to a service, or through Janee.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The service's name, or the capability's.
    pub service: String,
    pub method: String,
    /// Normalised; what rules judge.
    pub path: String,
    /// All that is asked for: address, path and query; without an address where Janee knows it.
    pub url: String,
    /// Sorted; without the secret.
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// What Janee is told; services are not told why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What may need the owner's approval.
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

    /// SHA-256 over the exact bytes, in hex.
    pub fn digest(&self) -> String {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        hex(&Sha256::digest(bytes))
    }

    /// For the owner's eyes, at most `most` characters.
    pub fn summary(&self, most: usize) -> String {
        let text = match self {
            Self::Service(call) => format!("{} {} {}", call.method, call.url, call.body),
            Self::Janee(call) => format!("{} {} by {}: {}", call.method, call.url, call.service, call.body),
            Self::Purpose { text } => format!("PURPOSE.md becomes: {text}"),
        };
        cut(text.trim(), most)
    }
}
