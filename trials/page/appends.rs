//! A writer as the creature is one: records appended and synced, one after the other, with how long each took.

use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Between two records: still many times faster than any creature.
const BETWEEN: Duration = Duration::from_millis(20);

pub fn run(path: &Path, count: u64) -> Value {
    let mut file = File::options().append(true).create(true).open(path).unwrap();
    let mut took = Vec::new();
    for number in 0..count {
        let at = jiff::Timestamp::now();
        let line = json!({"at": format!("{at:.3}"), "life": 10, "kind": "observation",
            "data": {"about": "note", "text": format!("a record of the timed writer, {number}")}});
        let line = format!("{line}\n");
        let begun = Instant::now();
        file.write_all(line.as_bytes()).unwrap();
        file.sync_data().unwrap();
        took.push(begun.elapsed().as_micros() as u64);
        std::thread::sleep(BETWEEN);
    }
    json!(took)
}
