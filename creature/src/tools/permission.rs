//! Permission: which tools may be used now, by the owner's settings and by whose request is worked on.
//!
//! Invariant: by itself the creature installs nothing, and does not change what it is (PURPOSE.md, its prompts) in a
//! day in which it read what others wrote. What cannot be known counts as read.

use super::catalogue::{TOOLS, Tool};
use super::{Toolbox, fault};
use crate::config::Permission;
use crate::fault::Fault;
use serde_json::Value;
use std::collections::BTreeMap;

/// What only the owner's own request may use, where the owner's settings do not say otherwise.
const OWNERS: [&str; 1] = ["repo.install_deps"];

/// The creature's identity, beside PURPOSE.md.
const PROMPTS: &str = "creature/prompts/";

/// Refuses a tool that may not be used now.
pub(super) fn permit(tools: &Toolbox, tool: &Tool) -> Result<(), Fault> {
    let family = tool.name.split_once('.').map(|(family, _)| format!("{family}.*"));
    let said = tools.permissions.get(tool.name);
    let said = said.or_else(|| family.and_then(|family| tools.permissions.get(&family))).copied();
    let unsaid = if OWNERS.contains(&tool.name) { Permission::Owner } else { Permission::Always };
    match said.unwrap_or(unsaid) {
        Permission::Always => Ok(()),
        Permission::Owner if tools.owner => Ok(()),
        Permission::Owner => {
            let hint = "it is for your owner's own requests: ask with owner.message, or go on without";
            Err(Fault::new(format!("{} may not be used by yourself", tool.name), hint))
        }
        Permission::Never => {
            let hint = "your owner's settings say so ([permissions] in owner.toml); go on without";
            Err(Fault::new(format!("{} may not be used here", tool.name), hint))
        }
    }
}

/// Refuses a change of these files by itself where it would touch its identity after reading untrusted text.
pub(super) async fn identity(tools: &Toolbox, files: &[String]) -> Result<(), Fault> {
    let own = files.iter().find(|file| *file == "PURPOSE.md" || file.starts_with(PROMPTS));
    let (Some(file), false, Some(broker)) = (own, tools.owner, &tools.broker) else { return Ok(()) };
    let status = broker.status().await.map_err(fault)?;
    if status.get("tainted") == Some(&Value::Bool(false)) {
        return Ok(());
    }
    let hint = "what others wrote may speak through you: ask your owner, or wait until the taint is over";
    Err(Fault::new(format!("{file} is who you are, and this life has read untrusted text"), hint))
}

/// What of the owner's permissions names no tool, as a sentence.
pub fn unknown(permissions: &BTreeMap<String, Permission>) -> Option<String> {
    let known = |name: &str| {
        let family = name.strip_suffix('*').filter(|family| family.ends_with('.'));
        TOOLS
            .iter()
            .any(|tool| tool.name == name || family.is_some_and(|family| tool.name.starts_with(family)))
    };
    let unknown: Vec<&str> = permissions.keys().map(String::as_str).filter(|name| !known(name)).collect();
    let first = unknown.first()?;
    // Its own family, else the tools of that name in another.
    let (family, own) = first.split_once('.').unwrap_or((first, first));
    let of = |part: &str| {
        TOOLS.iter().map(|tool| tool.name).filter(|name| name.split('.').any(|at| at == part)).collect()
    };
    let near: Vec<&str> =
        Some(of(family)).filter(|near: &Vec<_>| !near.is_empty()).unwrap_or_else(|| of(own));
    let near = if near.is_empty() { String::new() } else { format!("; there are {}", near.join(", ")) };
    Some(format!("owner.toml [permissions]: there is no tool {}{near}", unknown.join(", ")))
}
