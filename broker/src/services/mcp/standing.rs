//! How the MCP servers stand, for the owner: on the broker's page, told anew whenever it is another.

use super::server::{Server, Standing};
use crate::ground::clock;
use crate::money::budget::Budget;
use crate::services::Services;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Time between two looks: a program ends without a word.
const LOOK: Duration = Duration::from_secs(1);

/// Keeps the page told, for as long as there are servers.
pub async fn tell(services: Arc<Services>, budget: Budget) {
    let mut down = Down::default();
    while !services.mcp.servers.is_empty() {
        let one = |(name, server): (&String, &Server)| one(&services, &mut down, name, server);
        budget.tell_of_mcp(services.mcp.servers.iter().map(one).collect());
        tokio::time::sleep(LOOK).await;
    }
}

/// Since when servers are down, in milliseconds; a try to reach one again does not end that.
type Down = BTreeMap<String, i64>;

fn one(services: &Services, down: &mut Down, name: &str, server: &Server) -> Value {
    let (tools, changed) = services.mcp.pins.told(name);
    let (state, trouble) = match server.standing() {
        Standing::Up => ("up", None),
        Standing::Opening => ("opening", None),
        Standing::Idle => ("idle", None),
        Standing::Down(why) => ("down", Some(why)),
    };
    match state {
        "down" => {
            let now = services.handles.clock.now().as_millisecond();
            down.entry(name.to_owned()).or_insert(now);
        }
        "up" => {
            down.remove(name);
        }
        _ => {}
    }
    let since = down.get(name).map(|since| clock::told(*since));
    let most = server.start.settings.per_hour;
    let left = services.handles.hours.left(&super::hours_of(name), most);
    json!({
        "server": name, "state": state, "trouble": trouble, "down_since": since, "tools": tools, "changed": changed,
        "progress": server.progress(),
        "calls_this_hour": most.saturating_sub(left), "per_hour": most,
    })
}
