//! A page of Python's index in HTML (PEP 503), pure: its links as the files of a page in JSON (PEP 691).

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Names of a link's attributes, and what they are called in JSON (PEP 503, 592, 658, 714).
const ATTRIBUTES: [(&str, &str); 4] = [
    ("data-requires-python", "requires-python"),
    ("data-yanked", "yanked"),
    ("data-core-metadata", "core-metadata"),
    ("data-dist-info-metadata", "dist-info-metadata"),
];

/// The files that a page links to; none where it is no page.
pub fn files(bytes: &[u8]) -> Option<Vec<Value>> {
    let html = std::str::from_utf8(bytes).ok()?;
    let lower = html.to_ascii_lowercase();
    let is_page = ["<!doctype html", "<html", "<a "].iter().any(|mark| lower.contains(mark));
    let links = lower.match_indices("<a").filter_map(|(at, _)| link(html.get(at + 2..)?));
    is_page.then(|| links.collect())
}

/// The file of a link, of which this is what follows `<a`.
fn link(tag: &str) -> Option<Value> {
    tag.starts_with(|c: char| c.is_ascii_whitespace()).then_some(())?;
    let (attributes, inside) = attributes(tag)?;
    let (url, hash) = attributes.get("href").map(|href| href.split_once('#').unwrap_or((href, "")))?;
    let mut file = Map::new();
    file.insert("filename".to_owned(), json!(unescaped(inside.split('<').next()?.trim())));
    file.insert("url".to_owned(), json!(url));
    file.insert("hashes".to_owned(), hashes(hash));
    for (from, to) in ATTRIBUTES {
        if let Some(value) = attributes.get(from) {
            let value = if to.ends_with("metadata") { metadata(value) } else { json!(value) };
            file.insert(to.to_owned(), value);
        }
    }
    Some(Value::Object(file))
}

fn hashes(text: &str) -> Value {
    text.strip_prefix("sha256=").map_or(json!({}), |sha| json!({"sha256": sha}))
}

fn metadata(text: &str) -> Value {
    if text.starts_with("sha256=") { hashes(text) } else { json!(text == "true") }
}

/// The attributes of a tag, and what follows it.
fn attributes(mut text: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut found = BTreeMap::new();
    loop {
        text = text.trim_start().trim_start_matches('/');
        if let Some(rest) = text.strip_prefix('>') {
            return Some((found, rest));
        }
        let end = text.find(|c: char| c.is_ascii_whitespace() || "=>".contains(c))?;
        let (name, rest) = text.split_at_checked(end.max(1))?;
        let rest = rest.trim_start();
        let (value, rest) = match rest.strip_prefix('=').map(str::trim_start) {
            None => ("", rest),
            Some(value) => match value.strip_prefix(['"', '\'']) {
                Some(quoted) => quoted.split_once(value.chars().next()?)?,
                None => value.split_at_checked(value.find(|c: char| c.is_ascii_whitespace() || c == '>')?)?,
            },
        };
        found.insert(name.to_ascii_lowercase(), unescaped(value));
        text = rest;
    }
}

fn unescaped(text: &str) -> String {
    let pairs =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
