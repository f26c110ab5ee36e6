//! The writer under damage: torn ends, a file taken away, a limit on its size, a writer killed in the middle.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use memory::{Log, MAX_LINE, Record, tail};
use serde_json::{Value, json};

fn record(number: u64) -> Record {
    Record::new(1, "note", json!({ "number": number }))
}

fn numbers(path: &Path) -> Vec<u64> {
    let found = tail(path, 1_000_000, u64::MAX).unwrap();
    let number = |record: &Record| record.data["number"].as_u64().unwrap();
    found.records.iter().map(number).collect()
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/memory.jsonl");
    (folder, path)
}

#[test]
fn appends_in_order_and_opens_again_without_mending() {
    let (_folder, path) = place();
    for life in 0..3 {
        let (mut log, mended) = Log::open(&path).unwrap();
        assert_eq!(mended.torn_bytes, 0);
        assert_eq!(log.path(), path);
        log.append(&record(life * 2)).unwrap();
        log.append(&record(life * 2 + 1)).unwrap();
    }
    assert_eq!(numbers(&path), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_torn_line_is_ended_counted_and_skipped() {
    let whole = serde_json::to_string(&record(9)).unwrap();
    let long = "x".repeat(MAX_LINE + 5);
    let torn: [(&[u8], u64, u64); 6] = [
        (b"{\"at\":\"20", 9, 1),
        (b"\0\0\0\0", 4, 1),
        (b"\xff\xfe", 2, 1),
        (b"   ", 3, 0),
        (long.as_bytes(), long.len() as u64, 0),
        (whole.as_bytes(), 0, 0),
    ];
    for (torn, bytes, garbage) in torn {
        let (_folder, path) = place();
        Log::open(&path).unwrap().0.append(&record(1)).unwrap();
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(torn).unwrap();
        let (mut log, mended) = Log::open(&path).unwrap();
        assert_eq!(mended.torn_bytes, bytes);
        log.append(&record(2)).unwrap();
        let expected: &[u64] = if bytes == 0 { &[1, 9, 2] } else { &[1, 2] };
        assert_eq!(numbers(&path), expected);
        let found = tail(&path, 10, u64::MAX).unwrap();
        assert_eq!(found.garbage_lines, garbage);
        assert_eq!(Log::open(&path).unwrap().1.torn_bytes, 0);
        let kept = fs::read(&path).unwrap();
        assert!(kept.windows(torn.len()).any(|part| part == torn), "nothing is lost");
    }
}

#[test]
fn a_line_torn_under_an_open_log_does_not_swallow_the_next_record() {
    let (_folder, path) = place();
    let (mut log, _) = Log::open(&path).unwrap();
    log.append(&record(1)).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"half a").unwrap();
    log.append(&record(2)).unwrap();
    assert_eq!(numbers(&path), [1, 2]);
}

#[test]
fn a_log_moved_aside_or_removed_under_the_writer_is_begun_anew() {
    let (_folder, path) = place();
    let (mut log, _) = Log::open(&path).unwrap();
    log.append(&record(1)).unwrap();
    let aside = path.with_extension("old");
    fs::rename(&path, &aside).unwrap();
    log.append(&record(2)).unwrap();
    assert_eq!((numbers(&aside), numbers(&path)), (vec![1], vec![2]));
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    log.append(&record(3)).unwrap();
    assert_eq!(numbers(&path), [3]);
}

#[test]
fn a_record_too_long_or_too_deep_keeps_its_envelope_and_a_head() {
    let (_folder, path) = place();
    let (mut log, _) = Log::open(&path).unwrap();
    let long = Record::new(1, "action", json!({"text": "é".repeat(MAX_LINE)}));
    let mut deep = Value::Null;
    for _ in 0..300 {
        deep = json!([deep]);
    }
    log.append(&long).unwrap();
    log.append(&Record::new(1, "action", deep)).unwrap();
    let mut nearly = Value::Null;
    for _ in 0..120 {
        nearly = json!([nearly]);
    }
    log.append(&Record::new(1, "action", nearly.clone())).unwrap();
    let found = tail(&path, 10, u64::MAX).unwrap();
    assert_eq!((found.records.len(), found.garbage_lines), (3, 0));
    let cut = &found.records[0];
    assert_eq!((cut.kind.as_str(), &cut.at), ("action", &long.at));
    assert_eq!(cut.data["truncated"], true);
    assert_eq!(cut.data["bytes"], json!(long.data.to_string().len()));
    let head = cut.data["head"].as_str().unwrap();
    assert!(head.starts_with("{\"text\":\"éé") && head.chars().count() == 2_000);
    assert_eq!(found.records[1].data["truncated"], true);
    assert_eq!(found.records[2].data, nearly);
    let name = "k".repeat(MAX_LINE);
    let before = fs::metadata(&path).unwrap().len();
    let error = log.append(&Record::new(1, &name, Value::Null)).expect_err("no line can hold it");
    assert!(error.to_string().contains("memory.jsonl"), "{error}");
    assert_eq!(fs::metadata(&path).unwrap().len(), before);
}

#[test]
fn what_is_no_file_is_moved_aside_and_a_file_in_a_folders_place_is_named() {
    let (_folder, path) = place();
    fs::create_dir_all(path.join("kept")).unwrap();
    let (mut log, _) = Log::open(&path).unwrap();
    log.append(&Record::new(1, "observation", Value::Null)).unwrap();
    let beside: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().flatten().collect();
    assert!(
        path.is_file() && beside.iter().any(|entry| entry.path().join("kept").is_dir()),
        "nothing is lost"
    );
    let below_a_file = path.join("y");
    let error = Log::open(&below_a_file).expect_err("a file as folder");
    assert!(error.to_string().contains("memory.jsonl"), "{error}");
}

/// Not a test of its own: the writer that the two tests below start as a process.
#[test]
#[ignore = "started by other tests"]
fn writer() {
    let path = PathBuf::from(std::env::var_os("MEMORY_WRITER").unwrap());
    let (mut log, _) = Log::open(&path).unwrap();
    for number in 0.. {
        let length = number as usize * 37 % 5_000;
        let data = json!({"number": number, "fill": "z".repeat(length)});
        if let Err(error) = log.append(&Record::new(1, "note", data)) {
            let source = std::error::Error::source(&error).unwrap();
            fs::write(path.with_extension("error"), format!("{error}: {source}")).unwrap();
            log.append(&record(number)).expect("a short one still fits");
            return;
        }
    }
}

fn writer_command(path: &Path, before: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{before} exec \"$0\" \"$@\""))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "writer", "--ignored", "--nocapture"])
        .env("MEMORY_WRITER", path)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[test]
fn a_writer_killed_in_the_middle_leaves_whole_lines() {
    for round in 0..5 {
        let (_folder, path) = place();
        let mut writer = writer_command(&path, "").spawn().unwrap();
        while fs::metadata(&path).map_or(0, |found| found.len()) < 20_000 {
            assert!(writer.try_wait().unwrap().is_none(), "it ended before it had written enough");
            std::thread::sleep(Duration::from_millis(3));
        }
        std::thread::sleep(Duration::from_micros(round * 731));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let found = tail(&path, 1_000_000, u64::MAX).unwrap();
        assert!(found.garbage_lines <= 1, "at most the last is torn");
        let before = numbers(&path);
        let (mut log, mended) = Log::open(&path).unwrap();
        assert_eq!(mended.torn_bytes > 0, found.garbage_lines == 1);
        log.append(&record(before.len() as u64)).unwrap();
        let expected: Vec<u64> = (0..=before.len() as u64).collect();
        assert_eq!(numbers(&path), expected);
    }
}

#[test]
fn a_write_cut_short_by_a_limit_is_undone_and_said() {
    let (_folder, path) = place();
    // Past the limit a write is short, then fails, as on a full disk; the ignored signal would end the process.
    let status = writer_command(&path, "trap '' XFSZ; ulimit -f 64;").status();
    assert!(status.unwrap().success());
    let said = fs::read_to_string(path.with_extension("error")).unwrap();
    assert!(said.contains("nothing of the record stays") && said.contains("memory.jsonl"), "{said}");
    let found = tail(&path, 1_000_000, u64::MAX).unwrap();
    assert_eq!(found.garbage_lines, 0);
    let expected: Vec<u64> = (0..found.records.len() as u64).collect();
    assert_eq!(numbers(&path), expected);
    assert_eq!(Log::open(&path).unwrap().1.torn_bytes, 0);
}
