//! How the MCP servers stand, for the owner: on the broker's page, told anew whenever it is another.

use super::server::{Server, Standing};
use crate::money::budget::Budget;
use crate::services::Services;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Time between two looks: a program ends without a word.
const LOOK: Duration = Duration::from_secs(1);

/// Keeps the page told, for as long as there are servers.
pub async fn tell(services: Arc<Services>, budget: Budget) {
    while !services.mcp.servers.is_empty() {
        budget.tell_of_mcp(all(&services));
        tokio::time::sleep(LOOK).await;
    }
}

fn all(services: &Services) -> Value {
    services.mcp.servers.iter().map(|(name, server)| one(services, name, server)).collect()
}

fn one(services: &Services, name: &str, server: &Server) -> Value {
    let (tools, changed) = services.mcp.pins.told(name);
    let (state, trouble) = match server.standing() {
        Standing::Up => ("up", None),
        Standing::Opening => ("opening", None),
        Standing::Idle => ("idle", None),
        Standing::Down(why) => ("down", Some(why)),
    };
    let most = server.start.settings.per_hour;
    let left = services.handles.hours.left(&super::hours_of(name), most);
    json!({
        "server": name, "state": state, "trouble": trouble, "tools": tools, "changed": changed,
        "calls_this_hour": most.saturating_sub(left), "per_hour": most,
    })
}
