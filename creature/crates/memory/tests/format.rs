//! The record format: what a newer version wrote is read by this one, and this one's lines never change shape.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::Path;

use memory::{Log, Record, now, tail};
use serde_json::json;

#[test]
fn records_of_a_newer_version_are_read_and_carried() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/newer.jsonl");
    let found = tail(&golden, 100, 1 << 20).unwrap();
    assert_eq!((found.garbage_lines, found.oversized_lines), (0, 0));
    let kinds: Vec<_> = found.records.iter().map(|r| r.kind.as_str()).collect();
    assert_eq!(kinds, ["thought", "premonition", "heartbeat", "note"]);
    assert_eq!(found.records[0].data["mood"]["valence"], json!(0.5));
    assert_eq!(found.records[0].data["monologue"], json!("héllo\nworld"));
    assert_eq!(found.records[1].data, json!({"seen": [1, 2.5, null, {"deep": [true]}]}));
    assert_eq!(found.records[2].life, u64::MAX);
    assert_eq!(found.records[3].data, json!("not an object at all"));
}

#[test]
fn a_line_is_the_envelope_in_its_order_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.jsonl");
    let (mut log, _) = Log::open(&path).unwrap();
    let record = Record {
        at: "2026-01-02T03:04:05.678Z".into(),
        life: 7,
        kind: "action".into(),
        data: json!({"tool": "x", "args": {"text": "a\nb\u{2028}\u{0}"}}),
    };
    log.append(&record).unwrap();
    let line = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        line,
        "{\"at\":\"2026-01-02T03:04:05.678Z\",\"life\":7,\"kind\":\"action\",\
         \"data\":{\"tool\":\"x\",\"args\":{\"text\":\"a\\nb\u{2028}\\u0000\"}}}\n"
    );
    assert_eq!(tail(&path, 1, 1 << 20).unwrap().records, [record]);
}

#[test]
fn time_has_milliseconds_and_a_z() {
    for _ in 0..50 {
        let now = now();
        assert_eq!(now.len(), "2026-01-02T03:04:05.678Z".len(), "{now}");
        assert!(now.ends_with('Z'), "{now}");
    }
}
