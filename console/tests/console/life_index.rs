//! The index of a life: the same however it was come by, right after damage, rotation and another `.self/`, and bounded.

use crate::pages::lived_in;
use console::life::{Life, Span, picture, tell};
use house::moments::Place;
use serde_json::{Value, json};
use std::io::Write;
use trials::{House, SOUND};

/// The house as the console sees it.
pub fn seen(house: &House) -> house::House {
    house::House::new(&house.root)
}

/// An index that has read all there is.
pub fn whole(house: &House) -> Life {
    let mut life = Life::open(&seen(house));
    read_up(&mut life);
    life
}

pub fn read_up(life: &mut Life) {
    while life.look().more {}
}

pub fn place() -> Place {
    Place::named("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
}

pub fn drawn(life: &Life) -> String {
    picture::svg(life, &life.span().unwrap(), 1_200, &place())
}

pub fn told(life: &Life) -> Vec<String> {
    let table = tell::table(life, &life.span().unwrap(), &place());
    table.rows.into_iter().map(|row| format!("{} {}", row.href, row.what)).collect()
}

pub fn append(house: &House, path: &str, records: &[Value]) {
    let path = house.root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    records.iter().for_each(|record| writeln!(file, "{record}").unwrap());
}

pub fn at(second: u32, mut record: Value) -> Value {
    let at = format!("2026-02-03T{:02}:{:02}:{:02}.000Z", second / 3_600, second / 60 % 60, second % 60);
    record.as_object_mut().unwrap().insert("at".into(), at.into());
    record
}

pub fn remembered(second: u32, kind: &str, data: Value) -> Value {
    at(second, json!({"life": 7, "kind": kind, "data": data}))
}

pub fn thought(second: u32, number: u64, wake: u64) -> Value {
    let data = json!({"mind": "m", "thought": number, "wake": wake, "round": 0, "monologue": "I look.", "tool_calls": [],
        "usage": {"input_tokens": 10, "output_tokens": 5}, "owner": false});
    remembered(second, "thought", data)
}

pub fn act(second: u32, number: u64, tool: &str, ok: bool) -> Value {
    remembered(second, "action", json!({"thought": number, "tool": tool, "args": {}, "result": {"ok": ok}}))
}

fn beat(second: u32, wake: u64, why: &[&str]) -> Value {
    remembered(second, "heartbeat", json!({"wake": wake, "thoughts": 1, "why": why}))
}

/// What the creature remembers of it.
fn remembers(house: &House) {
    append(
        house,
        ".self/memory.jsonl",
        &[
            remembered(
                1_090,
                "message",
                json!({"from": "owner", "text": "how are the herons?", "thread": "main"}),
            ),
            thought(1_110, 1, 1),
            act(1_115, 1, "web.fetch_text", true),
            act(1_120, 1, "repo.read", false),
            thought(1_130, 2, 1),
            thought(2_010, 3, 2),
            remembered(
                2_020,
                "self_change",
                json!({"ok": false, "stage": "build", "summary": "rest longer", "error": "no"}),
            ),
            remembered(2_100, "dream", json!({"monologue": "I sort", "done": []})),
            remembered(2_160, "dream", json!({"name": "d", "parts": 1})),
            remembered(
                2_200,
                "message",
                json!({"from": "creature", "kind": "reminder", "text": "feed them"}),
            ),
            thought(2_600, 4, 9),
        ],
    );
}

/// A house in which two lives lived, with something of every kind.
pub fn storied() -> House {
    let house = House::new(SOUND);
    house.write(".self/inbox.jsonl", "how are the herons?\n");
    let (one, two) = ("1".repeat(40), "2".repeat(40));
    append(
        &house,
        ".self/history.jsonl",
        &[
            at(0, json!({"what": "life", "life": 6, "commit": one, "safe": false, "kept_binary": false})),
            at(40, json!({"what": "blessed", "life": 6, "commit": one})),
            at(
                990,
                json!({"what": "commit", "by": "self", "commit": two, "summary": "rest longer", "files": 1}),
            ),
            at(1_000, json!({"what": "life", "life": 7, "commit": two, "safe": false, "kept_binary": false})),
            at(
                4_000,
                json!({"what": "fall", "life": 7, "from_commit": two, "to_commit": one, "cause": "tries_spent", "told": "guardian: put creature back"}),
            ),
            at(4_010, json!({"what": "life", "life": 8, "commit": one, "safe": false, "kept_binary": true})),
        ],
    );
    let death = json!({"life": 7, "ended": "crashed", "cause": "exit status 101", "blame": "code", "commit": two, "lived_s": 2_900.0});
    append(&house, ".self/deaths.jsonl", &[at(3_900, death)]);
    append(
        &house,
        ".self/mind/bookkeeping.jsonl",
        &[
            beat(1_100, 1, &["your owner's word waits"]),
            beat(2_000, 2, &["ready: task-3 water them"]),
            beat(2_500, 3, &[]),
        ],
    );
    remembers(&house);
    append(
        &house,
        ".self/asks.jsonl",
        &[
            at(
                1_500,
                json!({"id": "12", "event": "asked", "kind": "service", "method": "POST", "service": "x", "path": "/2/tweets"}),
            ),
            at(1_700, json!({"id": "12", "event": "approved", "kind": "service"})),
            at(1_800, json!({"id": "13", "event": "asked", "kind": "purpose"})),
        ],
    );
    let settle = |class: &str, cost: u64| json!({"event": "settle", "class": class, "cost_micro_usd": cost, "life": 7});
    append(
        &house,
        ".self/ledger.jsonl",
        &[at(1_112, settle("owner", 20_000)), at(2_012, settle("autonomous", 5_000))],
    );
    house
}

#[test]
fn a_life_is_told_with_all_that_happened_in_it() {
    let house = storied();
    let life = whole(&house);
    let told = told(&life).join("\n");
    for part in [
        "/lives/7 life 7 of commit 2222222, 48 min, crashed (exit status 101), blamed on code",
        "/lives/6 life 6 of commit 1111111, ",
        "/lives/7 fall of life 7, from 2222222 back to 1111111: put creature back",
        "/thought/1 wake 1 of life 7, 30 s: 2 thoughts, 2 acts, 1 of them failed; for your message",
        "/thought/3 wake 2 of life 7, 10 s: 1 thought, 0 acts; by the clock: a task: water them",
        "/thought/4 wake 9 of life 7, 0 s: 1 thought, 0 acts; for a reason not told",
        "/commit/2222222222222222222222222222222222222222 commit 2222222, fell: rest longer",
        "/asks/12 ask 12, POST x /2/tweets: approved after 3 min",
        "/asks/13 ask 13, rewrite PURPOSE.md: waits for your answer",
        "self-edit refused at build: rest longer",
        "dream, 1 min: dreamt",
        "reminder: feed them",
        "you said: how are the herons?",
    ] {
        assert!(told.contains(part), "{part:?} is not in:\n{told}");
    }
    assert!(told.contains("/record/memory.jsonl/"), "{told}");
}

#[test]
fn an_index_that_grew_is_the_one_that_is_made_at_once() {
    let house = storied();
    let path = house.root.join(".self/memory.jsonl");
    let memory = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, "").unwrap();
    let mut grown = Life::open(&seen(&house));
    // In pieces that end within lines.
    for piece in memory.as_bytes().chunks(97) {
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(piece).unwrap();
        read_up(&mut grown);
    }
    let (all_told, all_drawn) = (told(&grown), drawn(&grown));
    drop(grown);
    let reopened = whole(&house);
    assert_eq!((told(&reopened), drawn(&reopened)), (all_told.clone(), all_drawn.clone()));
    drop(reopened);
    std::fs::remove_dir_all(house.root.join(".self/page")).unwrap();
    let anew = whole(&house);
    assert_eq!((told(&anew), drawn(&anew)), (all_told, all_drawn));
}

#[test]
fn what_is_saved_is_taken_up_and_what_is_damaged_is_made_anew() {
    let house = storied();
    let many: Vec<Value> =
        (0..2_000).map(|number| act(3_000 + number / 10, 4, "notes.append", number % 7 > 0)).collect();
    append(&house, ".self/memory.jsonl", &many);
    let life = whole(&house);
    let whole_drawn = drawn(&life);
    drop(life);
    // Nothing is read again of what was saved.
    let mut life = Life::open(&seen(&house));
    let looked = life.look();
    assert_eq!((looked.more, looked.read_bytes), (false, looked.all_bytes));
    assert_eq!(drawn(&life), whole_drawn);
    drop(life);
    let path = house.root.join(".self/page/index");
    let good = std::fs::read(&path).unwrap();
    let middle = good.len() / 3;
    let bad = [
        good[..good.len() / 2].to_vec(),
        [&good[..middle], &[0x40; 9_000], &good[middle + 9_000..]].concat(),
        b"feral index 3 and what was there before".to_vec(),
        vec![],
    ];
    let entries = path.with_file_name("entries");
    for bad in bad {
        let is_of_before = bad.starts_with(b"feral index 3");
        std::fs::write(&path, bad).unwrap();
        std::fs::write(&entries, "of an index before this one").unwrap();
        let mut life = Life::open(&seen(&house));
        read_up(&mut life);
        let _ = drawn(&life);
        read_up(&mut life);
        assert_eq!(drawn(&life), whole_drawn);
        drop(life);
        let mut life = Life::open(&seen(&house));
        let looked = life.look();
        assert_eq!((looked.more, looked.read_bytes), (false, looked.all_bytes));
        assert_eq!(drawn(&life), whole_drawn);
        assert!(!is_of_before || !entries.exists());
    }
}

#[test]
fn rotation_loses_nothing_and_reads_nothing_twice() {
    let house = storied();
    let mut life = whole(&house);
    let before = told(&life);
    let state = house.root.join(".self");
    std::fs::rename(state.join("memory.jsonl"), state.join("memory-2026-02-03T02-00-00.000Z.jsonl")).unwrap();
    std::fs::rename(state.join("mind/bookkeeping.jsonl"), state.join("mind/bookkeeping.before.jsonl"))
        .unwrap();
    append(&house, ".self/memory.jsonl", &[thought(5_000, 5, 10)]);
    append(&house, ".self/mind/bookkeeping.jsonl", &[beat(4_990, 10, &["2 events wait"])]);
    read_up(&mut life);
    let after = told(&life);
    let here = |told: &[String]| {
        told.iter()
            .filter(|row| !row.contains("wake 10") && !row.contains("life 8"))
            .map(|row| row.replace("memory-2026-02-03T02-00-00.000Z.jsonl", "memory.jsonl"))
            .filter(|row| !row.contains("life 7 of"))
            .collect::<Vec<_>>()
    };
    assert_eq!(here(&after), here(&before));
    assert!(
        after.iter().any(
            |row| row.contains("wake 10 of life 7, 10 s: 1 thought, 0 acts; for an event: 2 new events")
        ),
        "{after:#?}"
    );
    assert!(
        after.iter().any(|row| row.starts_with("/record/memory-2026-02-03T02-00-00.000Z.jsonl/0 you said")),
        "{after:#?}"
    );
    // What the reasons were is kept where their file is long gone.
    std::fs::remove_file(state.join("mind/bookkeeping.before.jsonl")).unwrap();
    read_up(&mut life);
    assert_eq!(told(&life), after);
}

#[test]
fn another_state_is_another_life() {
    let house = storied();
    let mut life = whole(&house);
    let state = house.root.join(".self");
    std::fs::rename(&state, house.root.join(".self-before")).unwrap();
    std::fs::create_dir(&state).unwrap();
    append(&house, ".self/memory.jsonl", &[thought(8_000, 77, 70)]);
    read_up(&mut life);
    let told = told(&life);
    assert!(
        told.iter().any(|row| row.contains("wake 70")) && !told.iter().any(|row| row.contains("herons")),
        "{told:?}"
    );
    assert!(state.join("page/index").exists());
    // And so is a memory that was written anew in place.
    std::fs::write(state.join("memory.jsonl"), format!("{}\n", thought(9_000, 5, 71))).unwrap();
    read_up(&mut life);
    assert!(self::told(&life).iter().all(|row| !row.contains("wake 70")), "{:?}", self::told(&life));
    // A history that was moved aside keeps what it told; one that was written anew in place is read anew.
    let event = |commit: &str| {
        at(9_100, json!({"what": "commit", "by": "self", "commit": commit, "summary": commit}))
    };
    append(&house, ".self/history.jsonl", &[event("aaaaaaaa"), event("bbbbbbbb")]);
    read_up(&mut life);
    std::fs::rename(state.join("history.jsonl"), house.root.join("moved-aside")).unwrap();
    append(&house, ".self/history.jsonl", &[event("cccccccc")]);
    read_up(&mut life);
    let commits = |life: &Life| self::told(life).iter().filter(|row| row.starts_with("/commit/")).count();
    assert_eq!(commits(&life), 3);
    std::fs::write(state.join("history.jsonl"), "").unwrap();
    append(&house, ".self/history.jsonl", &[event("dddddddd"), event("eeeeeeee")]);
    read_up(&mut life);
    assert_eq!(commits(&life), 2);
}

#[test]
fn several_processes_keep_one_index_and_see_the_same() {
    let house = storied();
    let mut first = whole(&house);
    append(&house, ".self/memory.jsonl", &[thought(5_000, 5, 10)]);
    let mut second = whole(&house);
    assert!(told(&second).iter().any(|row| row.contains("wake 10")));
    // What one of them read, no other reads again.
    append(&house, ".self/memory.jsonl", &[thought(5_100, 6, 11)]);
    read_up(&mut first);
    assert_eq!(second.look().read_bytes, first.look().read_bytes);
    assert_eq!(drawn(&first), drawn(&second));
    let looks = (0..4).map(|number| {
        let house = seen(&house);
        std::thread::spawn(move || {
            let mut life = Life::open(&house);
            for _ in 0..20 {
                read_up(&mut life);
                assert!(drawn(&life).contains("wake 11"), "{number}");
            }
        })
    });
    for look in looks.collect::<Vec<_>>() {
        append(&house, ".self/memory.jsonl", &[act(5_200, 6, "repo.read", true)]);
        look.join().unwrap();
    }
    read_up(&mut first);
    let drawn_first = drawn(&first);
    drop((first, second));
    std::fs::remove_dir_all(house.root.join(".self/page")).unwrap();
    assert_eq!(drawn(&whole(&house)), drawn_first);
}

#[test]
fn an_index_that_cannot_be_kept_is_held_in_memory() {
    let house = storied();
    let whole_drawn = drawn(&whole(&house));
    let page = house.root.join(".self/page");
    for name in ["index", "index-wal", "index-shm"] {
        std::fs::remove_dir_all(&page).unwrap();
        std::fs::create_dir_all(page.join(name)).unwrap();
        assert_eq!(drawn(&whole(&house)), whole_drawn, "{name}");
        assert!(page.join(name).is_dir());
    }
    std::fs::remove_dir_all(&page).unwrap();
    std::fs::write(&page, "no folder").unwrap();
    assert_eq!(drawn(&whole(&house)), whole_drawn);
}

#[test]
fn a_house_as_it_is_lived_in_is_indexed_and_one_of_nothing_is_empty() {
    let house = lived_in();
    let life = whole(&house);
    let told = told(&life).join("\n");
    assert!(told.contains("40 thoughts") && told.contains("for your message"), "{told}");
    let empty = House::new(SOUND);
    let life = whole(&empty);
    assert_eq!(life.span(), None);
    let svg = picture::svg(&life, &Span::of_ms(0, 0), 800, &place());
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"), "{svg}");
}
