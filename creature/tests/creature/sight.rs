//! Sight: on every wire, a mind that can only go on from what it was shown gets where it wants to.
// A step is given once a thought.
#![allow(clippy::result_large_err)]

mod course;
mod world;

use crate::broker::loopback;
use crate::faithful::{Rules, Say, Seen, Shown, Wire};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
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
    let living = world.house.live(1);
    let end = crate::house::wait_for("the mind to find it", || {
        assert!(world.server.violations().is_empty(), "{wire:?} {form}: {:#?}", world.server.violations());
        found.lock().unwrap().clone()
    });
    assert!(living.leave().success());
    end
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

/// Reads file after file by what the pages say, and keeps every line it was shown.
#[derive(Default)]
struct Reader {
    wanted: Vec<(&'static str, String, usize)>,
    lines: BTreeMap<String, Vec<String>>,
    asked: BTreeSet<(&'static str, String, usize)>,
    begun: bool,
}

impl Reader {
    fn step(&mut self, seen: &Seen) -> Step {
        for text in results(seen, "repo.map") {
            self.mapped(&text);
        }
        for text in results(seen, "repo.read") {
            self.was_shown(&text);
        }
        if !std::mem::replace(&mut self.begun, true) {
            self.wanted.push(("repo.map", "creature".to_owned(), 1));
        }
        let asked = &mut self.asked;
        self.wanted.retain(|wanted| asked.insert(wanted.clone()));
        let some = self.wanted.len().min(8);
        self.wanted.iter().skip(some).for_each(|left| _ = asked.remove(left));
        let next =
            self.wanted.drain(..some).fold(Say::new().says("I read on."), |say, (tool, path, from)| {
                let name = if tool == "repo.map" { "folder" } else { "path" };
                say.calls(tool, json!({name: path, "from": from}))
            });
        if some > 0 { Err(next) } else { Ok(String::new()) }
    }

    fn mapped(&mut self, text: &str) {
        let of = header(text, "path").unwrap_or("creature").to_owned();
        if let Some(from) = header(text, "next_from") {
            self.wanted.push(("repo.map", of, from.parse().unwrap()));
        }
        let mut folder = String::new();
        for line in text.lines() {
            let name = line.split_whitespace().next().unwrap_or_default();
            if line.starts_with("  ") && name.ends_with(".rs") {
                self.wanted.push(("repo.read", format!("{folder}{name}"), 1));
            } else if name.ends_with('/') {
                folder = name.to_owned();
                if line.contains("too long to show") {
                    self.wanted.push(("repo.map", name.trim_end_matches('/').to_owned(), 1));
                }
            }
        }
    }

    fn was_shown(&mut self, text: &str) {
        let path = header(text, "path").unwrap_or_else(|| panic!("no path: {text:.300}")).to_owned();
        if let Some(from) = header(text, "next_from") {
            self.wanted.push(("repo.read", path.clone(), from.parse().unwrap()));
        }
        let shown = self.lines.entry(path.clone()).or_default();
        let body = text.split_once("\n\n").map_or("", |(_, body)| body.trim_end());
        for line in body.lines() {
            let line = line.trim_start();
            let (number, said) = line.split_once("  ").unwrap_or((line, ""));
            assert_eq!(number.trim().parse().ok(), Some(shown.len() + 1), "a hole in {path}: {line:?}");
            shown.push(said.trim_end().to_owned());
        }
    }
}

#[test]
fn every_line_of_every_source_file_is_seen() {
    loopback!();
    for way in ways().into_iter().filter(|way| way.1.drops_tools || way.2 == NATIVE) {
        let name = format!("{:?} {}", way.0, way.2);
        // In a small window most of it would be read only to be summed up.
        let way = (way.0, Rules { window: 1_000_000, ..way.1 }, way.2);
        let reader = Arc::new(Mutex::new(Reader::default()));
        let reading = Arc::clone(&reader);
        live_until_found(
            way,
            move |seen| reading.lock().unwrap().step(seen),
            |world| {
                world.house.say(r#"{"text": "read all of yourself"}"#);
            },
        );
        let mut files = 0;
        let lines = &reader.lock().unwrap().lines;
        for path in world::sources(Path::new(env!("CARGO_MANIFEST_DIR"))) {
            let text = std::fs::read_to_string(&path).unwrap();
            let known =
                format!("creature/{}", path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().display());
            let shown = lines.get(&known).unwrap_or_else(|| panic!("{name}: {known} was never shown"));
            let expected: Vec<&str> = text.lines().map(str::trim_end).collect();
            for (at, (shown, expected)) in shown.iter().zip(&expected).enumerate() {
                // What looks like a secret in a test is struck, and nothing else.
                assert!(
                    shown == expected || shown.contains("[hidden]"),
                    "{name}: {known}:{} {shown:?}",
                    at + 1
                );
            }
            assert_eq!(shown.len(), expected.len(), "{name}: {known}");
            files += 1;
        }
        println!("{name}: {files} files");
        assert!(files > 200);
    }
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
