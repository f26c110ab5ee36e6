//! Lists the servers and a line a tool, as they were pinned; describes one tool whole.

use super::pins::Pinned;
use super::rules;
use super::server::{Lost, Server};
use crate::services::Services;
use crate::services::rules::verdict;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The tools of a server as they are now, compared with those it had when they were first seen.
pub async fn pinned(services: &Services, server: &Server) -> Result<BTreeMap<String, Pinned>, String> {
    let listed = match server.tools().await {
        Ok(listed) => listed,
        Err(Lost::Unreached(why) | Lost::Said(why) | Lost::Silent(why)) => return Err(why),
    };
    let name = &server.start.name;
    services.mcp.pins.see(name, &listed.tools)?;
    let mut pinned = services.mcp.pins.of(name);
    pinned.retain(|name, _| listed.tools.iter().any(|tool| tool.name == *name));
    Ok(pinned)
}

/// Every server with a line a tool. One that was never reached is started by this.
pub async fn servers(services: &Services) -> Value {
    let mut all = Vec::new();
    for (name, server) in &services.mcp.servers {
        let mut pinned = services.mcp.pins.of(name);
        let mut error = Value::Null;
        if pinned.is_empty() {
            match self::pinned(services, server).await {
                Ok(found) => pinned = found,
                Err(why) => error = why.into(),
            }
        }
        let settings = &server.start.settings;
        let tool = |pinned: &Pinned| {
            // A rule with conditions on arguments may say otherwise; the call itself is judged.
            let rule = settings.rules.iter().find(|rule| rules::names(rule, &pinned.tool.name));
            let said = rule.map_or("deny", |rule| verdict(rule.verdict));
            json!({"name": pinned.tool.name, "line": pinned.tool.line(), "do": said, "changed": pinned.changed.is_some()})
        };
        all.push(json!({
            "name": name, "about": settings.about, "error": error,
            "tools": pinned.values().map(tool).collect::<Vec<_>>(),
        }));
    }
    Value::Array(all)
}

/// One tool whole: its description and schema, and the rules of its server.
pub async fn described(services: &Services, server: &str, tool: &str) -> Value {
    let found = match services.mcp.server(server) {
        Ok(server) => server,
        Err(unfit) => return json!({"ok": false, "error": unfit.error, "hint": unfit.hint}),
    };
    let known = services.mcp.pins.of(server);
    let pinned = if known.contains_key(tool) { Ok(known) } else { pinned(services, found).await };
    let words = rules::in_words(&found.start.settings.rules);
    match pinned {
        Err(why) => json!({"ok": false, "error": why, "hint": "try again later, or go on without it"}),
        Ok(pinned) => match pinned.get(tool) {
            Some(known) => json!({
                "ok": true, "server": server, "tool": tool, "description": known.tool.description,
                "schema": known.tool.schema, "rules": words, "changed": known.changed.is_some(),
            }),
            None => {
                let names: Vec<&str> = pinned.keys().map(String::as_str).collect();
                let hint = house::settings::words::suggest(tool, &names);
                json!({"ok": false, "error": format!("{server} has no tool {tool:?}"), "hint": hint})
            }
        },
    }
}
