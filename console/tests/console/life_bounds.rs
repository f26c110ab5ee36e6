//! What the index of a life makes of records that are none, and of a creature that claims what it likes.

use crate::life_index::{act, append, at, drawn, place, read_up, seen, storied, thought, told, whole};
use console::life::{Life, tell};
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

#[test]
fn no_number_and_no_word_is_too_much_for_a_column() {
    let house = storied();
    let settle = |second: u32, cost: u64| {
        at(
            second,
            json!({"event": "settle", "class": "autonomous", "cost_micro_usd": cost, "life": u64::MAX}),
        )
    };
    append(
        &house,
        ".self/ledger.jsonl",
        &[settle(3_000, u64::MAX), settle(3_001, u64::MAX), settle(3_002, i64::MAX as u64)],
    );
    let mut most = thought(3_010, u64::MAX, u64::MAX);
    most["data"]["usage"] = json!({"input_tokens": u64::MAX, "output_tokens": u64::MAX});
    most["life"] = json!(u64::MAX);
    let word = "'); DROP TABLE wake; DELETE FROM life; -- \" ?1 \u{0} %s";
    let said = at(
        3_020,
        json!({"life": 7, "kind": "message", "data": {"from": "creature", "text": word, "thread": "main"}}),
    );
    append(&house, ".self/memory.jsonl", &[most, said, act(3_030, u64::MAX, word, false)]);
    let life = whole(&house);
    let (all_told, all_drawn) = (told(&life), drawn(&life));
    let heard = format!("it said: {}", house::printable::spelled(word));
    assert!(all_told.iter().any(|row| row.contains(&heard)), "{all_told:#?}");
    assert!(all_told.iter().any(|row| row.contains("wake 1 of life 7")), "{all_told:#?}");
    drop(life);
    // As it is kept, and as it is made anew.
    let kept = whole(&house);
    assert_eq!((told(&kept), drawn(&kept)), (all_told.clone(), all_drawn.clone()));
    drop(kept);
    std::fs::remove_dir_all(house.root.join(".self/page")).unwrap();
    let anew = whole(&house);
    assert_eq!((told(&anew), drawn(&anew)), (all_told, all_drawn));
}

#[test]
fn of_what_is_told_singly_the_newest_stay() {
    let house = storied();
    let fall = |number: u32| {
        let commit = format!("{number:07}{}", "0".repeat(33));
        let told =
            json!({"what": "fall", "life": 8, "from_commit": commit, "to_commit": "1", "told": "back"});
        at(5_000 + number, told)
    };
    append(&house, ".self/history.jsonl", &(0..6_000).map(fall).collect::<Vec<_>>());
    let life = whole(&house);
    let table = tell::table(&life, &life.span().unwrap(), &place());
    let (all, falls) = (table.rows.len() + table.left_out, 5_000);
    assert!((falls..falls + 30).contains(&all), "{all}");
    assert!(table.rows.iter().any(|row| row.what.contains("from 0005999")), "{:?}", table.rows.last());
}

#[test]
fn caps_that_are_read_again_are_no_others() {
    let house = storied();
    let mut life = Life::open(&seen(&house));
    let mut lines_with = |cap: f64, spent: f64| {
        let day = json!({"span": "day", "cap_usd": cap, "autonomous_cap_usd": 1.0, "spent_usd": spent});
        house.write(".self/budget.json", &json!({"caps": [day]}).to_string());
        read_up(&mut life);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let now = json!({"at": house::clock::stamp(), "life": 8, "kind": "thought", "data": {"thought": 9, "wake": 9}});
        append(&house, ".self/memory.jsonl", &[now]);
        read_up(&mut life);
        drawn(&life).matches("<path class=\"cap\"").count()
    };
    assert_eq!([lines_with(5.0, 0.1), lines_with(5.0, 0.2), lines_with(6.0, 0.3)], [1, 1, 2]);
}
