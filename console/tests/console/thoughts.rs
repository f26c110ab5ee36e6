//! `why`: a thought with what woke it, what it saw and what came of it, however large the memory it lies in.

use crate::pages::{document, in_order, lived_in, page, thought};
use console::why::found;
use std::io::Write;
use trials::{House, SOUND, said};

#[test]
fn a_thought_is_told_with_why_it_woke_what_it_saw_and_what_came_of_it() {
    let house = lived_in();
    let told = page(&house, &["why", "38"]);
    in_order(
        &told,
        &[
            "38 at 2026-01-02 08:05:00, by anthropic/some-model, for your words",
            "life 6, wake 12, round 1",
            "woke for   a word of the owner's",
            "action: notes.append ok",
            "word: owner: how are the herons?",
            "put to the model, 35 characters, in .self/mind/conversations/talk-main.jsonl",
            "The owner says: how are the herons?",
            "a reply that could not be read: no JSON",
            "They nest.",
            "I look them up.",
            "web.fetch_text ok",
            "repo.read failed: nowhere.rs does not exist",
            "rest 1 min",
            "$0.0500 for 2 calls settled since the thought before (some-model); input tokens 1000, output tokens 20",
            ".self/memory.jsonl (\"thought\":38)",
            ".self/log/life-6.log",
        ],
    );
    assert!(!told.contains("put to another") && !told.contains("as well"), "{told}");
    assert!(!told.contains("an earlier situation") && !told.contains("the thought after"), "{told}");
    let after = page(&house, &["why", "39"]);
    assert!(
        after.contains("action: repo.read failed") && !after.contains("how are the herons?"),
        "what 38 saw: {after}"
    );
    for (which, number) in [(None, 39), (Some("last-1"), 38), (Some("last-30"), 9), (Some("12"), 12)] {
        let args: Vec<&str> = ["why", "--json"].into_iter().chain(which).collect();
        let json = document(&house, &args);
        assert_eq!(json["thought"], number, "{which:?}");
    }
    assert!(page(&house, &["why", "12"]).contains("an old one, 12"), "from what was rotated away");
    for wrong in ["40", "last-39", "0", "yesterday", "last-\u{1b}[2J"] {
        let output = house.ask(&["why", wrong]);
        assert_eq!(output.status.code(), Some(1), "{wrong:?}: {}", said(&output));
    }
}

/// However much memory there is, a thought is found by halving: what is in between is never read. A hole of ten gigabytes
/// within the file would take longer than anyone waits.
#[test]
fn a_thought_is_found_in_a_memory_too_large_to_read() {
    let house = House::new(SOUND);
    std::fs::create_dir_all(house.path(".self")).unwrap();
    let path = house.path(".self/memory.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    for number in 1..=30_000_u64 {
        writeln!(file, "{}", thought(1, number, &"x".repeat(2_000), &[])).unwrap();
    }
    file.flush().unwrap();
    drop(file);
    let inner = house::House::new(&house.root);
    let read = || {
        let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        text.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse::<u64>().ok()).unwrap()
    };
    let bytes = std::fs::metadata(&path).unwrap().len();
    for wanted in [2, 777, 15_000, 29_998] {
        let before = read();
        let found = found::thought(&inner, wanted).unwrap();
        assert_eq!(found.thought["data"]["thought"], wanted);
        assert!(
            read() - before < bytes / 6,
            "{} of {bytes} bytes were read for thought {wanted}",
            read() - before
        );
    }
    let before = read();
    assert_eq!(found::last(&inner), Some(30_000));
    assert!(read() - before < bytes / 20);
}
