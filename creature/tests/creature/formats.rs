//! The files between guardian and creature: golden examples read by the creature's own readers, and written by it alike.

use crate::house::{TempHouse, wait_for};
use agenda::Change;
use creature::digest::{Facts, digest};
use creature::guardian_post::{Kind, answer, write_request};
use creature::heartbeat::{Heart, Stage};
use creature::paths::House;
use creature::senses::guardian::{End, Fall, Standing};
use creature::tools::catalogue::LIST;
use memory::{Log, kinds, tail};
use mind::context;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn golden_value(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(golden(name)).unwrap()).unwrap()
}

fn keys(value: &Value) -> Vec<&String> {
    value.as_object().unwrap().keys().collect()
}

#[test]
fn memory_is_read_and_written_byte_for_byte() {
    let found = tail(&golden("memory.jsonl"), 100, 1 << 20).unwrap();
    assert_eq!((found.records.len(), found.garbage_lines, found.oversized_lines), (16, 0, 0));
    let house = TempHouse::new();
    let (mut log, _) = Log::open(&house.path(".self/memory.jsonl")).unwrap();
    for record in &found.records {
        log.append(record).unwrap();
    }
    let written = std::fs::read_to_string(house.path(".self/memory.jsonl")).unwrap();
    assert_eq!(written, std::fs::read_to_string(golden("memory.jsonl")).unwrap());
    let failed: Vec<&str> =
        found.records.iter().filter(|r| kinds::failed(r)).map(|r| r.kind.as_str()).collect();
    assert_eq!(failed, ["death", "death", "action", "self_change", "thought"]);
    for record in found.records.iter().filter(|record| record.kind == "agenda") {
        let change: Change = serde_json::from_value(record.data["change"].clone()).unwrap();
        assert_eq!(serde_json::to_value(&change).unwrap(), record.data["change"]);
    }
    let said = digest(&Facts { life: 7, tools: &LIST, ..Facts::default() }, &found.records[..11], None);
    for part in [
        "x.post",
        "nowhere.rs",
        "answer the owner",
        "My change \"rest longer\" was proven and asks to be born.",
        "failed at build",
        "After 3 death(s)",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn records_of_a_newer_self_are_carried_and_shown() {
    let found = tail(&golden("memory_newer.jsonl"), 100, 1 << 20).unwrap();
    assert_eq!((found.records.len(), found.garbage_lines), (5, 0));
    let lines: Vec<String> = found.records.iter().map(|record| context::line(record, 200)).collect();
    assert_eq!(lines[0], "2031-03-01T08:00:00 life 12 thought: I have moods now. → look");
    assert!(lines[1].contains("premonition") && lines[1].contains("deep"), "{}", lines[1]);
    assert!(lines[3].contains("not an object at all"), "{}", lines[3]);
    assert_eq!(found.records[0].data["mood"]["valence"], 0.5, "what is not known is kept");
    assert!(!digest(&Facts::default(), &found.records, None).is_empty());
}

#[test]
fn the_heartbeat_has_its_keys_in_their_order() {
    let house = TempHouse::new();
    let path = house.path("heartbeat");
    let heart = Heart::start(&path, 7, Duration::from_secs(60)).unwrap();
    heart.stage(Stage::Thinking, Duration::from_secs(60));
    let beat = wait_for("a beat", || serde_json::from_slice::<Value>(&std::fs::read(&path).ok()?).ok());
    let golden = golden_value("heartbeat.json");
    assert_eq!(keys(&beat), keys(&golden));
    for (key, value) in golden.as_object().unwrap() {
        assert_eq!(std::mem::discriminant(&beat[key]), std::mem::discriminant(value), "{key}");
    }
    assert_eq!(beat["until"].as_str().unwrap().len(), golden["until"].as_str().unwrap().len());
}

#[test]
fn requests_are_written_as_the_guardian_reads_them() {
    let house = TempHouse::new();
    std::fs::create_dir_all(house.path(".self/mind")).unwrap();
    let paths = House::new(house.path(""));
    for (kind, name) in [(Kind::Commit, "request_commit.json"), (Kind::Rebirth, "request_rebirth.json")] {
        let golden = golden_value(name);
        let id = write_request(&paths, 7, kind, golden["summary"].as_str().unwrap()).unwrap();
        let written: Value = serde_json::from_slice(&std::fs::read(paths.request()).unwrap()).unwrap();
        let mut expected = golden.clone();
        expected["id"] = id.as_str().into();
        assert_eq!((&written, keys(&written)), (&expected, keys(&golden)));
        assert!(
            id.len() <= 64 && id.matches('-').count() == golden["id"].as_str().unwrap().matches('-').count()
        );
    }
}

#[test]
fn the_guardians_word_is_read_whole() {
    let standing = Standing::read(&golden("guardian.json")).unwrap().unwrap();
    assert_eq!((standing.life, standing.blessed), (7, true));
    assert_eq!(standing.born.unwrap().summary, "rest longer");
    let ended: Vec<&str> = standing.ends.iter().map(|end| end.ended.as_str()).collect();
    assert_eq!(ended, ["build_failed", "crashed"]);
    let told = standing.ends[1].sentence();
    for part in ["Life 6", "exit status 101", "code", "0f1e2d3", "panicked"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = standing.falls[0].sentence();
    for part in ["After 3 death(s)", "0f1e2d3 to 1a2b3c4", "refs/guardian/fallen/0f1e2d3"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let newer = Standing::read(&golden("guardian_newer.json")).unwrap().unwrap();
    assert_eq!((newer.life, newer.ends[0].blame.as_str(), newer.falls.len()), (12, "weather", 0));
}

#[test]
fn answers_are_found_by_their_id() {
    let house = TempHouse::new();
    let paths = House::new(house.path(""));
    let found = |name: &str, id: &str| {
        house.write(".self/guardian.json", std::fs::read_to_string(golden(name)).unwrap());
        answer(&paths, id)
    };
    let committed = found("guardian.json", "7-1767323045678-0").expect("an answer with its commit");
    assert_eq!(
        (committed.ok, committed.commit.as_deref().and_then(|commit| commit.get(..7))),
        (true, Some("2b3c4d5"))
    );
    let refused = found("guardian.json", "12-1").expect("a refusal");
    assert_eq!((refused.ok, refused.hint.as_str()), (false, "commit, reset or rebirth"));
    assert!(found("guardian_newer.json", "12-1").expect("an answer with more keys").ok);
    assert_eq!(found("guardian.json", "no such"), None);
}

#[test]
fn an_answer_without_a_commit_is_an_answer() {
    let house = TempHouse::new();
    house.write(".self/guardian.json", std::fs::read_to_string(golden("guardian.json")).unwrap());
    let nothing_new = answer(&House::new(house.path("")), "7-1767323046000-1").expect("a null commit");
    assert!(nothing_new.ok);
}

#[test]
fn a_line_of_deaths_or_history_is_what_the_guardian_tells_of() {
    let lines = |name: &str| std::fs::read_to_string(golden(name)).unwrap();
    let ends: Vec<End> =
        lines("deaths.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(ends[0].sentence().contains("exit status 101") && ends[1].sentence().contains("starved"));
    let history = lines("history.jsonl");
    let fall = history.lines().find(|line| line.contains("\"what\":\"fall\"")).unwrap();
    let fall: Fall = serde_json::from_str(fall).unwrap();
    assert_eq!((fall.deaths, fall.key().as_str()), (3, "fall 6 2026-01-02T03:02:00.000Z"));
}
