//! Rules proposed for a server: what it says only reads is allowed, all else asks, nothing is denied. Pure.
//!
//! A server's word about its tools counts here and nowhere else: the owner sees each line first.

use super::block::Rule;
use house::records::text;
use house::records::view::field;
use serde_json::Value;

/// Most tools with a line of their own; what else there is asks.
const MOST_LINES: usize = 100;

/// Rules for the tools of a server, after those that are known to make sense.
pub fn rules(known: &[Rule], tools: &[Value]) -> Vec<Rule> {
    let reads =
        tools.iter().filter(|tool| field::<bool>(tool, "says_it_looks")).map(|tool| text(tool, "name"));
    let others = reads.filter(|name| !known.iter().any(|rule| rule.names(name)));
    let mut rules: Vec<Rule> = known
        .iter()
        .cloned()
        .chain(others.map(|name| Rule::new(name, "allow", true)))
        .take(MOST_LINES)
        .collect();
    if !rules.iter().any(|rule| rule.tool == "*") {
        rules.push(Rule::new("*", "ask", false));
    }
    rules
}

/// Names the verdict of the first rule about a tool, but for those that deny some arguments.
pub fn verdict(rules: &[Rule], tool: &Value) -> String {
    let decides =
        |rule: &&Rule| rule.names(text(tool, "name")) && (rule.verdict != "deny" || rule.also.is_empty());
    rules.iter().find(decides).map_or_else(|| "never called".to_owned(), |rule| rule.verdict.clone())
}
