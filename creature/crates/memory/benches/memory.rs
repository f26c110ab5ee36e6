//! Bench of memory: a tail of a small file beside one of a large file, an append beside its bare write and sync.
//!
//! Run with `cargo bench -p memory`; `-- --small` makes the large file 64 MB instead of 1 GB.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memory::{Log, Record, tail};
use serde_json::json;

const MB: u64 = 1 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("nothing measured: this is for `cargo bench`");
        return;
    }
    let small = arguments.iter().any(|argument| argument == "--small");
    let large = if small { 64 * MB } else { 1024 * MB };
    let folder = tempfile::tempdir().unwrap();
    println!("{:<44} {:>10} {:>10}", "", "median", "p90");
    tails(folder.path(), large);
    appends(folder.path(), large);
}

fn tails(folder: &Path, large: u64) {
    let files = [made(folder, MB), made(folder, large)];
    // Taken in turns, so that what else the machine does falls on both alike.
    let mut took = [Vec::new(), Vec::new()];
    for _ in 0..200 {
        for (file, took) in files.iter().zip(&mut took) {
            let start = Instant::now();
            let found = tail(file, 200, 4 * MB).unwrap();
            took.push(start.elapsed());
            assert_eq!(found.records.len(), 200);
        }
    }
    let [first, second] = took;
    let first = row("tail of 200 from 1 MB", first);
    let second = row(&format!("tail of 200 from {} MB", large / MB), second);
    ratio("large / small", second, first);
}

fn appends(folder: &Path, large: u64) {
    let record = Record::new(7, "thought", json!({"monologue": "x".repeat(2_000)}));
    let mut line = serde_json::to_vec(&record).unwrap();
    line.push(b'\n');
    let fresh = folder.join("fresh.jsonl");
    let mut logs = [Log::open(&fresh).unwrap().0, Log::open(&name(folder, large)).unwrap().0];
    let bare = folder.join("bare");
    let mut options = OpenOptions::new();
    let mut bare = options.append(true).create(true).open(bare).unwrap();
    let mut took = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..500 {
        took[0].push(timed(|| {
            bare.write_all(&line).unwrap();
            bare.sync_data().unwrap();
        }));
        took[1].push(timed(|| logs[0].append(&record).unwrap()));
        took[2].push(timed(|| logs[1].append(&record).unwrap()));
    }
    let [bare, first, second] = took;
    let bare = row("bare write + fdatasync of 2 KB", bare);
    let first = row("append of the same record", first);
    let second = row(&format!("append, to the {} MB file", large / MB), second);
    ratio("append / bare", first, bare);
    ratio("append to the large file / bare", second, bare);
}

fn timed(act: impl FnOnce()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

fn name(folder: &Path, bytes: u64) -> PathBuf {
    folder.join(format!("{bytes}.jsonl"))
}

fn made(folder: &Path, bytes: u64) -> PathBuf {
    let path = name(folder, bytes);
    let mut file = BufWriter::with_capacity(1 << 20, File::create(&path).unwrap());
    let (mut written, mut turn) = (0, 0_usize);
    while written < bytes {
        // From 200 to about 8,000 bytes, as thoughts and their results are.
        let text = "lorem ipsum ".repeat(10 + turn * 7919 % 640);
        let record = Record::new(1, "thought", json!({"turn": turn, "monologue": text}));
        let mut line = serde_json::to_vec(&record).unwrap();
        line.push(b'\n');
        file.write_all(&line).unwrap();
        written += line.len() as u64;
        turn += 1;
    }
    file.into_inner().unwrap().sync_all().unwrap();
    path
}

fn row(name: &str, mut took: Vec<Duration>) -> Duration {
    took.sort();
    let (median, high) = (took[took.len() / 2], took[took.len() * 9 / 10]);
    println!("{name:<44} {:>10} {:>10}", shown(median), shown(high));
    median
}

fn ratio(name: &str, over: Duration, under: Duration) {
    let ratio = over.as_secs_f64() / under.as_secs_f64();
    println!("{name:<44} {:>9.2}x", ratio);
}

fn shown(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1_000.0)
}
