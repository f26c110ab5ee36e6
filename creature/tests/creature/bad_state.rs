//! Bad state of every kind: the creature says what is wrong, loses nothing, and thinks.

use crate::house::{TempHouse, wait_for};
use serde_json::json;

/// Files that another writes, and by which name the creature tells of a folder in their place.
const FOLDERS: [(&str, &str); 5] = [
    ("PURPOSE.md", "purpose"),
    (".self/inbox.jsonl", "inbox"),
    (".self/guardian.json", "guardian"),
    (".self/settings.json", "settings"),
    ("self/HEARTBEAT.md", "checklist"),
];

#[test]
fn garbage_in_every_file_is_told_and_survived() {
    let house = TempHouse::new();
    let old = json!({"at": "2026-01-01T00:00:00.000Z", "life": 1, "kind": "of tomorrow", "data": [1]});
    house.write(".self/memory.jsonl", format!("{old}\nnot json at all\n{{\"at\":\"torn"));
    house.write(".self/mind/cursors.json", "\u{1f980}{");
    house.write(".self/mind/instinct.json", [0, 159, 146, 150]);
    house.write(".self/guardian.json", "[1, 2");
    house.owner("[rest]\nshortest_s = \"soon\"\n");
    house.write(".self/inbox.jsonl", b"\xff\xfe\x00binary\n{\"no\":\"text\"}\nreal words\n".as_slice());
    house.write("PURPOSE.md", [0u8; 4_096]);
    house.write("self/HEARTBEAT.md", [255u8; 200_000]);
    let living = house.live(2);
    for about in ["memory", "cursors", "settings", "guardian", "inbox", "purpose", "checklist"] {
        let told = house.record("observation", |data| data["about"] == about);
        assert!(!told.data["text"].as_str().unwrap().is_empty());
    }
    let settings = house.record("observation", |data| data["about"] == "settings");
    assert!(settings.data["text"].as_str().unwrap().contains("[rest]: invalid type"), "{}", settings.data);
    house.record("message", |data| data["text"] == "real words");
    house.record("thought", |data| data["thought"] == 1);
    let status = living.leave();
    assert!(status.success(), "{}", house.log());
    let text = std::fs::read_to_string(house.path(".self/memory.jsonl")).unwrap();
    assert!(text.contains("not json at all") && text.contains("of tomorrow"), "memory was lost");
    assert_eq!(house.records().iter().filter(|r| r.data["about"] == "inbox").count(), 1);
}

#[test]
fn an_empty_house_is_enough() {
    let house = TempHouse::new();
    for name in ["PURPOSE.md", "owner.toml", ".self/settings.json"] {
        std::fs::remove_file(house.path(name)).unwrap();
    }
    std::fs::remove_dir_all(house.path("self")).unwrap();
    let living = house.live(1);
    house.record("thought", |data| data["thought"] == 1);
    assert!(living.leave().success());
}

#[test]
fn folders_in_the_place_of_files_are_told_and_survived() {
    let house = TempHouse::new();
    for (name, _) in FOLDERS {
        let _ = std::fs::remove_file(house.path(name));
        std::fs::create_dir_all(house.path(name)).unwrap();
    }
    let living = house.live(1);
    for (name, about) in FOLDERS {
        let told = house.record("observation", |data| data["about"] == about);
        assert!(!told.data["text"].as_str().unwrap().is_empty(), "{name}");
    }
    house.record("thought", |data| data["thought"] == 1);
    assert!(living.leave().success());
}

#[test]
fn a_memory_that_cannot_be_written_is_a_clear_end() {
    let house = TempHouse::new();
    std::fs::remove_dir_all(house.path(".self")).unwrap();
    house.write(".self", "no folder, and none can be made");
    let status = house.command(1).status().unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(house.log().contains("open memory"), "{}", house.log());
}

mod probation {
    use super::*;

    /// Idle 6: what killed lives left in TMPDIR was never cleared, 1,106 files in 15 minutes of kills.
    #[test]
    fn what_earlier_lives_left_in_their_temporary_folder_is_cleared_and_nothing_else() {
        let house = TempHouse::new();
        for at in 0..50 {
            house.write(&format!(".self/workspace/tmp/left-{at}/deep/a.o"), "x");
            house.write(&format!(".self/workspace/tmp/{at}.tmp"), "x");
        }
        house.write(".self/workspace/work.txt", "mine");
        house.write("self/notes/n.md", "mine");
        house.write("owners/paper.txt", "the owner's");
        std::os::unix::fs::symlink(house.path("owners"), house.path(".self/workspace/tmp/link")).unwrap();
        // Times of change cannot be set back: what is to be old has to get old.
        std::thread::sleep(std::time::Duration::from_millis(2_100));
        let living = house.live(1);
        let left = || std::fs::read_dir(house.path(".self/workspace/tmp")).unwrap().count();
        wait_for("an empty folder", || (left() == 0).then_some(()));
        for kept in [".self/workspace/work.txt", "self/notes/n.md", "owners/paper.txt"] {
            assert!(house.path(kept).exists(), "{kept}");
        }
        // What this life makes there is its own.
        house.write(".self/workspace/tmp/new.tmp", "x");
        house.record("thought", |_| true);
        living.leave();
        assert_eq!(left(), 1);
        // A folder elsewhere that is linked in its place is another's.
        std::fs::remove_dir_all(house.path(".self/workspace/tmp")).unwrap();
        std::os::unix::fs::symlink(house.path("owners"), house.path(".self/workspace/tmp")).unwrap();
        let living = house.live(2);
        house.record("thought", |_| {
            house.records().iter().any(|record| record.life == 2 && record.kind == "thought")
        });
        living.leave();
        assert!(house.path("owners/paper.txt").exists());
    }
}
