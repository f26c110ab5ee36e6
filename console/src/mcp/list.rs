//! `mcp list`: each server of `owner.toml`, how it stands by the broker's page, and what is the matter with it.

use crate::budget;
use anyhow::Result;
use house::records::text;
use house::records::view::field;
use house::settings::{self, mcp::Mcp};
use house::terminal::{self, typed};
use house::{House, instance, servers};
use serde_json::{Value, json};

/// State of a server that the broker has not told of: none runs, or it has yet to take up the settings.
const UNKNOWN: &str = "unknown";

pub fn show(house: &House, as_json: bool) -> Result<u8> {
    let named = settings::whole(house)?.mcp;
    let runs = instance::broker_runs(house);
    let page = if runs { budget::page(house).0 } else { Value::Null };
    let rows: Vec<Value> = named.iter().map(|(name, settings)| row(house, &page, name, settings)).collect();
    if as_json {
        terminal::json(&json!({"broker_runs": runs, "servers": rows}));
        return Ok(0);
    }
    if rows.is_empty() {
        terminal::line(&format!(
            "no MCP server is named in owner.toml; {} lists what there is",
            typed("mcp add")
        ));
    }
    for row in &rows {
        let mut told = vec![state(row, runs)];
        told.extend(troubles(row));
        terminal::field(text(row, "server"), &told.join("; "));
    }
    Ok(0)
}

/// Whether the broker that runs has a session with a server.
pub fn is_up(house: &House, name: &str) -> bool {
    let is_it = |server: &Value| text(server, "server") == name && text(server, "state") == "up";
    instance::broker_runs(house) && servers::all(&budget::page(house).0).iter().any(is_it)
}

fn row(house: &House, page: &Value, name: &str, settings: &Mcp) -> Value {
    let known = servers::all(page).iter().find(|server| text(server, "server") == name);
    let mut row = known.cloned().unwrap_or_else(|| json!({"server": name, "state": UNKNOWN}));
    let reached = if settings.url.is_empty() { settings.command.join(" ") } else { settings.url.clone() };
    if let Some(fields) = row.as_object_mut() {
        fields.insert("reached_by".to_owned(), json!(reached));
        fields.insert("rules".to_owned(), json!(settings.rules.len()));
        fields.insert("missing".to_owned(), json!(not_set(house, settings.variables())));
    }
    row
}

/// Those of these variables that are not set.
pub fn not_set(house: &House, variables: Vec<String>) -> Vec<String> {
    // What keeps it from being read is told by the broker's own check.
    let file = redact::env_file::read(house).unwrap_or_default();
    let is_set = |name: &String| {
        std::env::var_os(name).is_some_and(|value| !value.is_empty())
            || file.iter().any(|(key, _)| key == name)
    };
    variables.into_iter().filter(|name| !is_set(name)).collect()
}

fn state(row: &Value, runs: bool) -> String {
    let number = |name: &str| field::<u64>(row, name);
    let (calls, most) = (number("calls_this_hour"), number("per_hour"));
    let counted = || format!("{} tools, {calls} of {most} calls this hour", number("tools"));
    match text(row, "state") {
        "up" => format!("up; {}", counted()),
        "idle" => format!("not needed yet; {}", counted()),
        "opening" => format!("is being reached; {}", counted()),
        "down" => format!("down; {}", counted()),
        _ if runs => "not taken up yet".to_owned(),
        _ => "the broker does not run: it is reached when the guardian runs".to_owned(),
    }
}

/// Troubles of a server, a sentence each.
fn troubles(row: &Value) -> Vec<String> {
    let mut told = Vec::new();
    told.extend(Some(text(row, "trouble").to_owned()).filter(|why| !why.is_empty()));
    told.extend(
        Some(text(row, "progress"))
            .filter(|told| !told.is_empty())
            .map(|told| format!("a call is at {told}")),
    );
    told.extend(servers::changed(row));
    let missing: Vec<&str> = field(row, "missing");
    told.extend(
        (!missing.is_empty()).then(|| format!("{} is not set: put it into .env", missing.join(", "))),
    );
    told.extend((field::<u64>(row, "rules") == 0).then(|| {
        let test = typed(&format!("mcp test {}", text(row, "server")));
        format!("no rule: nothing of it can be called; {test} proposes some")
    }));
    told
}
