//! MCP servers that the owner named: started or reached when first used, judged by the owner's rules, called once.
//!
//! Invariant: a tool whose description or schema is not the one it was first seen with is called only after the owner's
//! yes. A server's words about itself decide nothing.

pub mod call;
pub mod content;
pub mod errors;
pub mod failure;
pub mod hand;
pub mod handler;
pub mod limit;
pub mod listed;
pub mod listing;
pub mod news;
pub mod offers;
pub mod pins;
pub mod routes;
pub mod rules;
pub mod server;
pub mod sign_in;
pub mod skills;
pub mod standing;
pub mod start;
pub mod tool;
pub mod tried;
pub mod walled;
pub mod watched;

use crate::forward::Names;
use crate::ground::refusal::Unfit;
use crate::handles::Handles;
use crate::policy;
use crate::services::unknown;
use pins::Pins;
use server::Server;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The key under which the calls of a server are counted.
fn hours_of(server: &str) -> String {
    format!("mcp:{server}")
}

/// The servers by name, and what their tools were when they were first seen.
pub struct Mcp {
    pub servers: BTreeMap<String, Server>,
    pub pins: Pins,
}

impl Mcp {
    pub fn new(all: &BTreeMap<String, policy::Mcp>, web: &policy::Web, handles: &Arc<Handles>) -> Self {
        let server = |(name, settings): (&String, &policy::Mcp)| {
            let start = start::Start::new(name, settings, web, handles);
            (name.clone(), Server::new(start))
        };
        let pins = Pins::open(&handles.house);
        pins.keep(|server| all.contains_key(server));
        Self { servers: all.iter().map(server).collect(), pins }
    }

    /// The server of that name, or why there is none.
    pub fn server(&self, name: &str) -> Result<&Server, Unfit> {
        self.servers.get(name).ok_or_else(|| unknown("MCP server", "mcp", name, &self.servers))
    }

    /// Has the programs' proxies take these names for these addresses.
    pub fn know(&self, names: &Names) {
        self.servers.values().for_each(|server| server.start.forward.know(names.clone()));
    }

    /// Ends all sessions; called before the broker ends.
    pub async fn farewell(&self) {
        for server in self.servers.values() {
            server.leave().await;
        }
    }
}
