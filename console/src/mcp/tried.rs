//! `mcp test`: a server as it answers now, its tools with what the owner's rules do with each, and what is missing.

use super::{block, list, proposal, stage};
use anyhow::Result;
use house::records::text;
use house::records::view::field;
use house::terminal;
use house::{House, bounds};
use serde_json::{Value, json};

/// Most tools that are shown; more are counted.
const MOST_TOOLS: usize = 200;
/// Columns of the name of a tool.
const NAME: usize = 28;

pub fn show(house: &House, name: &str, as_json: bool) -> Result<u8> {
    let answer = or_running(house, name, stage::ask(house, name, None)?);
    let code = u8::from(!field::<bool>(&answer, "ok"));
    if as_json {
        terminal::json(&answer);
        return Ok(code);
    }
    tell(&answer, by_rules);
    let ruled = |tool: &&Value| text(tool, "rule").is_empty();
    let without: Vec<Value> = tools(&answer).iter().filter(ruled).cloned().collect();
    if !without.is_empty() {
        terminal::line(
            "No rule is about some of them. These would let what says that it reads be called, and ask of the rest:",
        );
        terminal::line("");
        proposal::rules(&[], &without)
            .iter()
            .for_each(|rule| terminal::line(&format!("    {},", block::rule(rule))));
        terminal::line("");
        terminal::line(&format!("They go into `rules = […]` under [mcp.{name}] in owner.toml."));
    }
    Ok(code)
}

/// An answer about the server that the broker runs, where that is up and a second one beside it did not answer: a program
/// that locks its files has room for one.
fn or_running(house: &House, name: &str, answer: Value) -> Value {
    let seen: &[Value] = field(&answer, "seen");
    if field::<bool>(&answer, "ok") || seen.is_empty() || !list::is_up(house, name) {
        return answer;
    }
    let second = [&[text(&answer, "trouble")], field::<Vec<&str>>(&answer, "errors").as_slice()].concat();
    json!({
        "ok": true, "server": name, "runs": true, "tools": seen, "missing": answer.get("missing"),
        "second": second.join("; "),
    })
}

/// Tells of an answer: what came, or why nothing did; `of_tool` says of a tool what follows for it.
pub fn tell(answer: &Value, of_tool: impl Fn(&Value) -> String) {
    let name = text(answer, "server");
    let missing: Vec<&str> = field(answer, "missing");
    if !missing.is_empty() {
        terminal::field("missing", &format!("{}: put it into .env", missing.join(", ")));
    }
    if !field::<bool>(answer, "ok") {
        terminal::field(name, text(answer, "trouble"));
        let errors: Vec<&str> = field(answer, "errors");
        if !errors.is_empty() {
            terminal::field("it said", &errors.join("; "));
        }
        return;
    }
    let tools = tools(answer);
    let took_s = field::<u64>(answer, "took_ms") as f64 / 1_000.0;
    let how = match field::<bool>(answer, "runs") {
        true => "is up: the broker runs it".to_owned(),
        false => format!("answered within {took_s:.1} s"),
    };
    terminal::field(name, &format!("{how}; {} tools", tools.len()));
    let second = text(answer, "second");
    if !second.is_empty() {
        terminal::field(
            "note",
            &format!("a second one, started beside it to try it, did not answer: {second}"),
        );
    }
    for tool in tools.iter().take(MOST_TOOLS) {
        let line = text(tool, "line");
        let first = line.strip_prefix(text(tool, "name")).unwrap_or(line).trim_start_matches(": ");
        let claims = if field::<bool>(tool, "says_it_looks") { "says it only looks; " } else { "" };
        let changed = if field::<bool>(tool, "changed") { "; CHANGED since it was first seen" } else { "" };
        let told = format!("{first} ({claims}{}{changed})", of_tool(tool));
        terminal::beside("1", &format!("  {}", text(tool, "name")), NAME, &told);
    }
    if let more @ 1.. = tools.len().saturating_sub(MOST_TOOLS) {
        terminal::line(&format!("  … {more} more"));
    }
    let odd: Vec<&str> = field(answer, "odd");
    if !odd.is_empty() {
        let told: Vec<String> = odd.iter().take(8).map(|odd| bounds::brief(odd, 200)).collect();
        terminal::field("left out", &told.join("; "));
    }
}

pub fn tools(answer: &Value) -> &[Value] {
    field(answer, "tools")
}

fn by_rules(tool: &Value) -> String {
    match text(tool, "rule") {
        "" => "no rule: never called".to_owned(),
        rule => format!("{}, by the rule `{rule}`", text(tool, "do")),
    }
}
