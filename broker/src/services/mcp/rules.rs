//! Judges a call of a tool by the owner's rules: the first that fits decides, and none means no; pure.
//!
//! Invariant: a rule that restricts fits in every letter case, escaped or not, and if any of an argument's texts fits; a
//! rule that allows fits exactly, only if all of them do, and no path that climbs out of where it seems to lie.

use super::limit;
use crate::approvals::act::Call;
use crate::ground::encoding;
use crate::ground::globs::globs;
use crate::policy::{ToolRule, Verdict};
use crate::services::Judged;
use crate::services::rules::{self, ends};
use serde_json::Value;

/// Method, in records, of a call that only looks, by the owner's rule.
pub const LOOK: &str = "LOOK";

/// The tool that a call is of.
pub fn tool_of(call: &Call) -> &str {
    call.path.trim_start_matches('/')
}

/// The rule that lets a call happen in some way, else the rules in words.
pub fn judged(rules: &[ToolRule], call: &Call) -> Result<Judged, String> {
    let arguments = serde_json::from_str(&call.body).unwrap_or_default();
    let rule = judge(rules, tool_of(call), &arguments).filter(|rule| rule.verdict != Verdict::Deny);
    // A rule that was changed after the act was made may count it as more than a look.
    let rule = rule.filter(|rule| rule.looks || call.method != LOOK).ok_or_else(|| in_words(rules))?;
    Ok(Judged { verdict: rule.verdict, per_hour: rule.per_hour, key: key(&call.service, rule) })
}

/// The rule that applies to a call.
pub fn judge<'a>(rules: &'a [ToolRule], tool: &str, arguments: &Value) -> Option<&'a ToolRule> {
    rules.iter().find(|rule| fits(rule, tool, arguments))
}

fn fits(rule: &ToolRule, tool: &str, arguments: &Value) -> bool {
    let allows = rule.verdict == Verdict::Allow;
    names(rule, tool)
        && rule.with.iter().all(|(path, pattern)| {
            let mut texts = Vec::new();
            match at(arguments, path) {
                Some(value) => leaves(value, &mut texts),
                // Only a rule that says so is about calls without the argument.
                None if pattern.is_empty() => texts.push(String::new()),
                None => {}
            }
            let mut fits = texts.iter().map(|text| like(rule, pattern, text));
            if allows { !texts.is_empty() && fits.all(|fits| fits) } else { fits.any(|fits| fits) }
        })
}

/// Whether a rule is about a tool, whatever its arguments.
pub fn names(rule: &ToolRule, tool: &str) -> bool {
    like(rule, &rule.tool, tool)
}

/// The rule that decides about a tool as far as can be said without arguments: the first about it, but for those that
/// deny some arguments.
pub fn decides<'a>(rules: &'a [ToolRule], tool: &str) -> Option<&'a ToolRule> {
    let mut about = rules.iter().filter(|rule| names(rule, tool));
    about.find(|rule| rule.verdict != Verdict::Deny || rule.with.is_empty())
}

fn like(rule: &ToolRule, pattern: &str, text: &str) -> bool {
    match rule.verdict {
        Verdict::Allow => {
            let is_of_paths = pattern.contains('/') && pattern.contains('*');
            globs(pattern, text) && !(is_of_paths && climbs(text))
        }
        Verdict::Ask | Verdict::Draft | Verdict::Deny => {
            let pattern = pattern.to_lowercase();
            [text, &unescaped(text)].iter().any(|text| globs(&pattern, &text.to_lowercase()))
        }
    }
}

/// Whether a path or an address leads out of where it seems to lie, by `..`, which may be escaped twice.
fn climbs(text: &str) -> bool {
    let once = unescaped(text);
    let is_up = |part: &str| part.split(';').next().unwrap_or_default().trim() == "..";
    [text, &once, &unescaped(&once)].iter().any(|text| text.split(['/', '\\']).any(is_up))
}

/// The text with `%2e` and the like read; as it is where they are broken.
fn unescaped(text: &str) -> String {
    encoding::decoded(text).map_or(text.to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The value at a path such as `options.path`.
fn at<'a>(arguments: &'a Value, path: &str) -> Option<&'a Value> {
    arguments.get(path).or_else(|| path.split('.').try_fold(arguments, |value, name| value.get(name)))
}

/// The texts of a value at any depth; `null` is the empty text.
fn leaves(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|value| leaves(value, texts)),
        Value::Array(values) => values.iter().for_each(|value| leaves(value, texts)),
        Value::String(text) => texts.push(text.clone()),
        Value::Null => texts.push(String::new()),
        Value::Bool(_) | Value::Number(_) => texts.push(value.to_string()),
    }
}

/// The key a rule's uses are counted under.
pub fn key(server: &str, rule: &ToolRule) -> String {
    let with: Vec<String> = rule.with.iter().map(|(path, pattern)| format!(" {path}={pattern}")).collect();
    format!("mcp:{server} {}{}", rule.tool, with.concat())
}

/// The rules in words, so that the creature sees what is allowed.
pub fn in_words(rules: &[ToolRule]) -> String {
    rules::in_words(rules, in_word)
}

/// A rule in words.
pub fn in_word(rule: &ToolRule) -> String {
    let with: Vec<String> =
        rule.with.iter().map(|(path, pattern)| format!(" with {path} {pattern:?}")).collect();
    let limits: Vec<String> = rule.limit.iter().map(limit::in_words).collect();
    format!("{}{} {}{}", rule.tool, with.concat(), ends(rule.verdict, rule.per_hour), limits.concat())
}
