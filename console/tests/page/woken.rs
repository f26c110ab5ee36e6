//! What happened last is a line a wake: what it was for, how much it did, what it cost.

use console::page::wakes::{Wake, grouped};
use serde_json::{Value, json};

fn record(second: u64, kind: &str, data: Value) -> Value {
    json!({"at": format!("2026-01-02T03:04:{second:02}.000Z"), "life": 1, "kind": kind, "data": data})
}

fn ms(second: u64) -> u64 {
    let at: jiff::Timestamp = format!("2026-01-02T03:04:{second:02}.000Z").parse().unwrap();
    at.as_millisecond() as u64
}

fn told(wakes: &[Wake]) -> Vec<String> {
    wakes.iter().map(Wake::told).collect()
}

#[test]
fn each_wake_is_a_line_with_its_cost() {
    let records = vec![
        record(1, "thought", json!({"wake": 1, "thought": 1, "owner": false})),
        record(2, "action", json!({"thought": 1, "tool": "web.read", "result": {"ok": false}})),
        record(3, "action", json!({"thought": 1, "tool": "web.read", "result": {"ok": true}})),
        record(10, "message", json!({"from": "owner", "text": "hello"})),
        record(12, "thought", json!({"wake": 2, "thought": 2, "owner": true})),
        record(13, "message", json!({"from": "creature", "kind": "answer", "text": "hello"})),
        record(20, "thought", json!({"wake": 3, "thought": 3, "owner": false})),
        record(21, "self_change", json!({"ok": true, "stage": "build", "summary": "rest longer"})),
        record(22, "message", json!({"from": "owner", "text": "not heard yet"})),
    ];
    let paid = [(ms(0), 900_000), (ms(1), 10_000), (ms(12), 30_000), (ms(13), 500), (ms(19), 7_000)];
    let wakes = grouped(records, &paid);
    assert_eq!(
        told(&wakes),
        ["worked on its own, 2 acts, 1 failed, $0.01", "answered you, $0.03", "edited itself, $0.0070"],
    );
    // The word that woke it stands with its answer, and the one nobody heard yet with the newest.
    assert_eq!(wakes[1].records.len(), 3, "{wakes:?}");
    assert_eq!(wakes[1].records[0]["data"]["text"], "hello");
    assert_eq!(wakes[2].records.last().unwrap()["data"]["text"], "not heard yet");
}

#[test]
fn what_was_before_the_first_thought_is_not_lost() {
    assert!(grouped(vec![], &[]).is_empty());
    let lone = grouped(vec![record(1, "observation", json!({"about": "birth"}))], &[]);
    assert_eq!((lone.len(), lone[0].number, lone[0].told().as_str()), (1, None, "before that"));
    let odd =
        vec![json!({"at": "never", "kind": "thought", "data": {"wake": 5}}), json!({"kind": 7}), json!({})];
    assert_eq!(grouped(odd, &[(1, 1)]).len(), 1);
}
