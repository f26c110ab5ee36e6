//! The files between guardian and creature as the owner is told them: golden examples by the feed and the history.

use console::{feed, history};
use house::moments::Place;
use house::terminal::Screen;
use house::{House, records};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use trials::golden::{golden, house, records_of};

fn history_since(house: &House, since: &str) -> (Vec<Value>, Value) {
    let mut events = Vec::new();
    let (spend, _) = history::stream(house, since, |event| events.push(event));
    (events, spend.as_json())
}

/// The line of a record where no terminal is.
fn rendered(record: &Value) -> Option<String> {
    let mut screen = Screen::new(None, false, Place::named("UTC0").unwrap());
    feed::row(record).and_then(|row| screen.lines(&row).pop())
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
        (
            "action",
            json!({"tool": "mcp.call", "args": {"server": "mail", "tool": "search"}, "result": {"ok": true}}),
            "action    mcp.call mail search ok",
        ),
        ("hunch", json!({"text": "It will rain.", "sure": 0.5}), "hunch     It will rain."),
        ("hunch", json!({"about": "weather", "text": "It will rain."}), "hunch     weather: It will rain."),
        ("hunch", json!({"sure": {"of": 0.5}}), "hunch     {\"sure\":{\"of\":0.5}}"),
    ] {
        let line = rendered(&json!({"at": "2026-01-02T03:04:05.000Z", "kind": kind, "data": data}));
        assert_eq!(line, Some(format!("2026-01-02 03:04:05 {expected}")));
    }
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
