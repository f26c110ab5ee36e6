//! MCP servers as the broker's page describes them, and what is the matter with each. Pure.

use crate::records::{text, view::field};
use serde_json::Value;

/// The servers on the page.
pub fn all(page: &Value) -> &[Value] {
    field(page, "mcp")
}

/// A line for each server that something is the matter with.
pub fn troubles(page: &Value) -> Vec<String> {
    all(page).iter().filter_map(trouble).collect()
}

/// Says what is the matter with a server; none where nothing is.
fn trouble(server: &Value) -> Option<String> {
    let (why, changed) = (text(server, "trouble"), changed(server));
    let said: Vec<String> =
        [(!why.is_empty()).then(|| why.to_owned()), changed].into_iter().flatten().collect();
    (!said.is_empty()).then(|| format!("{}: {}", text(server, "server"), said.join("; ")))
}

/// Says which tools wait for the owner because they are not what they were.
pub fn changed(server: &Value) -> Option<String> {
    let names: Vec<&str> = field(server, "changed");
    (!names.is_empty()).then(|| {
        format!(
            "{} changed and is not called before you agree; you are asked at the next call",
            names.join(", ")
        )
    })
}
