//! Bad state of every kind: the creature says what is wrong, loses nothing, and thinks.

use crate::house::TempHouse;
use serde_json::json;

#[test]
fn garbage_in_every_file_is_told_and_survived() {
    let house = TempHouse::new();
    let old = json!({"at": "2026-01-01T00:00:00.000Z", "life": 1, "kind": "of tomorrow", "data": [1]});
    house.write(".self/memory.jsonl", format!("{old}\nnot json at all\n{{\"at\":\"torn"));
    house.write(".self/mind/cursors.json", "\u{1f980}{");
    house.write(".self/mind/instinct.json", [0, 159, 146, 150]);
    house.write(".self/guardian.json", "[1, 2");
    house.write("owner.toml", "[model]\nprovider = \"instinct\"\n[rest]\nshortest_s = \"soon\"\n");
    house.write(".self/inbox.jsonl", b"\xff\xfe\x00binary\n{\"no\":\"text\"}\nreal words\n".as_slice());
    house.write("PURPOSE.md", [0u8; 4_096]);
    house.write("self/HEARTBEAT.md", [255u8; 200_000]);
    let living = house.live(2);
    for about in ["memory", "cursors", "settings", "guardian", "inbox", "purpose", "checklist"] {
        let told = house.record("observation", |data| data["about"] == about);
        assert!(!told.data["text"].as_str().unwrap().is_empty());
    }
    let settings = house.record("observation", |data| data["about"] == "settings");
    assert!(settings.data["text"].as_str().unwrap().contains("line 4"), "{}", settings.data);
    house.record("message", |data| data["text"] == "real words");
    house.record("thought", |data| data["thought"] == 1);
    let (status, _) = living.leave();
    assert!(status.success(), "{}", house.log());
    let text = std::fs::read_to_string(house.path(".self/memory.jsonl")).unwrap();
    assert!(text.contains("not json at all") && text.contains("of tomorrow"), "memory was lost");
    assert_eq!(house.records().iter().filter(|r| r.data["about"] == "inbox").count(), 1);
}

#[test]
fn an_empty_house_is_enough() {
    let house = TempHouse::new();
    for name in ["PURPOSE.md", "owner.toml"] {
        std::fs::remove_file(house.path(name)).unwrap();
    }
    std::fs::remove_dir_all(house.path("self")).unwrap();
    let living = house.live(1);
    house.record("thought", |data| data["thought"] == 1);
    assert!(living.leave().0.success());
}

#[test]
fn folders_in_the_place_of_files_are_told_and_survived() {
    let house = TempHouse::new();
    std::fs::remove_file(house.path("PURPOSE.md")).unwrap();
    for name in ["PURPOSE.md", ".self/inbox.jsonl", ".self/guardian.json", "self/HEARTBEAT.md"] {
        std::fs::create_dir_all(house.path(name)).unwrap();
    }
    let living = house.live(1);
    house.record("observation", |data| data["about"] == "purpose");
    house.record("thought", |data| data["thought"] == 1);
    assert!(living.leave().0.success());
}

#[test]
fn a_memory_that_cannot_be_written_is_a_clear_end() {
    let house = TempHouse::new();
    std::fs::create_dir_all(house.path(".self/memory.jsonl")).unwrap();
    let status = house.command(1).status().unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(house.log().contains("memory.jsonl"), "{}", house.log());
}
