//! Hostile replies: almost-JSON damaged further is read as what it says or refused, soon.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[path = "../../../tests/hostile/mod.rs"]
mod hostile;

use model::repair::{object, objects};
use proptest::prelude::*;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const PIECES: [&str; 10] = [
    "{\"",
    "\":",
    "//",
    "/*",
    "<think>",
    "</think>",
    "True",
    "1e999",
    "\"tool_calls\": [",
    "{\"tool\": \"t\"}",
];

#[test]
fn hostile_replies_are_read_as_they_stand_or_refused_soon() {
    let seeds = hostile::seeds("thoughts", &["txt"]);
    hostile::withstands(seeds, &PIECES, 1_500, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let found = object(&text);
        if let Ok(strict) = serde_json::from_str::<Map<String, Value>>(&text) {
            prop_assert_eq!(found.as_ref().map(|found| &found.object), Ok(&strict));
            return Ok(());
        }
        match found {
            Ok(found) => {
                let is_there = text.get(found.start..found.end).is_some_and(|own| own.starts_with('{'));
                prop_assert!(is_there, "{found:?}");
            }
            Err(said) => prop_assert!(!said.is_empty() && said.len() < 300, "{said}"),
        }
        let ends: Vec<usize> = objects(&text).iter().flatten().flat_map(|one| [one.start, one.end]).collect();
        prop_assert!(ends.is_sorted(), "{ends:?} stand in one another");
        Ok(())
    });
}

fn strings(value: &Value, all: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(all.insert(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| strings(item, all)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            all.insert(key.clone());
            strings(value, all);
        }),
        _ => {}
    }
}

#[test]
fn no_string_that_was_cut_is_completed() {
    for seed in hostile::seeds("thoughts", &["txt"]) {
        let text = String::from_utf8(seed).unwrap();
        let Ok(whole) = serde_json::from_str::<Value>(&text) else { continue };
        let mut known = BTreeSet::new();
        strings(&whole, &mut known);
        for (at, _) in text.char_indices() {
            let Ok(found) = object(&text[..at]) else { continue };
            let mut said = BTreeSet::new();
            strings(&Value::Object(found.object), &mut said);
            assert!(said.is_subset(&known), "{} made {said:?}", &text[..at]);
        }
    }
}
