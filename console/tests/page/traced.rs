//! A thought is a waterfall: each call and act from when it began to when it was over.

use console::page::trace::{calls, spans};
use console::why::found::Found;
use serde_json::{Value, json};

fn at(second: f64) -> String {
    let ms = 1_767_323_040_000 + (second * 1_000.0) as i64;
    format!("{:.3}", jiff::Timestamp::from_millisecond(ms).unwrap())
}

fn record(second: f64, kind: &str, data: Value) -> Value {
    json!({"at": at(second), "kind": kind, "data": data})
}

#[test]
fn calls_and_acts_follow_one_another() {
    let entries = [
        json!({"at": at(1.0), "event": "reserve", "call": "c1"}),
        json!({"at": at(5.5), "event": "settle", "call": "c1", "cost_micro_usd": 20_000, "note": "some-model"}),
        json!({"at": at(5.6), "event": "settle", "call": "c2", "decision": "never left", "note": "other"}),
    ];
    let found = Found {
        thought: record(6.0, "thought", json!({"thought": 7})),
        after: vec![
            record(
                8.0,
                "action",
                json!({"tool": "mcp.call", "args": {"server": "mail", "tool": "search"}, "result": {"ok": true}}),
            ),
            record(9.0, "observation", json!({"about": "note"})),
            record(9.5, "action", json!({"tool": "repo.read", "result": {"ok": false}})),
        ],
        ..Found::default()
    };
    let spans = spans(&found, calls(&entries));
    let begun = spans[0].from_ms;
    let told: Vec<(String, u64, u64, &str)> = spans
        .iter()
        .map(|span| (span.name.clone(), span.from_ms - begun, span.to_ms - begun, span.class))
        .collect();
    assert_eq!(
        told,
        [
            ("some-model".into(), 0, 4_500, "model"),
            ("mcp.call mail search".into(), 5_000, 7_000, "act"),
            ("repo.read".into(), 8_000, 8_500, "act-failed"),
        ]
    );
    assert_eq!(spans[0].micro, 20_000);
}

#[test]
fn records_without_times_make_no_span() {
    assert!(calls(&[json!({"event": "settle"}), json!({})]).is_empty());
    let found = Found { after: vec![json!({"kind": "action", "at": "never"})], ..Found::default() };
    assert!(spans(&found, vec![]).is_empty());
}
