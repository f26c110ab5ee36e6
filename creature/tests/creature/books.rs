//! Bookkeeping beside memory: what goes where, what a death between two files costs, bounds, and what lies in its place.

use crate::broker::{TOKEN, loopback};
use crate::house::{Script, TempHouse, thought};
use crate::lived::Lived;
use creature::paths::House;
use creature::store::books::{self, Books};
use memory::Record;
use serde_json::{Value, json};
use std::time::Duration;

const MORNING: &str = "2026-03-02T08:00:00Z";

fn kinds(records: &[Record]) -> Vec<String> {
    records.iter().map(|record| record.kind.clone()).collect()
}

/// Living 14: an owner's word made four records.
#[tokio::test]
async fn an_owners_word_is_one_record_of_memory_and_its_answer_another() {
    loopback!();
    let script = Script::new(vec![thought("rest", json!([]), 300)]);
    let house = TempHouse::with_model("openai", &script, 300);
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.wake().await;
    let before = house.records().len();
    house.say(r#"{"at":"2026-03-02T08:04:00Z","text":"pause"}"#);
    lived.wake().await;
    let new = house.records().split_off(before);
    let from: Vec<&Value> = new.iter().map(|record| &record.data["from"]).collect();
    assert_eq!(
        (kinds(&new), from),
        (vec!["message".to_owned(); 2], vec![&json!("owner"), &json!("creature")])
    );
    assert!(house.booked().iter().any(|record| record.data["change"]["directive"]["do"] == "set"));
}

/// Living 14: keyless, an idle wake wrote two records.
#[tokio::test]
async fn an_idle_wake_without_a_key_is_no_record_and_an_idle_hour_is_one() {
    let house = TempHouse::new();
    let mut lived = Lived::born(&house, MORNING, 1).await;
    lived.wake().await;
    lived.wake().await;
    let before = house.records().len();
    for _ in 0..5 {
        lived.wake().await;
    }
    assert_eq!(kinds(&house.records()[before..]), Vec::<String>::new());
    lived.pass(Duration::from_secs(3_600));
    lived.wake().await;
    lived.wake().await;
    // It is Monday at nine: the week is summed up too.
    assert_eq!(kinds(&house.records()[before..]), ["message", "thought"]);
}

#[tokio::test]
async fn a_change_booked_and_not_written_down_is_made_at_birth_from_either_file() {
    for old in [false, true] {
        let house = TempHouse::new();
        let at = "2026-03-02T07:00:00.000Z".to_owned();
        let data = json!({"nth": 1, "change": {"task": {"do": "add", "text": "sweep", "at": at, "every_s": null}},
            "owner": false, "thread": "main"});
        let line = json!({"at": at, "life": 1, "kind": "agenda", "data": data});
        // An older self kept changes in memory, and the count of wakes too.
        let path = if old { ".self/memory.jsonl" } else { ".self/mind/bookkeeping.jsonl" };
        let beat =
            json!({"at": at, "life": 1, "kind": "heartbeat", "data": {"wake": 41, "thoughts": 7, "why": []}});
        house.add(path, &format!("{line}\n{beat}\n"));
        let lived = Lived::born(&house, MORNING, 2).await;
        let tasks = &lived.life.store.agenda.tasks.list;
        assert_eq!((tasks.len(), tasks[0].about.as_str()), (1, "sweep"), "old: {old}");
        assert_eq!(
            (lived.life.cursors.counts.wakes, lived.life.cursors.counts.thoughts),
            (41, 7),
            "old: {old}"
        );
    }
}

#[tokio::test]
async fn a_booked_change_that_only_another_self_can_make_does_not_keep_later_ones_from_being_made() {
    let house = TempHouse::new();
    let at = "2026-03-02T07:00:00.000Z".to_owned();
    let add = |text: &str| json!({"task": {"do": "add", "text": text, "at": at, "every_s": null}});
    let changes = [
        json!({"own": {"do": "dreamt", "of": "herons"}}),
        add("sweep"),
        // Refused by this self, whatever another one made of it.
        json!({"task": {"do": "done", "id": "task-99"}}),
        // As an older self wrote them.
        json!({"own": {"do": "left", "what": "notes/a", "sketch": [1, 2]}}),
        json!({"own": {"do": "used", "what": "notes/a"}}),
        add("mop"),
    ];
    for (change, nth) in changes.into_iter().zip(1..) {
        let data = json!({"nth": nth, "change": change, "owner": false, "thread": "main"});
        let line = json!({"at": at, "life": 1, "kind": "agenda", "data": data});
        house.add(".self/mind/bookkeeping.jsonl", &format!("{line}\n"));
    }
    let lived = Lived::born(&house, MORNING, 2).await;
    let tasks: Vec<&str> =
        lived.life.store.agenda.tasks.list.iter().map(|task| task.about.as_str()).collect();
    assert_eq!(tasks, ["sweep", "mop"]);
    assert!(lived.life.store.agenda.changes >= 6);
}

fn line(number: u64) -> Record {
    Record::new(1, "heartbeat", json!({"wake": number, "why": "w".repeat(100_000), "token": TOKEN}))
}

#[test]
fn whatever_lies_in_its_place_is_moved_aside_and_a_torn_line_costs_itself() {
    let house = TempHouse::new();
    let paths = House::new(house.path(""));
    for place in ["bookkeeping.jsonl", "bookkeeping.before.jsonl"] {
        std::fs::create_dir_all(house.path(&format!(".self/mind/{place}/inside"))).unwrap();
    }
    let mut books = Books::new(&paths);
    for number in 0..90 {
        books.append(&line(number)).unwrap();
    }
    assert!(house.path(".self/mind/bookkeeping.before.jsonl").is_file());
    // While it is open, too.
    std::fs::remove_file(paths.books()).unwrap();
    std::fs::create_dir(paths.books()).unwrap();
    books.append(&line(90)).unwrap();
    drop(books);
    house.add(".self/mind/bookkeeping.jsonl", "{\"at\":\"2026");
    let mut books = Books::new(&paths);
    books.append(&line(91)).unwrap();
    let newest = books::newest(&paths);
    assert_eq!(
        newest.iter().rev().take(2).map(|r| r.data["wake"].as_u64().unwrap()).collect::<Vec<_>>(),
        [91, 90]
    );
}

mod probation {
    use super::*;

    #[test]
    fn it_is_bounded_and_its_last_lines_are_read_over_the_seam() {
        let house = TempHouse::new();
        let paths = House::new(house.path(""));
        let mut books = Books::new(&paths);
        books.hide(TOKEN);
        for number in 0..200 {
            books.append(&line(number)).unwrap();
        }
        let bytes = |name: &str| std::fs::metadata(house.path(&format!(".self/mind/{name}"))).unwrap().len();
        let (now, before) = (bytes("bookkeeping.jsonl"), bytes("bookkeeping.before.jsonl"));
        assert!(now < 5 << 20 && before < 5 << 20 && now + before > 4 << 20, "{now} {before}");
        std::fs::rename(
            house.path(".self/mind/bookkeeping.jsonl"),
            house.path(".self/mind/bookkeeping.before.jsonl"),
        )
        .unwrap();
        books.append(&line(200)).unwrap();
        let wakes: Vec<u64> =
            books::newest(&paths).iter().filter_map(|record| record.data["wake"].as_u64()).collect();
        assert_eq!(wakes.last(), Some(&200));
        assert!(wakes.len() > 5 && wakes.windows(2).all(|two| two[0] + 1 == two[1]), "{wakes:?}");
        let text = std::fs::read_to_string(house.path(".self/mind/bookkeeping.jsonl")).unwrap();
        assert!(!text.contains(TOKEN) && text.contains("[hidden]"));
    }
}
