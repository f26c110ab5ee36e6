//! A stage beside the broker that tries one MCP server as the broker would, behind the same walls, and tells its tools.
//!
//! Invariant: no tool is called, nothing is recorded, and no tool counts as seen by it.

use super::errors::Errors;
use super::pins::{Pinned, Pins};
use super::rules;
use super::server::Server;
use super::sign_in::SignIn;
use super::start::Start;
use super::tool::Tool;
use crate::ground::hosts::Resolver;
use crate::handles::Handles;
use crate::policy::{self, Policy};
use crate::secrets::keys::Keys;
use crate::services::rules::verdict;
use anyhow::{Result, anyhow};
use house::House;
use house::settings::words::suggest;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use tokio::time::Instant;

/// Starts or reaches the server of that name, and tells what it has.
pub async fn tried(house: House, policy: &Policy, keys: Keys, name: &str) -> Result<Value> {
    let names: Vec<&str> = policy.mcp.keys().map(String::as_str).collect();
    let settings = policy.mcp.get(name);
    let settings =
        settings.ok_or_else(|| anyhow!("no MCP server is called {name:?}; {}", suggest(name, &names)))?;
    let pins = Pins::open(&house);
    let handles = Handles::beside(house, keys, Resolver { fake_ip: policy.dns.fake_ip })?;
    let errors = Errors::default();
    let start = Start::new(name, settings, &policy.web, &handles);
    // Nothing is recorded here, a token that is renewed neither.
    let sign_in = start.sign_in.clone().map(SignIn::unrecorded);
    let start = Start { errors: Some(errors.clone()), sign_in, ..start };
    let missing: Vec<String> =
        settings.variables().into_iter().filter(|name| handles.secrets.get(name).is_none()).collect();
    let home = start.home();
    let is_wanted = start.sign_in.as_ref().map(|sign_in| sign_in.is_wanted.clone());
    let server = Server::new(start);
    let began = Instant::now();
    let listed = server.tools().await;
    let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let told = match listed {
        Ok(listed) => {
            let known = pins.of(name);
            let tools = listed.tools.iter().map(|tool| told(settings, tool, known.get(&tool.name)));
            json!({"ok": true, "tools": tools.collect::<Vec<_>>(), "odd": listed.odd})
        }
        Err(lost) => {
            let wanted = is_wanted.is_some_and(|wanted| wanted.load(Ordering::Acquire));
            let errors = errors.told(&handles.secrets).await;
            // A second program beside the one that the broker runs can be in its way: so it tells what that has, too.
            let seen = pins.of(name).into_values().filter(|_| settings.url.is_empty());
            let seen = seen.map(|known| told(settings, known.latest(), Some(&known)));
            let seen: Vec<Value> = seen.collect();
            json!({"ok": false, "trouble": lost.words(), "errors": errors, "wants_sign_in": wanted, "seen": seen})
        }
    };
    server.leave().await;
    let about = json!({"server": name, "took_ms": took_ms, "missing": missing, "home": home});
    Ok(joined(about, told))
}

/// A tool as the owner is told of it: what its server says of it, and what the owner's rules do.
fn told(settings: &policy::Mcp, tool: &Tool, known: Option<&Pinned>) -> Value {
    let decides = rules::decides(&settings.rules, &tool.name);
    json!({
        "name": tool.name, "line": tool.line(), "says_it_looks": tool.says_it_looks,
        "do": decides.map(|rule| verdict(rule.verdict)),
        "rule": decides.map(rules::in_word),
        "changed": known.is_some_and(|known| known.tool.fingerprint() != tool.fingerprint()),
    })
}

fn joined(mut first: Value, second: Value) -> Value {
    if let (Some(first), Value::Object(second)) = (first.as_object_mut(), second) {
        first.extend(second);
    }
    first
}
