//! A mind that reads all of its source, file after file, by what the pages say.

use super::{NATIVE, Rules, Say, Seen, Step, header, live_until_found, results, ways, world};
use crate::broker::loopback;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

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
    // One of the ways that requests take: what a page shows does not hang on it.
    if let Some(way) = ways().into_iter().find(|way| way.2 == NATIVE) {
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
