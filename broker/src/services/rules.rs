//! What an owner's rules say of a method and a path: the first that fits decides, and none that fits means no.
//!
//! Invariant: a rule that restricts fits in every letter case and with or without a last slash; one that allows, only
//! exactly. Pure: nothing here reads, sends or waits.

use crate::policy::{Rule, Verdict};
use crate::services::canonical;

/// Rules named in an answer; more would be a wall of text.
const MOST_SHOWN: usize = 12;

/// The rule that decides over a normalised path.
pub fn judge<'a>(rules: &'a [Rule], method: &str, path: &str) -> Option<&'a Rule> {
    rules.iter().find(|rule| of_method(&rule.method, method) && fits(rule, path))
}

fn of_method(rule: &str, method: &str) -> bool {
    // What may be read may be asked for by its head.
    rule == "*" || rule.eq_ignore_ascii_case(method) || (method == "HEAD" && rule.eq_ignore_ascii_case("GET"))
}

fn fits(rule: &Rule, path: &str) -> bool {
    if rule.verdict == Verdict::Allow {
        return matches(&rule.path, path);
    }
    let path = path.to_ascii_lowercase();
    let bare = path.strip_suffix('/').unwrap_or(&path);
    let rule = rule.path.to_ascii_lowercase();
    matches(&rule, &path) || matches(&rule, bare) || matches(rule.strip_suffix('/').unwrap_or(&rule), bare)
}

/// True where a pattern fits a whole path: `*` is any text in a segment, `**` any segments, or none.
pub fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<String> = segments(pattern).map(canonical_segment).collect();
    let path: Vec<&str> = segments(path).collect();
    rest_matches(&pattern, &path)
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('/').unwrap_or(path).split('/')
}

/// An owner's segment in its canonical form, as a path's is, so that like is compared with like.
fn canonical_segment(segment: &str) -> String {
    canonical::segment(segment).unwrap_or_else(|_| segment.to_owned())
}

fn rest_matches(pattern: &[String], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "**" => {
            rest_matches(rest, path)
                || path.split_first().is_some_and(|(_, path)| rest_matches(pattern, path))
        }
        (Some((first, rest)), Some((segment, path))) => within(first, segment) && rest_matches(rest, path),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// A lone `*` wants something to stand for.
fn within(pattern: &str, segment: &str) -> bool {
    if pattern == "*" {
        return !segment.is_empty();
    }
    let Some((before, after)) = pattern.split_once('*') else { return pattern == segment };
    let Some(rest) = segment.strip_prefix(before) else { return false };
    (0..=rest.len()).filter_map(|at| rest.get(at..)).any(|rest| tail_within(after, rest))
}

fn tail_within(pattern: &str, rest: &str) -> bool {
    if pattern.contains('*') { within(pattern, rest) } else { pattern == rest }
}

/// The rules in words: what the next allowed step is.
pub fn in_words(rules: &[Rule]) -> String {
    if rules.is_empty() {
        return "no rule allows anything there; the owner writes them in owner.toml".to_owned();
    }
    let mut words: Vec<String> = rules.iter().take(MOST_SHOWN).map(rule_in_words).collect();
    if rules.len() > MOST_SHOWN {
        words.push(format!("{} more", rules.len() - MOST_SHOWN));
    }
    format!("its rules, the first that fits decides: {}", words.join("; "))
}

fn rule_in_words(rule: &Rule) -> String {
    let often = rule.per_hour.map(|often| format!(", {often} an hour")).unwrap_or_default();
    format!("{} {} {}{often}", rule.method, rule.path, verdict(rule.verdict))
}

pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Draft => "draft",
        Verdict::Deny => "deny",
    }
}
