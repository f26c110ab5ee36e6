//! Sight: on every wire, a mind that can only go on from what it was shown gets where it wants to.
// A step is given once a thought.
#![allow(clippy::result_large_err)]

mod apart;
mod begun_anew;
mod beside;
mod course;
mod grown;
mod heard;
mod job;
mod journal;
mod odd_replies;
mod owners_day;
mod reader;
mod refused;
mod several;
mod storm;
mod summed;
pub mod world;

use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Shown, Wire};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use world::{AUTO, JSON, NATIVE, World};

/// Every wire, the thought as JSON, and local servers with and without tools.
fn ways() -> Vec<(Wire, Rules, &'static str)> {
    vec![
        (Wire::Anthropic, Rules::default(), NATIVE),
        (Wire::Responses, Rules::default(), NATIVE),
        (Wire::Chat, Rules::odd(), NATIVE),
        (Wire::Chat, Rules { drops_tools: true, ..Rules::local() }, AUTO),
        (Wire::Chat, Rules::local(), AUTO),
        (Wire::Anthropic, Rules::default(), JSON),
    ]
}

/// What a mind that reads answers: what it found, or its next step.
type Step = Result<String, Say>;

/// Lives until the mind says that it has what it wanted.
fn live_until_found(
    way: (Wire, Rules, &'static str),
    mut mind: impl FnMut(&Seen) -> Step + Send + 'static,
    prepare: impl FnOnce(&World),
) -> String {
    let (wire, rules, form) = way;
    println!("{wire:?} {form}, drops tools: {}", rules.drops_tools);
    let found = Arc::new(Mutex::new(None));
    let noting = Arc::clone(&found);
    let window = rules.window;
    let mut next: Vec<(String, Value)> = Vec::new();
    let world = World::new(wire, rules, form, move |seen| {
        if seen.last_said().starts_with("Call the tool echo") {
            return Say::new().plainly("I have no such tool.");
        }
        if seen.last_said().trim_end().ends_with("Files touched") {
            // What its last calls came to is not in the summary: they are made again.
            next = last_calls(seen);
            return Say::new().plainly(&format!("Goal: what was asked. Next: {next:?}"));
        }
        if !next.is_empty() {
            let say = Say::new().says("I take it up again.");
            assert!(seen.all_text().contains(&format!("Next: {next:?}")), "the summary is not handed over");
            return next.drain(..).fold(say, |say, (tool, args)| say.calls(&tool, args));
        }
        match mind(seen) {
            Ok(end) => {
                noting.lock().unwrap().get_or_insert(end);
                Say::new().says("I have it.").rests(300)
            }
            Err(say) => say,
        }
    })
    .with_source();
    world.offer(json!({"window": window}));
    prepare(&world);
    let living = world.live(1);
    loop {
        let asked = world.server.ledger().len();
        // However long the way is, each of its steps comes soon.
        let end = crate::house::wait_for("the mind to find it or to think on", || {
            assert!(
                world.server.violations().is_empty(),
                "{wire:?} {form}: {:#?}",
                world.server.violations()
            );
            match found.lock().unwrap().clone() {
                None if world.server.ledger().len() == asked => None,
                end => Some(end),
            }
        });
        if let Some(end) = end {
            assert!(living.leave().success());
            return end;
        }
    }
}

#[test]
fn a_word_of_the_owners_is_answered_from_what_a_file_says() {
    loopback!();
    for way in ways() {
        let name = format!("{:?} {}", way.0, way.2);
        println!("{name}");
        let said = live_until_found(
            way,
            |seen| {
                if let Some((_, text)) =
                    seen.last_results().into_iter().find(|(name, _)| name.contains("files"))
                {
                    let word = text
                        .split("the bird is a ")
                        .nth(1)
                        .unwrap_or_default()
                        .split('.')
                        .next()
                        .unwrap_or_default();
                    return Err(Say::new()
                        .says("I tell it.")
                        .calls("owner.message", json!({"text": format!("It is a {word}")})));
                }
                if let Some((_, text)) =
                    seen.last_results().into_iter().find(|(name, _)| name.contains("owner"))
                {
                    return Ok(text);
                }
                match seen.all_text().contains("which bird is it") {
                    true => Err(Say::new()
                        .thinks("Where may it be?")
                        .says("I look.")
                        .calls("files.read", json!({"path": "notes.txt"}))),
                    false => Err(Say::new().says("Nothing to do.").rests(1)),
                }
            },
            |world| {
                world.house.write(".self/workspace/notes.txt", "Nobody knows\nthe bird is a heron-41.\n");
                world.house.say(r#"{"text": "which bird is it?"}"#);
            },
        );
        assert!(!said.contains("failed"), "{name}: {said}");
    }
}

/// The calls of the last thought that made any, in either form.
fn last_calls(seen: &Seen) -> Vec<(String, Value)> {
    let thoughts = seen.messages.iter().rev().filter(|message| message.role == "assistant");
    let calls = thoughts.map(|message| message.parts.iter().flat_map(calls_of).collect::<Vec<_>>());
    calls.into_iter().find(|calls| !calls.is_empty()).unwrap_or_default()
}

fn calls_of(part: &Shown) -> Vec<(String, Value)> {
    match part {
        Shown::Call { name, args, .. } => vec![(name.clone(), args.clone())],
        Shown::Text(text) => {
            let thought: Value = serde_json::from_str(text).unwrap_or_default();
            let calls = thought["tool_calls"].as_array().cloned().unwrap_or_default();
            let args = |call: &Value| match call.get("args_json").and_then(Value::as_str) {
                Some(text) => serde_json::from_str(text).unwrap(),
                None => call["args"].clone(),
            };
            calls.iter().map(|call| (call["tool"].as_str().unwrap().to_owned(), args(call))).collect()
        }
        _ => Vec::new(),
    }
}

/// The results of the last thought by the tool that gave them.
fn results(seen: &Seen, tool: &str) -> Vec<String> {
    let results = seen.last_results().into_iter();
    results
        .filter(|(name, _)| name.replace('_', ".") == tool.replace('_', "."))
        .map(|(_, text)| text)
        .collect()
}

/// A header of a result, as in `next_from: 200`.
fn header<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let head = text.split_once("\n\n").map_or(text, |(head, _)| head);
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[test]
fn the_one_place_of_a_word_in_two_hundred_files_is_found() {
    loopback!();
    for way in ways() {
        let found = live_until_found(
            way,
            |seen| {
                if let Some(text) = results(seen, "files.read").pop() {
                    return Ok(text);
                }
                match results(seen, "files.search").pop() {
                    Some(text) => {
                        let line = text.lines().find(|line| line.contains("wryneck")).unwrap_or("nowhere:0:");
                        let mut parts = line.trim().split(':');
                        let (path, line) =
                            (parts.next().unwrap(), parts.next().unwrap().parse::<usize>().unwrap());
                        Err(Say::new()
                            .says("There.")
                            .calls("files.read", json!({"path": path, "from": line, "lines": 1})))
                    }
                    None => {
                        Err(Say::new().says("I search.").calls("files.search", json!({"pattern": "wryneck"})))
                    }
                }
            },
            |world| {
                for file in 0..200 {
                    let mut text: String =
                        (0..60).map(|line| format!("line {line} of {file}: nothing but sand\n")).collect();
                    if file == 137 {
                        text += "a wryneck sits here with number 90417\n";
                    }
                    world.house.write(&format!(".self/workspace/dunes/{}/{file}.txt", file % 7), text);
                }
                world.house.say(r#"{"text": "where is the wryneck, and which number has it?"}"#);
            },
        );
        assert!(found.contains("90417"), "{found}");
    }
}

#[test]
fn the_one_line_that_matters_in_a_log_of_three_thousand_is_found() {
    loopback!();
    for way in ways() {
        let found = live_until_found(
            way,
            |seen| {
                let Some(text) = results(seen, "files.read").pop() else {
                    return Err(Say::new()
                        .says("I read the log.")
                        .calls("files.read", json!({"path": "run.log"})));
                };
                match (text.lines().find(|line| line.contains("lost its anchor")), header(&text, "next_from"))
                {
                    (Some(line), _) => Ok(line.to_owned()),
                    (None, Some(from)) => {
                        let from: usize = from.parse().unwrap();
                        Err(Say::new()
                            .says("On.")
                            .calls("files.read", json!({"path": "run.log", "from": from})))
                    }
                    (None, None) => Ok(format!("nothing: {text:.200}")),
                }
            },
            |world| {
                let line = |at: usize| match at {
                    2_187 => "12:03:41 WARN the buoy lost its anchor at 54.18 N\n".to_owned(),
                    at => format!(
                        "12:00:{:02} INFO step {at} of the tide gauge went as it always goes, all is well\n",
                        at % 60
                    ),
                };
                world.house.write(".self/workspace/run.log", (0..3_000).map(line).collect::<String>());
                world.house.say(r#"{"text": "what went wrong in run.log?"}"#);
            },
        );
        assert!(found.contains("54.18"), "{found}");
    }
}

#[test]
fn a_compile_error_is_mended_by_what_was_shown_of_it() {
    loopback!();
    // Only the compiler knows what it is called: the mind has never seen the file.
    const WRONG: &str = "//! Herons.\npub fn herons_of_the_reed_4417(count: u32) -> u32 {\n    count + 1\n}\n\npub fn all() -> u32 {\n    herons_of_the_reed(3)\n}\n";
    for way in ways().into_iter().filter(|way| way.1.drops_tools || way.2 == NATIVE) {
        let found = live_until_found(
            way,
            |seen| {
                if let Some(text) = results(seen, "repo.edit").pop() {
                    assert!(!text.contains("failed:"), "{text}");
                    return Err(Say::new().says("Now?").calls("repo.check", json!({})));
                }
                let Some(text) = results(seen, "repo.check").pop() else {
                    return Err(Say::new().says("I build.").calls("repo.check", json!({})));
                };
                if !text.contains("failed:") {
                    return Ok(text);
                }
                let place = text.lines().find_map(|line| line.trim().strip_prefix("--> ")).unwrap();
                let path = place.split(':').next().unwrap();
                let name = text.split("cannot find function `").nth(1).unwrap().split('`').next().unwrap();
                let call = text.lines().filter_map(|line| line.split_once(" | ")).map(|(_, line)| line);
                let old = call.map(str::trim).find(|line| line.starts_with(&format!("{name}("))).unwrap();
                let meant = text.split(&format!("{name}_")).nth(1).unwrap();
                let meant: String = meant.chars().take_while(char::is_ascii_digit).collect();
                let new = old.replace(name, &format!("{name}_{meant}"));
                let edits = json!([{"path": path, "old": old, "new": new}]);
                Err(Say::new().says("It is called otherwise.").calls(
                    "repo.edit",
                    json!({"edits": edits, "summary": "call it by its name", "hold": true}),
                ))
            },
            |world| {
                std::fs::remove_dir_all(world.house.path("creature")).unwrap();
                let manifest =
                    "[workspace]\n[package]\nname = \"creature\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
                world.house.write("creature/Cargo.toml", manifest);
                let lock = "version = 4\n\n[[package]]\nname = \"creature\"\nversion = \"0.1.0\"\n";
                world.house.write("creature/Cargo.lock", lock);
                world.house.write("creature/src/lib.rs", WRONG);
                world.house.say(r#"{"text": "your source does not build: mend it"}"#);
            },
        );
        assert!(!found.contains("failed"), "{found}");
    }
}
