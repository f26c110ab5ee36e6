//! Judges a method and a path by the owner's rules: the first match decides, and no match means no.
//!
//! Invariant: a rule that restricts matches in every letter case, with or without a trailing slash; one that allows
//! matches exactly. Pure: nothing here reads, sends or waits.

use crate::ground::globs::matches;
use crate::policy::{Rule, Verdict};

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
