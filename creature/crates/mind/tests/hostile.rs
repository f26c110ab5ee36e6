//! Hostile thoughts and conversations: no call is made that was not written whole, and what is gone on with is whole.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[path = "../../../tests/hostile/mod.rs"]
mod hostile;

use mind::conversation::{Conversation, Entry};
use mind::thought::{MOST_CALLS, of_words, read};
use model::Turn;
use proptest::prelude::*;
use std::collections::BTreeMap;

const THOUGHTS: [&str; 8] = [
    "\"tool_calls\": [",
    "{\"tool\": \"repo.reset_hard\", \"args\": {}}",
    "<tool_call>",
    "[TOOL_CALLS]",
    "\"action\": \"t\"",
    "\"sleep_s\": 1e300",
    "\"args_json\": \"{\\\"a\\\": 1}\"",
    "```json\n",
];

#[test]
fn hostile_thoughts_call_only_what_they_name() {
    let seeds = hostile::seeds("thoughts", &["txt"]);
    hostile::withstands(seeds, &THOUGHTS, 1_500, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let said = of_words(&text);
        prop_assert!(said.is_none_or(|said| said.tool_calls.is_empty()));
        let Ok((thought, _)) = read(&text) else { return Ok(()) };
        prop_assert!(thought.tool_calls.len() <= MOST_CALLS && thought.sleep_s <= 604_800);
        // With an escape, a name may stand there in other letters.
        for call in thought.tool_calls.iter().filter(|_| !text.contains('\\')) {
            prop_assert!(text.contains(&call.tool), "{} is not in it", call.tool);
        }
        Ok(())
    });
}

#[test]
fn a_thought_cut_anywhere_makes_only_calls_that_stand_in_it_whole() {
    for seed in hostile::seeds("thoughts", &["txt"]) {
        let text = String::from_utf8(seed).unwrap();
        let Ok((whole, _)) = read(&text) else { continue };
        for (at, _) in text.char_indices() {
            let Ok((thought, _)) = read(&text[..at]) else { continue };
            let is_whole = whole.tool_calls.starts_with(&thought.tool_calls);
            assert!(is_whole, "{}\n{thought:?}", &text[..at]);
        }
    }
}

const ENTRIES: [&str; 8] = [
    "{\"entry\":\"rested\"}\n",
    "{\"entry\":\"began\",\"id\":\"c1\"}\n",
    "{\"entry\":\"done\",\"id\":\"c1\",\"text\":\"x\",\"failed\":false}\n",
    "{\"entry\":\"said\",\"text\":\"x\",\"life\":1,\"at_s\":1}\n",
    "{\"entry\":\"thought\",\"raw\":{},\"calls\":[],\"tokens\":18446744073709551615,\"at_s\":-1}\n",
    "\"json\":true",
    "\"tokens\":18446744073709551615",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

/// The turns that a conversation's file tells: each thought's calls have their results, in their order, right after it.
fn told(file: &[u8]) -> Vec<String> {
    let (mut told, mut json) = (Vec::new(), false);
    for line in file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice(line).unwrap() {
            Entry::Head { head } => json = head.json,
            Entry::Said { .. } => told.push("said".to_owned()),
            Entry::Thought { calls, .. } => {
                told.push("thought".to_owned());
                let ids: Vec<String> = calls.into_iter().map(|call| call.id).collect();
                let results = if json { "said".to_owned() } else { format!("results of {ids:?}") };
                told.extend((!ids.is_empty()).then_some(results));
            }
            Entry::Began { .. } | Entry::Done { .. } | Entry::Rested => {}
        }
    }
    told
}

fn in_words(turns: &[Turn]) -> Vec<String> {
    let word = |turn: &Turn| match turn {
        Turn::Said { .. } => "said".to_owned(),
        Turn::Thought { .. } => "thought".to_owned(),
        Turn::Results { results } => {
            format!("results of {:?}", results.iter().map(|one| &one.id).collect::<Vec<_>>())
        }
    };
    turns.iter().map(word).collect()
}

#[test]
fn hostile_conversations_are_gone_on_with_whole_or_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk-main.jsonl");
    let seeds = hostile::seeds("conversations", &["jsonl"]);
    hostile::withstands(seeds, &ENTRIES, 400, |bytes| {
        std::fs::write(&path, bytes).unwrap();
        let Some(mut read) = Conversation::load(&path) else {
            prop_assert_eq!(
                std::fs::read(&path).unwrap(),
                bytes,
                "what is not gone on with is left as it is"
            );
            return Ok(());
        };
        let kept = std::fs::read(&path).unwrap();
        prop_assert!(bytes.starts_with(&kept) && kept.last() == Some(&b'\n'));
        let (told_there, now) = (told(&kept), in_words(&read.turns));
        let waits = told_there.len() - now.len().min(told_there.len());
        prop_assert!(told_there.starts_with(&now) && waits <= 1, "{now:?} of {told_there:?}");
        let tokens = read.tokens();
        read.close().unwrap();
        prop_assert_eq!(in_words(&read.turns), told_there);
        prop_assert!(read.tokens() >= tokens);
        let said =
            |text: &str| Entry::Said { text: text.to_owned(), life: 1, at_s: 1, shown: BTreeMap::new() };
        read.add(said("more")).unwrap();
        let again = Conversation::load(&path).unwrap();
        prop_assert_eq!(format!("{:?}", &again.turns), format!("{:?}", &read.turns));
        prop_assert!(again.is_turn_of_model());
        Ok(())
    });
}
