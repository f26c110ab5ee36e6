//! Hits in its notes and on the web, as sentences for the owner, each with its place. Pure.

use super::likeness::content;
use super::table::text;
use super::text::{clip, list, word};
use super::understand::{self, Heard};
use ground::sentences::matched;
use serde_json::Value;

/// Sentences of one answer, and hits of a search.
const MOST_SENTENCES: usize = 3;
const MOST_HITS: usize = 5;

/// Tells what the notes say of a question, as a sentence.
pub fn notes(asked: &str, result: &Value) -> String {
    let terms = content(asked);
    let mut told: Vec<(usize, String)> = Vec::new();
    let mut texts: Vec<&str> = Vec::new();
    for hit in list(result, "hits") {
        let (said, path, kind) = (word(hit, "text"), word(hit, "path"), word(hit, "kind"));
        let found = matched(said, &terms);
        // One word of many in common is chance, and what the owner asked or ordered is no answer.
        let chance = found * 2 < terms.len() || found == 0;
        let asks = kind == "memory" && matches!(understand::hear(said), Heard::Certain(_));
        if chance || asks || texts.contains(&said) {
            continue;
        }
        texts.push(said);
        let day: String = word(hit, "at").chars().take(10).collect();
        let place = match (kind, day.as_str()) {
            ("memory", day) => format!("my memory, {day}"),
            (_, "") => path.to_owned(),
            (_, day) => format!("{path}, {day}"),
        };
        told.push((found, format!("\"{}\" ({place})", clip(said, 320))));
    }
    told.sort_by_key(|(found, _)| std::cmp::Reverse(*found));
    let told: Vec<String> = told.into_iter().take(MOST_SENTENCES).map(|(_, sentence)| sentence).collect();
    match told.is_empty() {
        true => text("notes_none", &[("terms", &terms.join(" "))]),
        false => format!("From my notes: {}", told.join("; ")),
    }
}

/// Tells what a search of the web found.
pub fn web(asked: &str, result: &Value) -> String {
    let line = |hit: &Value| {
        let part = |key: &str, most: usize| clip(word(hit, key), most);
        format!("{}: {} {}", part("title", 120), part("snippet", 160), part("url", 500))
    };
    let lines: Vec<String> = list(result, "hits").iter().take(MOST_HITS).map(line).collect();
    match lines.is_empty() {
        true => format!("The search found nothing about {asked}"),
        false => format!("The search for {asked} found: {}", lines.join("; ")),
    }
}

/// Says why there was no search, and what the owner can do about it.
pub fn no_search(error: &str, hint: &str) -> String {
    match error.contains("not configured") {
        true => text("search_none", &[]),
        false => format!("The search failed: {error}. {}", clip(hint, 200)),
    }
}
