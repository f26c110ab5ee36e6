//! Outward act with its exact bytes: these are judged, shown to the owner, and sent.
//!
//! Invariant: the digest covers everything that is sent except the secret. Pure: nothing here reads, sends or waits.

use crate::ledger::Entry;
use house::bounds::brief;
use house::printable::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A call to a service, or of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Name of the service or server.
    pub service: String,
    pub method: String,
    /// The normalised path, which rules are judged on.
    pub path: String,
    /// Address, path and query; of a tool its name.
    pub url: String,
    /// Sorted, without the header that holds the secret.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// Whether a method changes nothing; `LOOK` is a call of a tool that only looks, by the owner's rule.
pub fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "LOOK")
}

/// Packages of a registry whose files the creature may get from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// `python` or `npm`.
    pub registry: String,
    pub name: String,
    /// Version of the file that was asked for; a yes is to the name.
    pub version: String,
    /// Packages whose pages the same life read within two minutes: what it needs, where the client looks first.
    pub others: Vec<String>,
}

impl Package {
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [self.name.as_str()].into_iter().chain(self.others.iter().map(String::as_str))
    }

    /// The packages in a line.
    pub fn line(&self) -> String {
        let others = self.others.join(", ");
        let others = if others.is_empty() { others } else { format!(" with {others}") };
        format!("{} {}{others}", self.name, self.version)
    }
}

/// A tool of an MCP server that is described otherwise than when it was first seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    pub server: String,
    pub tool: String,
    /// SHA-256 of the description and schema agreed to.
    pub fingerprint: String,
    pub before: String,
    pub after: String,
}

/// An act that may need the owner's approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Act {
    Service(Call),
    /// A post of one or more parts: its body is the whole of it, pictures by their digests.
    Post(Call),
    Purpose {
        text: String,
    },
    Package(Package),
    /// A call of a tool: the server as its service, the tool as its path, the arguments as its body.
    Mcp(Call),
    Pin(Pin),
}

impl Act {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Service(_) | Self::Post(_) => "service",
            Self::Purpose { .. } => "purpose",
            Self::Package(_) => "package",
            Self::Mcp(_) => "mcp",
            Self::Pin(_) => "pin",
        }
    }

    /// The event of the ledger's entries on carrying it out.
    pub fn event(&self) -> &'static str {
        match self {
            Self::Service(_) | Self::Post(_) | Self::Mcp(_) => "call",
            Self::Purpose { .. } => "purpose",
            Self::Package(_) => "registry",
            Self::Pin(_) => "pin",
        }
    }

    pub fn call(&self) -> Option<&Call> {
        match self {
            Self::Service(call) | Self::Post(call) | Self::Mcp(call) => Some(call),
            Self::Purpose { .. } | Self::Package(_) | Self::Pin(_) => None,
        }
    }

    /// Whether it changes something outside this house.
    pub fn is_outward(&self) -> bool {
        self.call().is_some_and(|call| !is_safe(&call.method))
    }

    /// Service, method and path, as records name it; empty where there are none.
    pub fn place(&self) -> [String; 3] {
        match self {
            Self::Service(call) | Self::Post(call) | Self::Mcp(call) => {
                [call.service.clone(), call.method.clone(), call.path.clone()]
            }
            Self::Purpose { .. } => Default::default(),
            Self::Package(package) => [package.registry.clone(), "install".to_owned(), package.line()],
            Self::Pin(pin) => [pin.server.clone(), "changed".to_owned(), format!("/{}", pin.tool)],
        }
    }

    /// The ledger's entry of it, with what was decided and the id shared by all entries about it.
    pub fn entry(&self, life: u64, event: &str, decision: &str, id: &str) -> Entry {
        let [service, method, path] = self.place().map(|text| brief(&text, 300));
        Entry {
            life,
            event: event.to_owned(),
            service: if service.is_empty() { self.kind().to_owned() } else { service },
            method,
            path,
            decision: decision.to_owned(),
            call: id.to_owned(),
            ..Entry::default()
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
            Self::Service(call) | Self::Post(call) => format!("{} {} {}", call.method, call.url, call.body),
            Self::Purpose { text } => format!("PURPOSE.md becomes: {text}"),
            Self::Package(package) => format!("install by {}: {}", package.registry, package.line()),
            Self::Mcp(call) => {
                format!("{} of {}: {}", call.path.trim_start_matches('/'), call.service, call.body)
            }
            Self::Pin(pin) => {
                format!("{} of {} was:\n{}\nand is now:\n{}", pin.tool, pin.server, pin.before, pin.after)
            }
        };
        brief(text.trim(), most)
    }
}
