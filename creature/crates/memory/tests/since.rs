//! Tests of reading a span of time: what lies in it, across logs moved aside, through damage, within a cap.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use jiff::{SignedDuration, Timestamp};
use memory::since::{Read, since};
use std::path::Path;
use tempfile::TempDir;

fn minute(minute: i64) -> Timestamp {
    let start: Timestamp = "2026-11-22T00:00:00Z".parse().unwrap();
    start + SignedDuration::from_mins(minute)
}

/// Lines of these minutes, each about so long.
fn lines(minutes: std::ops::Range<i64>, bytes: usize) -> String {
    let pad = "x".repeat(bytes);
    minutes
        .map(|at| {
            format!(
                "{{\"at\":\"{}\",\"life\":1,\"kind\":\"note\",\"data\":{{\"n\":{at},\"pad\":\"{pad}\"}}}}\n",
                minute(at)
            )
        })
        .collect()
}

fn read(path: &Path, from: i64, most_bytes: u64) -> (Vec<i64>, Read) {
    let mut seen = Vec::new();
    let read = since(path, minute(from), most_bytes, &mut |at, record| {
        assert_eq!(record.at.parse::<Timestamp>().unwrap(), at);
        seen.push(record.data["n"].as_i64().unwrap());
    });
    (seen, read.unwrap())
}

#[test]
fn every_record_of_a_span_is_read_and_none_before_it() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("memory.jsonl");
    assert_eq!(read(&path, 0, 1 << 20), (Vec::new(), Read::default()), "a missing log has none");
    // Past the stretch that is read through, so that it is halved.
    for bytes in [10, 900, 20_000] {
        std::fs::write(&path, lines(0..1_000, bytes)).unwrap();
        for from in [0, 1, 499, 998, 999, 1_000] {
            let (seen, read) = read(&path, from, 1 << 30);
            assert_eq!(seen, (from..1_000).collect::<Vec<_>>(), "{bytes} bytes from {from}");
            assert_eq!(read, Read::default());
        }
        let (seen, found) = read(&path, -5, 1 << 30);
        assert_eq!((seen.len(), found.begins), (1_000, Some(minute(0))), "it begins later than asked");
    }
}

#[test]
fn a_span_reaches_into_logs_moved_aside() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("memory.jsonl");
    std::fs::write(dir.path().join("memory-20261122T010000Z.jsonl"), lines(0..60, 50)).unwrap();
    std::fs::write(dir.path().join("memory-20261122T020000Z.jsonl"), lines(60..120, 50)).unwrap();
    std::fs::write(dir.path().join("memory.jsonl.aside"), lines(0..9, 50)).unwrap();
    std::fs::write(&path, lines(120..150, 50)).unwrap();
    assert_eq!(read(&path, 130, 1 << 20).0, (130..150).collect::<Vec<_>>());
    assert_eq!(read(&path, 100, 1 << 20).0, (100..150).collect::<Vec<_>>());
    assert_eq!(read(&path, 0, 1 << 20).0, (0..150).collect::<Vec<_>>());
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read(&path, 100, 1 << 20).0, (100..120).collect::<Vec<_>>(), "the new log has no line yet");
}

#[test]
fn past_the_cap_the_newest_are_read_and_it_is_said() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("memory.jsonl");
    let text = lines(0..1_000, 200);
    std::fs::write(&path, &text).unwrap();
    let (seen, found) = read(&path, 0, text.len() as u64 / 4);
    assert!(found.capped && found.garbage_lines == 0, "{found:?}");
    assert!((230..270).contains(&seen.len()) && *seen.last().unwrap() == 999, "{}", seen.len());
    assert!(!read(&path, 900, text.len() as u64 / 4).1.capped, "what is outside the span costs nothing");
}

#[test]
fn damage_is_passed_over_and_counted() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("memory.jsonl");
    let garbage = format!("garbage\n\n{}\n[1]\n", "y".repeat(5 << 20));
    let text =
        [lines(0..300, 900), garbage.clone(), lines(300..600, 900), garbage, "{\"torn".to_owned()].concat();
    std::fs::write(&path, text).unwrap();
    let (seen, found) = read(&path, 250, 1 << 30);
    assert_eq!(seen, (250..600).collect::<Vec<_>>());
    assert_eq!(found.garbage_lines, 7);
    assert_eq!(read(&path, 500, 1 << 30).0, (500..600).collect::<Vec<_>>());
}
