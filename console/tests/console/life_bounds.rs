//! What the index of a life makes of records that are none, and of a creature that claims what it likes.

use crate::life_index::{act, append, at, drawn, read_up, seen, storied, thought, told, whole};
use console::life::Life;
use serde_json::json;
use std::io::Write;

#[test]
fn what_is_no_record_counts_for_nothing() {
    let house = storied();
    let clean = drawn(&whole(&house));
    let path = house.root.join(".self/memory.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let long = "x".repeat(5 << 20);
    file.write_all(b"{\"at\":\n\xff\xfe\x00\n[]\n{}\n{\"at\":\"9999-01-01T00:00:00.000Z\",\"life\":7,\"kind\":\"thought\",\"data\":{\"thought\":1}}\n").unwrap();
    file.write_all(b"{\"at\":\"2026-02-31T00:00:00.000Z\",\"life\":7,\"kind\":\"thought\",\"data\":{}}\n")
        .unwrap();
    file.write_all(b"{\"at\":\"1970-01-01T00:00:00.000Z\",\"life\":7,\"kind\":\"thought\",\"data\":{}}\n")
        .unwrap();
    file.write_all(long.as_bytes()).unwrap();
    let mut life = whole(&house);
    assert_eq!(drawn(&life), clean);
    // The end of a line that was too long is no record either, and what follows is one.
    file.write_all(format!("{}\n{}\n", thought(3_000, 90, 90), thought(3_010, 91, 91)).as_bytes()).unwrap();
    read_up(&mut life);
    let told = told(&life).join("\n");
    assert!(told.contains("wake 91") && !told.contains("wake 90"), "{told}");
}

#[test]
fn what_the_creature_claims_has_its_bounds() {
    let house = storied();
    let clean = drawn(&whole(&house));
    let claimed = |number: u64| {
        let at = "2026-02-03T00:50:00.000Z";
        json!({"at": at, "life": 1_000 + number, "kind": "observation", "data": {"about": "birth", "commit": "f".repeat(40)}})
    };
    append(&house, ".self/memory.jsonl", &(0..500).map(claimed).collect::<Vec<_>>());
    let life = whole(&house);
    assert_eq!(drawn(&life), clean);
    // Texts have room for what guardian and broker say, however many others there are.
    let filling =
        |number: u32| act(3_000 + number % 100, 4, &format!("{number} {}", "tool ".repeat(18)), true);
    append(&house, ".self/memory.jsonl", &(0..33_000).map(filling).collect::<Vec<_>>());
    append(
        &house,
        ".self/asks.jsonl",
        &[at(4_020, json!({"id": "fresh", "event": "asked", "kind": "purpose"}))],
    );
    let mut life = Life::open(&seen(&house));
    read_up(&mut life);
    append(
        &house,
        ".self/asks.jsonl",
        &[at(4_030, json!({"id": "newest", "event": "asked", "kind": "purpose"}))],
    );
    read_up(&mut life);
    assert!(told(&life).iter().any(|row| row.starts_with("/asks/newest ask newest, rewrite PURPOSE.md")));
}
