//! The files between guardian and creature: golden examples read by the guardian's own readers, and written by it alike.

use console::{feed, history};
use guardian::act::heartbeat::Heartbeat;
use guardian::act::requests;
use house::moments::Place;
use house::terminal::Screen;
use house::{House, records};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn golden_value(name: &str) -> Value {
    serde_json::from_slice(&fs::read(golden(name)).unwrap()).unwrap()
}

/// Records of a file, and how many of its lines are none.
fn records_of(path: &Path) -> (Vec<Value>, usize) {
    let mut records = records::of(path);
    (records.by_ref().collect(), records.bad)
}

fn history_since(house: &House, since: &str) -> (Vec<Value>, Value) {
    let mut events = Vec::new();
    let (spend, _) = history::stream(house, since, |event| events.push(event));
    (events, spend.as_json())
}

/// A folder that is a house as far as files go, with golden files put in their places.
fn house(files: &[(&str, &str)]) -> (TempDir, House) {
    let folder = TempDir::new().unwrap();
    for (name, place) in files {
        let place = folder.path().join(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(golden(name), place).unwrap();
    }
    let house = House::new(folder.path());
    (folder, house)
}

/// The line of a record where no terminal is.
fn rendered(record: &Value) -> Option<String> {
    let mut screen = Screen::new(None, false, Place::named("UTC0").unwrap());
    feed::row(record).and_then(|row| screen.lines(&row).pop())
}

#[test]
fn both_sides_hold_the_same_bytes() {
    let theirs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../creature/tests/golden");
    // A creature that rewrote itself may have moved its tests; then there is nothing to compare.
    if !theirs.exists() {
        return;
    }
    let names = |folder: &Path| -> BTreeSet<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let ours = names(&golden(""));
    assert_eq!(
        ours,
        names(&theirs),
        "guardian/tests/golden and creature/tests/golden differ: copy what is missing"
    );
    for name in ours {
        let same = fs::read(golden(&name)).unwrap() == fs::read(theirs.join(&name)).unwrap();
        assert!(
            same,
            "{name} differs between guardian/tests/golden and creature/tests/golden: change both or neither"
        );
    }
}

#[test]
fn every_kind_of_record_makes_its_line_in_the_feed() {
    let (records, bad) = records_of(&golden("memory.jsonl"));
    assert_eq!(bad, 0);
    let lines: Vec<String> = records.iter().filter_map(rendered).collect();
    let expected = [
        "2026-01-02 03:04:05 noticed   birth: life 7 of commit 1a2b3c4, mind instinct",
        "2026-01-02 03:04:05 death     Life 6 ended: crashed (exit status 101); the guardian blames code; it ran commit 0f1e2d3",
        "2026-01-02 03:04:05 death     After 3 death(s) (tries_spent) the guardian put creature/ back from commit 0f1e2d3 to 1a2b3c4",
        "2026-01-02 03:04:07 word      owner: what did you learn?",
        "2026-01-02 03:04:08 thought   A change of mine died. I look before I edit. — answer the owner",
        "2026-01-02 03:04:09 action    x.post drafted only: self/drafts/2026-01-02.md",
        "2026-01-02 03:04:10 action    repo.read failed: creature/src/nowhere.rs does not exist",
        "2026-01-02 03:04:11 self-edit rest longer (build): cargo build failed",
        "2026-01-02 03:04:12 self-edit rest longer (asked)",
        "2026-01-02 03:04:13 garbled   the mind's reply could not be read: the reply is not JSON at line 1",
        "2026-01-02 03:04:14 snapshot  path .self/snapshots/2026-01-02T03-04-14.md, thoughts 38",
        "2026-01-02 03:04:15 word      creature: that I must look first",
        "2026-01-02 03:04:16 agenda    goal add A greenhouse",
        "2026-01-02 03:04:17 agenda    task close task-2",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn an_agenda_of_any_shape_does_the_feed_no_harm() {
    let line =
        |data: Value| rendered(&json!({"at": "2026-01-02T03:04:05.000Z", "kind": "agenda", "data": data}));
    let turn = line(json!({"about": "session", "session": "session-1", "thought": "I look", "intent": ""}));
    assert_eq!(turn.as_deref(), Some("2026-01-02 03:04:05 agenda    session-1: I look"));
    assert_eq!(line(json!({"change": {"looked": {"do": "at", "id": "task-2"}}})), None);
    for garbage in [json!("x"), json!({}), json!({"goal": "add"}), json!({"goal": {"do": ["add"]}})] {
        assert!(
            line(json!({"change": garbage}))
                .is_none_or(|line| line.starts_with("2026-01-02 03:04:05 agenda"))
        );
    }
}

#[test]
fn records_of_a_newer_creature_are_carried() {
    let (records, bad) = records_of(&golden("memory_newer.jsonl"));
    assert_eq!((records.len(), bad), (5, 0));
    let lines: Vec<String> = records.iter().filter_map(rendered).collect();
    assert_eq!(
        lines,
        [
            "2031-03-01 08:00:00 thought   I have moods now. — look",
            "2031-03-01 08:00:01 premonition seen 1; 2.5; true",
            "2031-03-01 08:00:03 note      not an object at all",
            "2031-03-01 08:00:04 action    dream.walk ok"
        ]
    );
    let text = fs::read_to_string(golden("memory_newer.jsonl")).unwrap();
    let of_twelve: Vec<bool> =
        text.lines().map(|line| guardian::act::heartbeat::is_thought_of(line, 12)).collect();
    assert_eq!(of_twelve, [true, false, false, false, false]);
}

#[test]
fn a_kind_without_a_row_of_its_own_is_shown_by_what_it_says() {
    let usage = json!({"input_tokens": 9, "model": "m"});
    let parts = json!([{"part": "facts", "ok": true, "said": "2 merged"}, {"part": "pulse", "ok": false, "said": "no disk"}]);
    for (kind, data, expected) in [
        (
            "dream",
            json!({"monologue": "Two are one.", "done": ["a", "b"], "refused": [], "usage": usage}),
            "dream     monologue Two are one., done a; b",
        ),
        ("dream", json!({"garbled": "no JSON", "usage": null}), "dream     garbled no JSON"),
        (
            "dream",
            json!({"name": "20260102T030000.000Z", "parts": parts}),
            "dream     name 20260102T030000.000Z, parts facts: ok: 2 merged; pulse: not ok: no disk",
        ),
        ("dream", json!({"undone": "20260102T030000.000Z"}), "dream     undone 20260102T030000.000Z"),
        ("hunch", json!({"text": "It will rain.", "sure": 0.5}), "hunch     It will rain."),
        ("hunch", json!({"about": "weather", "text": "It will rain."}), "hunch     weather: It will rain."),
        ("hunch", json!({"sure": {"of": 0.5}}), "hunch     {\"sure\":{\"of\":0.5}}"),
    ] {
        let line = rendered(&json!({"at": "2026-01-02T03:04:05.000Z", "kind": kind, "data": data}));
        assert_eq!(line, Some(format!("2026-01-02 03:04:05 {expected}")));
    }
}

#[test]
fn only_a_readable_thought_of_this_life_counts() {
    let text = fs::read_to_string(golden("memory.jsonl")).unwrap();
    let thoughts =
        |life| text.lines().filter(|line| guardian::act::heartbeat::is_thought_of(line, life)).count();
    assert_eq!((thoughts(7), thoughts(6)), (1, 0), "the garbled one does not count");
}

#[test]
fn the_heartbeat_is_read_leniently() {
    for (name, turns, thoughts, stage) in
        [("heartbeat.json", 40, 38, "thinking"), ("heartbeat_newer.json", 41, 39, "dreaming")]
    {
        let (folder, house) = house(&[]);
        fs::create_dir_all(folder.path().join(".self")).unwrap();
        let mut heart = Heartbeat::new(house.heartbeat());
        fs::copy(golden(name), house.heartbeat()).unwrap();
        let claim = heart.look(7).unwrap().clone();
        assert_eq!(
            (claim.life, claim.turns, claim.thoughts, claim.stage.as_str()),
            (7, turns, thoughts, stage)
        );
        assert!(!claim.mind.is_empty());
        assert_eq!(heart.look(7), None, "one beat is one beat");
        heart.reset();
        fs::remove_file(house.heartbeat()).unwrap();
        fs::copy(golden(name), house.heartbeat()).unwrap();
        assert_eq!(heart.look(8), None, "a beat of another life");
    }
}

#[test]
fn requests_are_read_and_those_of_tomorrow_refused_by_name() {
    let read = |name| {
        let (_folder, house) = house(&[(name, ".self/mind/request.json")]);
        requests::read(&house).unwrap().unwrap()
    };
    let commit = read("request_commit.json");
    assert_eq!((commit.id.as_str(), commit.life, commit.kind.as_str()), ("7-1767323045678-0", 7, "commit"));
    assert_eq!((commit.summary().as_str(), commit.is_rebirth_of(7)), ("diary of today", false));
    let rebirth = read("request_rebirth.json");
    assert!(rebirth.is_rebirth_of(7) && !rebirth.is_rebirth_of(8));
    let newer = read("request_newer.json");
    assert_eq!((newer.kind.as_str(), newer.summary().as_str()), ("vacation", "two lines"));
    let golden = golden_value("guardian.json");
    let answers = golden["answers"].as_array().unwrap();
    assert_eq!(answers[0], commit.done(Some("2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e".into())));
    assert_eq!(keys(&answers[1]), keys(&commit.done(None)));
    assert_eq!(answers[2], newer.refused("no request is called `vacation`", "commit, reset or rebirth"));
}

#[test]
fn the_history_is_told_from_the_records() {
    let (_folder, house) = house(&[
        ("memory.jsonl", ".self/memory.jsonl"),
        ("deaths.jsonl", ".self/deaths.jsonl"),
        ("history.jsonl", ".self/history.jsonl"),
    ]);
    let (events, spend) = history_since(&house, "2026-01-02T00:00:00.000Z");
    let what: Vec<&str> = events.iter().map(|event| records::text(event, "what")).collect();
    let expected = [
        "commit",
        "life",
        "death",
        "rescued",
        "fall",
        "blessed",
        "message",
        "drafted",
        "self_edit",
        "self_edit",
        "message",
        "goal",
        "eclipse",
        "death",
    ];
    let sorted = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!((sorted(&what), what.len()), (sorted(&expected), expected.len()), "{what:?}");
    assert_eq!((&spend["thoughts"], &spend["actions"]), (&2.into(), &2.into()));
    assert_eq!(
        (&spend["tokens"]["input_tokens"], &spend["tokens"]["cache_read_tokens"]),
        (&1_000.into(), &700.into())
    );
    let (later, _) = history_since(&house, "2030-01-01T00:00:00.000Z");
    assert_eq!(later.len(), 2);
}

/// The shape of a document: its keys, and those of objects in it and of the first object of each list in it.
fn keys(value: &Value) -> BTreeSet<String> {
    let Some(object) = value.as_object() else { return BTreeSet::new() };
    let mut found = BTreeSet::new();
    for (key, value) in object {
        found.insert(key.clone());
        let inner = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        found.extend(keys(inner).into_iter().map(|inner| format!("{key}.{inner}")));
    }
    found
}

#[test]
fn a_real_guardian_writes_what_the_golden_files_hold() {
    let house = trials::House::new(
        "think alive\ncase $FERAL_LIFE in\n\
        1) exit 3;;\n\
        2) ask commit papers 0; blessed; until grep -q \"$FERAL_LIFE-0\" .self/guardian.json; do beat; sleep 0.1; done;\n\
           echo '# new' >> creature/creature.sh; ask rebirth 'rest longer' 1; exit 0;;\n\
        3|4|5) exit 7;;\n\
        esac; live",
    );
    let guardian = house.start();
    house.until("a fall, and a life after it", || {
        !house.told("fall").is_empty() && house.told("life").len() >= 6
    });
    let mut status = Value::Null;
    house.until("it to be blessed", || {
        status = house.status();
        status["blessed"] == true
    });
    assert!(house.ask(&["resume"]).status.success());
    let status = house.status();
    guardian.stop();
    let mut expected = keys(&golden_value("guardian.json"));
    // Only a life that came of a rebirth is told of it.
    expected.remove("born.summary");
    assert_eq!(keys(&status), expected, "guardian.json and its golden file have different keys");
    let (wanted, _) = records_of(&golden("deaths.jsonl"));
    assert_eq!(keys(&house.deaths()[0]), keys(&wanted[0]), "deaths.jsonl");
    let (wanted, _) = records_of(&golden("history.jsonl"));
    for line in wanted.iter().filter(|line| !["eclipse", "rescued"].contains(&records::text(line, "what"))) {
        let what = records::text(line, "what");
        let told = house.told(what);
        let told = told.first().unwrap_or_else(|| panic!("nothing was told of a {what}"));
        assert_eq!(keys(told), keys(line), "{what} in history.jsonl");
    }
}
