//! Rules proposed for a server: what it says only reads is allowed, all else asks, nothing is denied. Pure.
//!
//! A server's word about its tools counts here and nowhere else: the owner sees each line first.

use house::records::text;
use house::records::view::field;
use house::settings::broker::Verdict;
use house::settings::mcp::ToolRule;
use serde_json::Value;

/// Most tools with a line of their own; what else there is asks.
const MOST_LINES: usize = 100;

/// Rules for the tools of a server, after those that are known to make sense.
pub fn rules(known: &[ToolRule], tools: &[Value]) -> Vec<ToolRule> {
    let reads =
        tools.iter().filter(|tool| field::<bool>(tool, "says_it_looks")).map(|tool| text(tool, "name"));
    let others = reads.filter(|name| !known.iter().any(|rule| names(rule, name)));
    let mut rules: Vec<ToolRule> = known
        .iter()
        .cloned()
        .chain(others.map(|name| rule(name, Verdict::Allow, true)))
        .take(MOST_LINES)
        .collect();
    if !rules.iter().any(|rule| rule.tool == "*") {
        rules.push(rule("*", Verdict::Ask, false));
    }
    rules
}

pub fn rule(tool: &str, verdict: Verdict, looks: bool) -> ToolRule {
    ToolRule { tool: tool.to_owned(), verdict, looks, ..ToolRule::default() }
}

/// Whether a rule is about a tool; `*` is any text, at the end of a name alone.
fn names(rule: &ToolRule, tool: &str) -> bool {
    rule.tool.strip_suffix('*').map_or(rule.tool == tool, |begins| tool.starts_with(begins))
}

/// Names the verdict of the first rule about a tool, but for those that deny some arguments.
pub fn verdict(rules: &[ToolRule], tool: &Value) -> String {
    let decides = |rule: &&ToolRule| {
        names(rule, text(tool, "name")) && (rule.verdict != Verdict::Deny || rule.with.is_empty())
    };
    let said = rules.iter().find(decides).and_then(|rule| serde_json::to_value(rule.verdict).ok());
    said.as_ref().and_then(Value::as_str).unwrap_or("never called").to_owned()
}
