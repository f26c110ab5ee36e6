//! Judges a method and a path by the owner's rules: the first match decides, and no match means no.
//!
//! Invariant: a rule that restricts matches in every letter case, with or without a trailing slash; one that allows
//! matches exactly. Pure: nothing here reads, sends or waits.

use crate::policy::{Rule, Verdict};
use crate::services::canonical;

/// Most rules named in an answer.
const MOST_SHOWN: usize = 12;

/// The rule that applies to a normalised path.
pub fn judge<'a>(rules: &'a [Rule], method: &str, path: &str) -> Option<&'a Rule> {
    rules.iter().find(|rule| of_method(&rule.method, method) && fits(rule, path))
}

fn of_method(rule: &str, method: &str) -> bool {
    // A path that may be read may also be requested with HEAD.
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

/// Whether a pattern matches a whole path: `*` is any text in a segment, `**` any number of segments.
pub fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<String> = segments(pattern).map(canonical_segment).collect();
    let path: Vec<&str> = segments(path).collect();
    rest_matches(&pattern, &path)
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('/').unwrap_or(path).split('/')
}

/// A segment of a rule in canonical form, so that it is compared with paths of the same form.
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

/// Whether a pattern matches a segment; a lone `*` does not match an empty one.
fn within(pattern: &str, segment: &str) -> bool {
    if pattern == "*" { !segment.is_empty() } else { globs(pattern, segment) }
}

/// Whether a pattern matches a whole text: `*` is any text, none too.
pub fn globs(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(before) else { return false };
    let mut parts: Vec<&str> = after.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

/// The key a rule's uses are counted under.
pub fn key(kind: &str, name: &str, rule: &Rule) -> String {
    format!("{kind}:{name} {} {}", rule.method, rule.path)
}

/// Rules in words, so that the client sees what is allowed.
pub fn in_words<R>(rules: &[R], in_word: impl Fn(&R) -> String) -> String {
    if rules.is_empty() {
        return "no rule allows anything there; the owner writes them in owner.toml".to_owned();
    }
    let mut words: Vec<String> = rules.iter().take(MOST_SHOWN).map(in_word).collect();
    if rules.len() > MOST_SHOWN {
        words.push(format!("{} more", rules.len() - MOST_SHOWN));
    }
    format!("its rules, the first that fits decides: {}", words.join("; "))
}

/// A rule in words.
pub fn in_word(rule: &Rule) -> String {
    format!("{} {} {}", rule.method, rule.path, ends(rule.verdict, rule.per_hour))
}

/// Says what a rule does, and how often.
pub fn ends(said: Verdict, per_hour: Option<u32>) -> String {
    let often = per_hour.map(|often| format!(", {often} an hour")).unwrap_or_default();
    format!("{}{often}", verdict(said))
}

pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Draft => "draft",
        Verdict::Deny => "deny",
    }
}
