//! The morning report: what a night's records come to on one screen, weightiest first; and what it costs to read them.

use crate::asks::{asked, ledger};
use crate::pages::{at, lines, record};
use console::report::facts::{Facts, Tally};
use console::report::told;
use house::records;
use serde_json::{Value, json};
use std::io::Write;
use trials::{House, SOUND, said};

/// Commits of the night: one blessed, one that fell, one of papers alone.
const BLESSED: &str = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";
const FELL: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c";
const PAPERS: &str = "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c";

fn report(house: &House, args: &[&str]) -> String {
    let args = [&["report"], args].concat();
    let output = house.command(&args).env("TZ", "UTC0").env_remove("RUST_LOG").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    said(&output)
}

fn remembered() -> Vec<Value> {
    let act =
        |minute, tool: &str, result: Value| record(minute, "action", json!({"tool": tool, "result": result}));
    vec![
        record(1, "message", json!({"from": "owner", "text": "look into herons"})),
        record(2, "thought", json!({"monologue": "herons", "intent": "read"})),
        record(3, "thought", json!({"garbled": true, "error": "no JSON"})),
        act(4, "web.fetch_text", json!({"ok": true, "text": "a page"})),
        act(5, "notes.append", json!({"ok": true, "path": "self/diary.md"})),
        act(6, "notes.append", json!({"ok": true, "path": "self/diary.md"})),
        act(7, "knowledge.write", json!({"ok": true, "path": "self/notes/herons.md"})),
        act(8, "x.post", json!({"ok": true, "drafted": "self/drafts/herons.md"})),
        act(9, "service.execute", json!({"ok": true, "asked": "12"})),
        act(10, "repo.read", json!({"ok": false, "error": "nowhere.rs does not exist"})),
        record(
            11,
            "self_change",
            json!({"ok": false, "stage": "test", "summary": "x", "error": "pace failed\nat line 3"}),
        ),
        record(
            12,
            "message",
            json!({"from": "creature", "kind": "answer", "text": "herons nest in trees,\nclose together"}),
        ),
        record(13, "message", json!({"from": "creature", "kind": "digest", "text": "w".repeat(5_000)})),
    ]
}

fn night() -> House {
    let house = House::new(SOUND);
    let old = record(1, "thought", json!({})).to_string().replace("2026-01-02", "2025-12-30");
    house.write(".self/memory-20260102T030030.000Z.jsonl", &format!("{old}\n{}\n", remembered()[0]));
    lines(&house, ".self/memory.jsonl", &remembered()[1..]);
    house.write(".self/inbox.jsonl", "look into herons\n");
    let commit = |minute, commit: &str, summary: &str| {
        at(minute, json!({"what": "commit", "by": "self", "commit": commit, "summary": summary}))
    };
    let life = |minute, commit: &str, kept: bool| {
        at(minute, json!({"what": "life", "commit": commit, "kept_binary": kept}))
    };
    let fall = json!({"what": "fall", "cause": "tries_spent", "deaths": 2, "from_commit": FELL, "to_commit": BLESSED,
        "fallen_ref": "refs/guardian/fallen/0f1e2d3", "told": "guardian: put creature back to 1a2b3c4 after 2 deaths"});
    let history = [
        commit(1, BLESSED, "rest longer"),
        life(2, BLESSED, false),
        at(3, json!({"what": "blessed", "commit": BLESSED})),
        commit(4, PAPERS, "a page of the diary"),
        life(5, PAPERS, true),
        commit(6, FELL, "think faster"),
        life(7, FELL, false),
        at(9, fall),
    ];
    lines(&house, ".self/history.jsonl", &history);
    let death = json!({"ended": "crashed", "cause": "exit status 101", "blame": "code", "commit": FELL});
    lines(&house, ".self/deaths.jsonl", &[at(7, death.clone()), at(8, death)]);
    let settled = |minute, day: &str, class: &str, cost: u64| {
        at(
            minute,
            json!({"event": "settle", "service": "anthropic", "day": day, "class": class, "cost_micro_usd": cost, "call": "c"}),
        )
    };
    let refused = json!({"event": "refuse", "service": "y", "method": "POST", "path": "/p", "decision": "no rule allows it"});
    let entries = [
        settled(1, "2026-01-01", "owner", 100_000),
        settled(2, "2026-01-02", "owner", 200_000),
        settled(3, "2026-01-02", "autonomous", 50_000),
        at(4, refused.clone()),
        at(5, refused),
        at(6, json!({"event": "call", "service": "x", "decision": "answered", "call": "c9"})),
    ];
    house.write(".self/ledger.jsonl", &ledger(&entries));
    asked(&house, "12", "three of them");
    house.write(
        ".self/budget.json",
        &json!({"caps": [{"span": "day", "spent_usd": 0.25, "cap_usd": 0.75, "autonomous_usd": 0.05, "autonomous_cap_usd": 0.4}]})
            .to_string(),
    );
    let steps = json!([{"text": "read", "status": "done"}, {"text": "count the nests", "status": "pending"}]);
    let agenda = json!({
        "goals": {"list": [
            {"id": "goal-3", "title": "herons", "status": "open", "checkpoints": steps, "changed_at": "2026-01-02T03:00:00Z"},
            {"id": "goal-4", "title": "a greenhouse", "status": "awaiting", "cost_usd": 20.0},
            {"id": "goal-2", "title": "settle in", "status": "done", "changed_at": "2026-01-02T03:00:00Z"},
            {"id": "goal-1", "title": "long ago", "status": "done", "changed_at": "2025-01-02T03:00:00Z"},
        ]},
        "reminders": {"list": [{"id": "reminder-5", "text": "feed the herons", "next": "2030-01-02T09:00:00Z", "finished": null}]},
        "reasons": {"since": "2025-12-01T00:00:00Z", "asks": 7, "by_reason": {
            "events": {"asked": 3, "used": 0, "idle": 3},
            "goal": {"asked": 4, "used": 3, "idle": 0},
        }},
    });
    house.write(".self/mind/agenda.json", &agenda.to_string());
    house
}

#[test]
fn a_night_is_told_weightiest_first_and_each_line_leads_to_its_evidence() {
    let house = night();
    let told = report(&house, &["--since", "2026-01-01"]);
    let since = "history --since 2026-01-01";
    let in_order = [
        "since 2026-01-01 00:00:00; now: no guardian runs".to_owned(),
        "WAITS      12: POST x /2/tweets".into(),
        "-> asks 12".into(),
        "goal-4 a greenhouse, 20.00 USD -> say: approve goal-4".into(),
        "fell, died 2 times, last life 6 crashed (exit status 101), blamed on code, at 0f1e2d3 -> .self/log/life-6.log".into(),
        "put creature back to 1a2b3c4 after 2 deaths -> git show refs/guardian/fallen/0f1e2d3".into(),
        format!("self-edits tries not born: test (pace failed) -> {since}"),
        "1a2b3c4 blessed: rest longer -> git show 1a2b3c4".into(),
        "0f1e2d3 fell (tries spent), put back to 1a2b3c4: think faster -> rollback 0f1e2d3".into(),
        "made       goal done: goal-2 settle in".into(),
        format!("self/drafts/herons.md -> {since}"),
        format!("services answered: x -> {since}"),
        "words      owner: look into herons".into(),
        "creature: herons nest in trees, close together".into(),
        "creature (digest): 5000 characters, too many for here -> feed --since 2026-01-01".into(),
        format!("failed     replies of the mind that could not be read 1 -> {since}"),
        format!("refused by the broker: POST y /p (no rule allows it) ×2 -> {since}"),
        format!("calls that failed: repo.read (nowhere.rs does not exist) -> {since}"),
        format!("learnt     self/diary.md ×2, self/notes/herons.md -> {since}"),
        "cost       $0.25 of $0.75 today; on its own $0.05 of $0.40 -> status".into(),
        format!("2026-01-02 $0.25 (on its own $0.05), 2026-01-01 $0.10 (on its own $0.00) -> {since}"),
        "of 7 reasons to think by itself since 2025-12-01 00:00:00, 3 left something: goal 3 of 4, events 0 of 3".into(),
        "means to   goal-3 herons; next: count the nests -> .self/mind/agenda.json".into(),
        "reminder-5 feed the herons (2030-01-02 09:00:00)".into(),
        "all in all thoughts 1, actions 7, looks outside 1, commits of papers 1, blessed 1, life 3, asks asked 1".into(),
        "-> a path, git,".into(),
    ];
    let mut rest = told.as_str();
    for part in &in_order {
        let Some((_, after)) = rest.split_once(part.as_str()) else {
            panic!("{part:?} is not next in: {told}")
        };
        rest = after;
    }
    assert!(!told.contains("long ago") && !told.contains("diary entry"), "{told}");
    assert!(told.lines().count() <= 30, "{told}");
    let json: Value = serde_json::from_str(&report(&house, &["--since", "2026-01-01", "--json"])).unwrap();
    assert_eq!((&json["nothing"], &json["sections"][0]["name"]), (&json!(false), &json!("WAITS")));
    assert_eq!(json["sections"][0]["rows"][0]["see"], "asks 12");
    // Later than all of it: what stands, stands; what happened did not.
    let told = report(&house, &["--since", "2026-01-03"]);
    assert!(told.starts_with("nothing happened since 2026-01-03") && told.contains("asks 12"), "{told}");
    assert!(
        !told.contains("blessed") && !told.contains("2 deaths") && !told.contains("looks outside"),
        "{told}"
    );
}

/// Found: a version that fell and that the owner put back was told as fallen while it lived.
#[test]
fn one_that_fell_and_lives_again_is_not_told_as_fallen() {
    let told = |more: &[Value]| {
        let mut facts = Facts::default();
        let commit = json!({"what": "commit", "by": "self", "commit": FELL, "summary": "think faster"});
        let life = json!({"what": "life", "life": 2, "commit": FELL});
        let fall = json!({"what": "fall", "cause": "tries_spent", "from_commit": FELL, "to_commit": BLESSED});
        [commit, life, fall].iter().chain(more).for_each(|event| facts.guarded(event));
        let sections = told::sections(&facts, "2026-01-01T00:00:00.000Z");
        sections.into_iter().find(|section| section.name == "self-edits").unwrap().rows.remove(0).text
    };
    let again = json!({"what": "life", "life": 4, "commit": FELL});
    let blessed = json!({"at": "2026-01-02T03:04:05.000Z", "what": "blessed", "commit": FELL});
    assert_eq!(told(&[]), "0f1e2d3 fell (tries spent), put back to 1a2b3c4: think faster");
    assert_eq!(told(std::slice::from_ref(&again)), "0f1e2d3 lives, not blessed so far: think faster");
    assert_eq!(told(&[again, blessed]), "0f1e2d3 blessed: think faster");
}

#[test]
fn an_empty_house_says_so() {
    let house = House::new(SOUND);
    for args in [&[][..], &["--since", "today"], &["--since", "yesterday"]] {
        let told = report(&house, args);
        assert!(told.starts_with("nothing happened since "), "{told}");
        assert_eq!(told.lines().nth(1), Some("nothing waits for your yes"));
        assert_eq!(told.lines().count(), 2, "{told}");
    }
    assert_eq!(house.ask(&["report", "--since", "yesteryear"]).status.code(), Some(2));
    assert_eq!(house.ask(&["report", "--full"]).status.code(), Some(2));
    house.write(".self/mind/agenda.json", "[".repeat(100_000).as_str());
    assert!(report(&house, &[]).contains("what it means to do cannot be read -> .self/mind/agenda.json"));
}

#[test]
fn yesterday_and_today_begin_at_midnight_by_the_owners_clock() {
    let house = House::new(SOUND);
    for zone in ["UTC0", "XYZ-5", "ABC+7"] {
        let since = |word: &str| {
            let output =
                house.command(&["history", "--since", word, "--json"]).env("TZ", zone).output().unwrap();
            let json: Value = serde_json::from_slice(&output.stdout).unwrap();
            json["since"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap()
        };
        let (today, yesterday) = (since("today"), since("yesterday"));
        assert_eq!(today.as_second() - yesterday.as_second(), 86_400, "{zone}");
        let place = house::moments::Place::named(zone).unwrap();
        assert_eq!(
            (place.time(today), place.day(today)),
            ("00:00:00".to_owned(), place.day(house::moments::now()))
        );
    }
}

#[test]
fn however_much_came_to_pass_it_fits_a_screen_and_no_word_is_cut() {
    let mut facts = Facts::default();
    for number in 0..200_u32 {
        let long = format!("{number} {}", "ä long wörd ".repeat(20));
        facts.waits.push((long.clone(), format!("asks {number}")));
        facts.remembered(&record(1, "message", json!({"from": "creature", "text": long})));
        facts.remembered(&record(
            1,
            "action",
            json!({"tool": "files.write", "result": {"ok": true, "path": long}}),
        ));
        facts.remembered(&record(1, "action", json!({"tool": long, "result": {"ok": false, "error": long}})));
        facts.guarded(&at(
            1,
            json!({"what": "commit", "by": "self", "commit": number.to_string(), "summary": long}),
        ));
        facts.guarded(&at(2, json!({"what": "life", "commit": number.to_string()})));
        facts.guarded(&at(2, json!({"what": "fall", "told": long, "from_commit": number.to_string()})));
        facts.died(&at(3, json!({"ended": long, "commit": number.to_string()})));
        facts.entered(&at(4, json!({"event": "refuse", "path": long, "decision": long})));
    }
    let sections = told::sections(&facts, "2026-01-01T00:00:00.000Z");
    for columns in [80, 100, 200] {
        let lines = told::lines(&sections, columns);
        let lines =
            lines.iter().map(|(_, text)| house::printable::wrapped(text, columns - 11, columns - 4).len());
        let lines: usize = lines.sum();
        assert!(lines <= 30, "{lines} lines at {columns}: {sections:#?}");
    }
    let lines = told::lines(&sections, 100);
    assert!(lines[0].1.starts_with("0 ") && lines[0].1.ends_with("-> asks 0"), "{:?}", lines[0]);
    let word = lines.iter().find(|(name, _)| *name == "words").unwrap();
    let whole = format!("creature: 199 {} (199 more: history", "ä long wörd ".repeat(20));
    assert!(word.1.starts_with(&whole), "the newest, whole: {word:?}");
    assert!(lines.iter().any(|(_, text)| text.contains(" more: history --since 20")), "{lines:#?}");
    assert!(Tally::default().told(10).is_empty());
}

#[test]
fn the_place_of_a_time_is_found_without_reading_what_is_older() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let stamp = |number: u32| {
        format!("2026-01-02T{:02}:{:02}:{:02}.000Z", number / 3_600, number / 60 % 60, number % 60)
    };
    for number in 0..40_000_u32 {
        writeln!(file, "{}", json!({"at": stamp(number), "number": number})).unwrap();
    }
    file.flush().unwrap();
    for number in [0, 1, 777, 20_000, 39_999, 50_000] {
        let (since, place) = (stamp(number), records::place(&path, &stamp(number)));
        let found = records::from(&path, place, u64::MAX);
        let found: Vec<u64> = found
            .filter(|record| records::text(record, "at") >= since.as_str())
            .map(|record| record["number"].as_u64().unwrap())
            .collect();
        let expected: Vec<u64> = (u64::from(number)..40_000).collect();
        assert_eq!(found, expected, "from {number}");
        assert!(number < 3_000 || place > 0, "nothing was left out");
    }
}

/// Found by sending one: paths of this machine, a key that was said, an address of loopback.
#[test]
fn a_report_to_send_to_a_friend_reads_as_prose_and_holds_nothing_of_this_machine() {
    let house = night();
    let key = "sk-ant-api03-0123456789abcdefghij";
    house.write(".env", &format!("ANTHROPIC_API_KEY={key}\n"));
    let root = house.root.display().to_string();
    let said = |minute, text: String| {
        record(minute, "message", json!({"from": "creature", "kind": "answer", "text": text}))
    };
    let mut records = remembered();
    records.push(said(
        14,
        format!("the key is {key}, the file {root}/self/notes.md, also /tmp/x.txt and (/etc/hosts)"),
    ));
    records.push(said(
        15,
        "my page: http://127.0.0.1:7717/now?t=abc or localhost:11434; not example.org/tmp/a".into(),
    ));
    records.push(said(16, "**bold** [a link](https://example.org) <b>tag</b>".into()));
    lines(&house, ".self/memory.jsonl", &records);
    let letter = report(&house, &["--since", "2026-01-01", "--markdown"]);
    for gone in [
        key,
        root.as_str(),
        "/tmp/x",
        "/etc/hosts",
        "127.0.0.1",
        "localhost",
        "7717",
        "->",
        "t=abc",
        ".self/",
    ] {
        assert!(!letter.contains(gone), "{gone}: {letter}");
    }
    for there in [
        "# A self-editing creature, since 2026-01-01",
        "## Deaths, and what was put back",
        "died 2 times",
        "POST x /2/tweets",
        "example.org/tmp/a",
        "\\*\\*bold\\*\\* \\[a link\\](https://example.org) \\<b\\>tag\\</b\\>",
        "of $0.75 today",
        "2026-01-02 $0.25",
        "(a path)",
        "(this machine)",
    ] {
        let there = there.replace("died 2 times", "2 times, last life 6 crashed");
        assert!(letter.contains(&there), "{there}: {letter}");
    }
    // Every row that is held is in it, whatever a screen has room for.
    let rows: Value = serde_json::from_str(&report(&house, &["--since", "2026-01-01", "--json"])).unwrap();
    let rows =
        rows["sections"].as_array().unwrap().iter().map(|section| section["rows"].as_array().unwrap().len());
    assert_eq!(
        letter.lines().filter(|line| line.starts_with("- ") && !line.starts_with("- and ")).count(),
        rows.sum::<usize>()
    );
}
