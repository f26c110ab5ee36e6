//! Lists the servers and a line a tool, as they were pinned; describes one tool whole.

use super::call;
use super::failure::Lost;
use super::pins::Pinned;
use super::rules;
use super::server::Server;
use super::tool::Tool;
use crate::ground::refusal::Unfit;
use crate::policy::Verdict;
use crate::services::Services;
use crate::services::rules::verdict;
use house::bounds::brief;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

const BETWEEN_TRIES: Duration = Duration::from_secs(2);
/// Most lines and characters of all tools in a prompt.
const MOST_LINES: usize = 200;
const MOST_CHARS: usize = 12_000;
/// Characters of the line about tools that do not fit.
const MOST_MORE: usize = 110;
/// Characters of the owner's words about a server.
const MOST_ABOUT: usize = 100;

/// The tools of a server as they are now, compared with those it had when they were first seen.
pub async fn pinned(services: &Services, server: &Server) -> Result<BTreeMap<String, Pinned>, String> {
    let listed = server.tools().await.map_err(Lost::words)?;
    let name = &server.start.name;
    services.mcp.pins.see(name, &listed.tools)?;
    let mut pinned = services.mcp.pins.of(name);
    pinned.retain(|name, _| listed.tools.iter().any(|tool| tool.name == *name));
    Ok(pinned)
}

/// Reaches every server whose tools were never seen and every one that is down, again after each pause, and lists the
/// tools anew of those that said that they changed.
pub async fn meet(services: Arc<Services>) {
    let all = services.mcp.servers.values();
    let mut unseen: BTreeSet<&str> = all.clone().map(|server| server.start.name.as_str()).collect();
    unseen.retain(|name| services.mcp.pins.of(name).is_empty());
    while !services.mcp.servers.is_empty() {
        for server in all.clone() {
            let name = server.start.name.as_str();
            let is_due =
                server.has_changed() || server.is_due() || server.is_unheard() || unseen.contains(name);
            // Its trouble is kept with it.
            if is_due && pinned(&services, server).await.is_ok() {
                unseen.remove(name);
            }
        }
        tokio::time::sleep(BETWEEN_TRIES).await;
    }
}

/// A tool that a rule lets be called in some way, and how the first such rule has it; conditions on arguments are
/// judged with the call.
fn callable<'a>(server: &Server, pinned: &'a Pinned) -> Option<(&'a Tool, Verdict)> {
    let decides = rules::decides(&server.start.settings.rules, &pinned.tool.name)?;
    Some((&pinned.tool, decides.verdict)).filter(|(_, verdict)| *verdict != Verdict::Deny)
}

/// Every server with what its rules let be called, a line a tool, as they were pinned.
pub fn servers(services: &Services) -> Value {
    let server = |(name, server): (&String, &Server)| {
        let pinned = services.mcp.pins.of(name);
        let tool = |pinned: &Pinned| {
            let (tool, said) = callable(server, pinned)?;
            Some(
                json!({"name": tool.name, "line": tool.line(), "do": verdict(said), "changed": pinned.changed.is_some()}),
            )
        };
        json!({
            "name": name, "about": server.start.settings.about, "trouble": server.trouble(),
            "tools": pinned.values().filter_map(tool).collect::<Vec<_>>(), "all_tools": pinned.len(),
        })
    };
    Value::Array(services.mcp.servers.iter().map(server).collect())
}

/// The tools for a prompt: a line each, as many as fit; those of a server that do not are counted. Empty where none can
/// be called.
pub fn lines(services: &Services) -> String {
    // Each server has room for a line about what does not fit.
    let others = services.mcp.servers.len();
    let (mut left, mut chars) =
        (MOST_LINES.saturating_sub(others), MOST_CHARS.saturating_sub(others * MOST_MORE));
    let mut fits = |line: &String| {
        let fits = left > 0 && chars > line.chars().count();
        (left, chars) = if fits { (left - 1, chars - line.chars().count() - 1) } else { (0, 0) };
        fits
    };
    let mut lines = Vec::new();
    for (name, server) in &services.mcp.servers {
        let pinned = services.mcp.pins.of(name);
        let tools: Vec<String> = pinned.values().filter_map(|pinned| line(server, pinned)).collect();
        let about = match server.start.settings.about.as_str() {
            "" => format!("{name}:"),
            about => format!("{name} ({}):", brief(about, MOST_ABOUT)),
        };
        let before = lines.len();
        if !tools.is_empty() && fits(&about) {
            lines.push(about);
            lines.extend(tools.iter().take_while(|line| fits(line)).cloned());
        }
        let more = tools.len() - (lines.len() - before).saturating_sub(1);
        if more > 0 {
            lines.push(format!("{name}: {more} tools more; mcp.describe {{server}} lists them"));
        }
    }
    lines.join("\n")
}

fn line(server: &Server, pinned: &Pinned) -> Option<String> {
    let (tool, said) = callable(server, pinned)?;
    let ends = match said {
        Verdict::Ask => " (your owner is asked)",
        Verdict::Draft => " (kept as a draft)",
        Verdict::Allow | Verdict::Deny => "",
    };
    Some(format!("- {}{ends}", tool.line()))
}

/// Describes one tool whole: its description and schema, and the rules of its server.
pub async fn described(services: &Services, life: u64, server: &str, tool: &str) -> Value {
    let found = match services.mcp.server(server) {
        Ok(server) => server,
        Err(unfit) => return unfit.envelope(),
    };
    // A description is text of others, as an answer is.
    if found.start.settings.untrusted && services.handles.taint.try_read_untrusted(life).is_err() {
        return Unfit::new(call::UNNOTED, "the owner has to look at it").envelope();
    }
    let known = services.mcp.pins.of(server);
    if tool.is_empty() {
        let lines: Vec<String> = known.values().filter_map(|pinned| line(found, pinned)).collect();
        return json!({"ok": true, "server": server, "tools": lines, "trouble": found.trouble()});
    }
    let pinned = if known.contains_key(tool) { Ok(known) } else { pinned(services, found).await };
    let words = rules::in_words(&found.start.settings.rules);
    match pinned {
        Err(why) => Unfit::new(why, "try again later, or go on without it").envelope(),
        Ok(pinned) => match pinned.get(tool) {
            Some(known) => json!({
                "ok": true, "server": server, "tool": tool, "description": known.tool.description,
                "schema": known.tool.schema, "rules": words, "changed": known.changed.is_some(),
            }),
            None => {
                let names: Vec<&str> = pinned.keys().map(String::as_str).collect();
                let hint = house::settings::words::suggest(tool, &names);
                Unfit::new(format!("{server} has no tool {tool:?}"), hint).envelope()
            }
        },
    }
}
