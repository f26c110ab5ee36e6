//! The index: what is found where, how it keeps up with files that change, and that garbage costs a rebuild, no more.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use knowledge::{Found, Kind, Question, SearchPaths, search, update};
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use tempfile::TempDir;

/// More than any test reads.
const ALL: u64 = 1 << 30;

struct House {
    dir: TempDir,
    /// Records appended, for their words.
    records: usize,
}

impl House {
    fn new() -> Self {
        let house = Self { dir: TempDir::new().unwrap(), records: 0 };
        fs::create_dir_all(house.path(".self/mind")).unwrap();
        house
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn index(&self) -> PathBuf {
        self.path(".self/mind/index.sqlite")
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn append(&mut self, text: &str) {
        self.records += 1;
        let at = format!("2026-01-01T00:00:{:02}.{:03}Z", self.records / 1000 % 60, self.records % 1000);
        let line = json!({"at": at, "life": 1, "kind": "thought", "data": {"intent": text, "n": self.records, "deep": [{"x": [text]}]}});
        let mut file =
            fs::OpenOptions::new().append(true).create(true).open(self.path(".self/memory.jsonl")).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    fn remember(&self, kind: &str, data: serde_json::Value) {
        let line = json!({"at": "2026-01-02T00:00:00.000Z", "life": 1, "kind": kind, "data": data});
        let mut file =
            fs::OpenOptions::new().append(true).create(true).open(self.path(".self/memory.jsonl")).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    fn paths(&self) -> SearchPaths {
        SearchPaths {
            root: self.dir.path().to_owned(),
            papers: vec![
                (Kind::Note, self.path("self/notes")),
                (Kind::Skill, self.path("self/skills")),
                (Kind::Fact, self.path("self/facts.md")),
                (Kind::Snapshot, self.path(".self/snapshots")),
            ],
            memory: self.path(".self/memory.jsonl"),
        }
    }

    fn asked(&self, words: &str, kind: Option<Kind>, most_bytes: u64) -> Found {
        let asked = Question { words: words.to_owned(), kind, most_hits: 10, only_told: false };
        search(&self.index(), &self.paths(), most_bytes, &asked).unwrap()
    }

    /// Where the words are found, best first.
    fn find(&self, words: &str) -> Vec<String> {
        let found = self.asked(words, None, ALL);
        found.hits.into_iter().map(|hit| if hit.at.is_empty() { hit.path } else { hit.at }).collect()
    }
}

#[test]
fn every_kind_is_found_and_named() {
    let mut house = House::new();
    house.write("self/notes/birds.md", "# Birds\n\nSwifts sleep in the air, they say.\n");
    house.write("self/skills/post.md", "How to post about swifts\n");
    house.write("self/facts.md", "- Swifts weigh 40 g [book, 2026-01-01]\n- Herons fish\n");
    house.write(".self/snapshots/20260101T000000.000Z.md", "I think of swifts.\n");
    house.write("self/notes/image.png", "swifts");
    house.append("look for swifts");
    let found = house.asked("SWIFT", None, ALL);
    let kinds: Vec<&str> = found.hits.iter().map(|hit| hit.kind.as_str()).collect();
    for kind in Kind::ALL {
        assert_eq!(kinds.iter().filter(|name| **name == kind.name()).count(), 1, "{kind:?} in {kinds:?}");
        let only = house.asked("swifts", Some(kind), ALL);
        assert!(only.hits.len() == 1 && only.hits[0].kind == kind.name(), "{kind:?}: {only:?}");
    }
    let fact = found.hits.iter().find(|hit| hit.kind == "fact").unwrap();
    assert_eq!((fact.path.as_str(), fact.text.contains("Herons")), ("self/facts.md", false), "{fact:?}");
    assert_eq!(house.asked("\"sleep in the air\"", None, ALL).hits.len(), 1);
    assert!(house.asked("\"air the sleep\"", None, ALL).hits.is_empty());
    let some = house.asked("swifts unicorns", None, ALL);
    assert!(some.some_words && some.hits.len() == 5, "{some:?}");
    for odd in ["", "\"", "\"\"", "* OR (", "NEAR(", "a\0b", "papers:", "^x", "'; DROP TABLE files; --", "-"]
    {
        house.asked(odd, None, ALL);
    }
}

#[test]
fn it_keeps_up_with_what_changes() {
    let mut house = House::new();
    house.write("self/notes/a.md", "about owls");
    house.append("first heron");
    assert_eq!(house.find("owls"), ["self/notes/a.md"]);
    house.write("self/notes/a.md", "about swifts, many of them");
    house.append("second heron");
    assert!(house.find("owls").is_empty());
    assert_eq!(house.find("swifts"), ["self/notes/a.md"]);
    assert_eq!(house.find("heron"), ["2026-01-01T00:00:00.002Z", "2026-01-01T00:00:00.001Z"]);
    fs::remove_file(house.path("self/notes/a.md")).unwrap();
    assert!(house.find("swifts").is_empty());
    // A line that is still being written is taken in once it is ended.
    let line =
        json!({"at": "2026-02-02T00:00:00.000Z", "life": 1, "kind": "x", "data": "third heron"}).to_string();
    let (begin, end) = line.split_at(60);
    let mut file = fs::OpenOptions::new().append(true).open(house.path(".self/memory.jsonl")).unwrap();
    file.write_all(begin.as_bytes()).unwrap();
    assert_eq!(house.find("heron").len(), 2);
    writeln!(file, "{end}").unwrap();
    assert_eq!(house.find("heron")[0], "2026-02-02T00:00:00.000Z");
    // Garbage and heartbeats say nothing.
    file.write_all(b"heron heron\n\n\xff\xfe heron\n{\"at\":\"\",\"life\":1,\"kind\":\"heartbeat\",\"data\":\"heron\"}\n").unwrap();
    assert_eq!(house.find("heron").len(), 3);
}

#[test]
fn a_memory_moved_aside_is_still_found_and_older() {
    let mut house = House::new();
    house.append("old heron");
    assert_eq!(house.find("heron").len(), 1);
    fs::rename(house.path(".self/memory.jsonl"), house.path(".self/memory-20260101T000000Z.jsonl")).unwrap();
    assert_eq!(house.find("heron").len(), 1);
    house.append("new heron");
    let found = house.asked("heron", None, ALL);
    let paths: Vec<&str> = found.hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(paths, [".self/memory.jsonl", ".self/memory-20260101T000000Z.jsonl"]);
    assert!(!found.anew);
    // The same, never seen before, in one look.
    fs::remove_file(house.index()).unwrap();
    let found = house.asked("heron", None, ALL);
    assert!(found.anew && found.hits[0].path == ".self/memory.jsonl", "{found:?}");
}

#[test]
fn the_newest_is_indexed_first_in_bounded_steps() {
    let mut house = House::new();
    let filling = "lorem ipsum ".repeat(4_000);
    for n in 0..420 {
        house.append(&format!("bird{n} {filling}"));
    }
    let size = fs::metadata(house.path(".self/memory.jsonl")).unwrap().len();
    assert!(size > 32 << 20);
    let first = house.asked("bird419", None, 1);
    assert_eq!(first.hits.len(), 1);
    assert!(first.unindexed_bytes > 16 << 20 && first.unindexed_bytes < size, "{}", first.unindexed_bytes);
    assert!(house.asked("bird0", None, 0).hits.is_empty());
    house.append("afterwards");
    assert_eq!(house.asked("afterwards", None, 1).hits.len(), 1);
    let mut waiting = first.unindexed_bytes;
    for _ in 0..9 {
        let now = update(&house.index(), &house.paths(), 1).unwrap();
        assert!(now < waiting || now == 0);
        waiting = now;
    }
    assert_eq!(waiting, 0);
    for n in [0, 1, 77, 200, 399, 419] {
        assert_eq!(house.asked(&format!("bird{n}"), None, 0).hits.len(), 1, "bird{n}");
    }
    assert_eq!(house.asked("bird1", None, 0).hits[0].at, "2026-01-01T00:00:00.002Z");
    for n in 420..620 {
        house.append(&format!("bird{n} {filling}"));
    }
    assert!(update(&house.index(), &house.paths(), 1).unwrap() > 8 << 20, "what came since waits too");
    assert_eq!(update(&house.index(), &house.paths(), ALL).unwrap(), 0);
    assert_eq!(house.asked("bird619", None, 0).hits.len(), 1);
}

#[test]
fn garbage_costs_a_rebuild() {
    let mut house = House::new();
    house.write("self/notes/a.md", "about owls");
    house.append("a heron");
    assert_eq!((house.find("owls").len(), house.find("heron").len()), (1, 1));
    let good = fs::read(house.index()).unwrap();
    let mut torn = good.clone();
    torn.iter_mut().skip(4096).for_each(|byte| *byte = 0xa5);
    let other = {
        let path = house.path("other.sqlite");
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch("CREATE TABLE files (x); PRAGMA user_version = 1")
            .unwrap();
        fs::read(path).unwrap()
    };
    let newer = {
        let path = house.path("newer.sqlite");
        rusqlite::Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
        fs::read(path).unwrap()
    };
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("text", b"not a database at all, but longer than a header is ".repeat(9)),
        ("half", good[..good.len() / 2].to_vec()),
        ("torn", torn),
        ("another's", other),
        ("newer", newer),
    ] {
        fs::write(house.index(), bytes).unwrap();
        assert_eq!((house.find("owls").len(), house.find("heron").len()), (1, 1), "{name}");
    }
    // A memory that became shorter was another one.
    fs::write(house.path(".self/memory.jsonl"), "").unwrap();
    house.append("a stork");
    assert_eq!((house.find("heron").len(), house.find("stork").len()), (0, 1));
    let left: Vec<String> = fs::read_dir(house.path(".self/mind"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| {
            !["index.sqlite", "index.sqlite-journal", "index.garbage.sqlite"].contains(&name.as_str())
        })
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Found by living with it: a search for what was known found the question, the thought and the search itself.
#[test]
fn what_was_told_is_found_by_its_best_sentence_and_no_echo_of_the_question() {
    let mut house = House::new();
    let note = "## On swifts\n\n2026-02-20 10:00 · https://a.example/swifts\n\n- They sleep in the air. A swift weighs 40 g.\n";
    house.write("self/notes/birds.md", &format!("# Birds\n\n- Herons fish.\n\n{note}"));
    house.remember("message", json!({"from": "owner", "text": "the swifts came back to our roof"}));
    for n in 0..50 {
        house.append(&format!("I look for swifts, {n}"));
        house.remember("message", json!({"from": "creature", "text": "nothing on swifts"}));
        house.remember("action", json!({"tool": "knowledge.search", "args": {"query": "swifts"}}));
    }
    house.remember("observation", json!({"about": "note", "text": "Eight swifts nest here."}));
    let asked = Question { words: "swifts".to_owned(), kind: None, most_hits: 10, only_told: true };
    let found = search(&house.index(), &house.paths(), ALL, &asked).unwrap();
    let hits: Vec<(&str, &str, &str)> =
        found.hits.iter().map(|hit| (hit.text.as_str(), hit.path.as_str(), hit.at.as_str())).collect();
    let memory = ".self/memory.jsonl";
    assert_eq!(
        hits,
        [
            ("On swifts: They sleep in the air.", "self/notes/birds.md", "2026-02-20"),
            ("Eight swifts nest here.", memory, "2026-01-02T00:00:00.000Z"),
            ("the swifts came back to our roof", memory, "2026-01-02T00:00:00.000Z"),
        ]
    );
    let asked = Question { words: "swift weighs".to_owned(), ..asked };
    let found = search(&house.index(), &house.paths(), ALL, &asked).unwrap();
    assert_eq!(found.hits[0].text, "A swift weighs 40 g.");
}

/// The thought that looked for a fact has all the words of the question; it hid the fact, which has some.
#[test]
fn a_fact_is_found_by_any_of_its_words_though_a_thought_has_all_of_the_question() {
    let mut house = House::new();
    house.write(
        "self/facts.md",
        "- My owner wants to be told when the kettle drops below 40 EUR [owner, 2026-11-25]\n",
    );
    house.append("what did my owner say of the price of the kettle, the wish about 40 EUR");
    update(&house.index(), &house.paths(), ALL).unwrap();
    for words in ["kettle price wish", "price of the kettle", "kettle"] {
        let found = house.asked(words, None, ALL);
        assert_eq!(
            found.hits.first().map(|hit| hit.kind.as_str()),
            Some("fact"),
            "{words}: {:?}",
            found.hits
        );
    }
}
