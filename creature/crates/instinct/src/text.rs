//! What instinct does with words: cut, find links, compare, and hash a text. Pure.

use serde_json::Value;
use std::collections::BTreeSet;

/// Longest link it follows, in bytes.
const LONGEST_URL: usize = 500;

/// `text` on one line and at most `most` characters, with an ellipsis where it was cut.
pub fn clip(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let head: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", head.trim_end())
}

/// The text under `key` of a result; of a shortened text its head; empty where there is none.
pub fn word<'a>(result: &'a Value, key: &str) -> &'a str {
    let text = result.get(key);
    text.map(|text| text.get("head").unwrap_or(text)).and_then(Value::as_str).unwrap_or("")
}

/// Links in `text`, in order.
pub fn urls(text: &str) -> Vec<String> {
    let stops = |c: char| c.is_whitespace() || "<>()[]{}\"'`|".contains(c);
    text.split(stops)
        .map(|part| part.trim_end_matches(|c| ".,;:!?*".contains(c)))
        .filter(|part| part.starts_with("http://") || part.starts_with("https://"))
        .filter(|url| !host(url).is_empty() && url.len() <= LONGEST_URL)
        .map(str::to_owned)
        .collect()
}

/// Host of a link, with its port; empty where there is none.
pub fn host(url: &str) -> &str {
    let after = url.split_once("://").map_or("", |(_, after)| after);
    after.split(['/', '?', '#']).next().unwrap_or("")
}

/// A name for a file: lower-case letters, digits and single dashes, 50 characters at most.
pub fn slug(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let parts = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("-").chars().take(50).collect()
}

/// Hash of a text, the same in every life (FNV-1a: the standard hasher may change between compilers).
pub fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// `text` with the inside of `<!-- … -->` blanked line by line: examples are not taken for orders.
pub fn uncommented(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        kept.push_str(before);
        let (comment, tail) = after.split_once("-->").unwrap_or((after, ""));
        kept.extend(comment.chars().filter(|c| *c == '\n'));
        rest = tail;
    }
    kept + rest
}

/// How many words of more than three letters two texts share.
pub fn shared_words(one: &str, other: &str) -> usize {
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().count() > 3)
            .map(str::to_lowercase)
            .collect()
    };
    words(one).intersection(&words(other)).count()
}

/// A span of seconds as people say it.
pub fn span(seconds: i64) -> String {
    match seconds.max(0) {
        s @ 0..=119 => format!("{s} s"),
        s @ 120..=7199 => format!("{} min", s / 60),
        s => format!("{} h", s / 3600),
    }
}
