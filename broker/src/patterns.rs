//! Secrets nobody told us of, by their looks: what a key, a bearer token or a private key usually begins with.
//!
//! Comes after the known values, never instead of them. Pure: nothing here reads, sends or waits.

use crate::keys::MARK;

/// How a token begins, and how many of its characters follow at least.
const TOKENS: [(&str, usize); 15] = [
    ("Bearer ", 20),
    ("bearer ", 20),
    ("Basic ", 16),
    ("sk-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("ghp_", 30),
    ("gho_", 30),
    ("github_pat_", 30),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("AKIA", 16),
    ("AIza", 30),
    ("hf_", 30),
];
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_IS: &str = "PRIVATE KEY-----";
const KEY_ENDS: &str = "-----END ";

/// The text without what looks like a secret.
pub fn scrub(text: &str) -> String {
    let text = without_private_keys(text);
    if !TOKENS.iter().any(|(begin, _)| text.contains(begin)) {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.as_str();
    let mut before = None;
    while let Some(letter) = rest.chars().next() {
        let starts = !before.is_some_and(|before: char| before.is_ascii_alphanumeric());
        let token = if starts { token(rest) } else { None };
        if let Some((begin, length)) = token {
            clean.push_str(begin);
            clean.push_str(MARK);
            rest = rest.get(begin.len() + length..).unwrap_or_default();
            before = None;
            continue;
        }
        clean.push(letter);
        before = Some(letter);
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
    }
    clean
}

/// How the text begins where it begins with a token, and how long the secret after that is.
fn token(text: &str) -> Option<(&'static str, usize)> {
    TOKENS.iter().find_map(|(begin, least)| {
        let secret = text.strip_prefix(begin)?;
        let belongs = |letter: char| letter.is_ascii_alphanumeric() || "-_.~+/=".contains(letter);
        let length = secret.find(|letter| !belongs(letter)).unwrap_or(secret.len());
        // Words follow a scheme's name as well; a secret has a digit or both cases.
        let body = secret.get(..length)?;
        let odd = body.bytes().any(|byte| byte.is_ascii_digit());
        (length >= *least && odd).then_some((*begin, length))
    })
}

fn without_private_keys(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(KEY_BEGINS) {
        let (before, block) = rest.split_at(at);
        clean.push_str(before);
        let is_key = block.find(KEY_IS).is_some_and(|at| at < 48);
        if !is_key {
            clean.push_str(KEY_BEGINS);
            rest = block.get(KEY_BEGINS.len()..).unwrap_or_default();
            continue;
        }
        clean.push_str(MARK);
        let end = block.find(KEY_ENDS).and_then(|at| {
            let tail = block.get(at..)?;
            Some(at + tail.find(KEY_IS)? + KEY_IS.len())
        });
        rest = end.and_then(|end| block.get(end..)).unwrap_or_default();
    }
    clean.push_str(rest);
    clean
}
