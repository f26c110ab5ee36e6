//! The reader under damage, and compared with a naive one over many sizes.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use memory::{Record, Tail, tail};
use serde_json::json;

const PLENTY: u64 = 64 << 20;

fn line(number: usize, fill: usize) -> String {
    let data = json!({"number": number, "fill": "f".repeat(fill)});
    serde_json::to_string(&Record::new(1, "note", data)).unwrap()
}

fn place(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.jsonl");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn numbers(tail: &Tail) -> Vec<u64> {
    let number = |record: &Record| record.data["number"].as_u64().unwrap();
    tail.records.iter().map(number).collect()
}

#[test]
fn missing_and_empty_files_have_empty_tails() {
    let (folder, path) = place(b"");
    assert_eq!(tail(&path, 10, PLENTY).unwrap(), Tail::default());
    let missing = folder.path().join("nowhere/memory.jsonl");
    assert_eq!(tail(&missing, 10, PLENTY).unwrap(), Tail::default());
    fs::write(&path, "\n\n\n").unwrap();
    assert_eq!(tail(&path, 10, PLENTY).unwrap(), Tail::default());
}

#[test]
fn exactly_as_many_as_asked_for() {
    let text: String = (0..10).map(|n| line(n, n) + "\n").collect();
    let (_folder, path) = place(text.as_bytes());
    for most in [0, 1, 5, 9, 10, 11] {
        let found = tail(&path, most, PLENTY).unwrap();
        let from = 10 - most.min(10) as u64;
        assert_eq!(numbers(&found), (from..10).collect::<Vec<_>>());
    }
}

#[test]
fn garbage_is_skipped_and_counted() {
    let garbage: [&[u8]; 12] = [
        b"not json",
        b"{\"at\":\"x\",\"life\":1,\"kind\":\"thought\"}",
        b"{\"at\":\"x\",\"life\":-1,\"kind\":\"thought\",\"data\":{}}",
        b"{\"at\":\"x\",\"life\":1,\"kind\":7,\"data\":{}}",
        b"[1,2]",
        b"null",
        b"\0\0\0\0\0\0\0\0",
        b"\xff\xfe\xfa{}",
        b"{\"at\":\"\xc3\x28\",\"life\":1,\"kind\":\"x\",\"data\":{}}",
        b"{\"at\":\"x\",\"life\":1,\"kind\":\"x\",\"data\":{}} tail",
        b"{\"at\":\"x\",\"life\":1,\"kind\":\"x\",\"da",
        b"<<<<<<< HEAD",
    ];
    let mut text = Vec::new();
    for (number, garbage) in garbage.iter().enumerate() {
        text.extend_from_slice(line(number, 10).as_bytes());
        text.push(b'\n');
        text.extend_from_slice(garbage);
        text.push(b'\n');
    }
    let deep = "[".repeat(100_000);
    text.extend_from_slice(deep.as_bytes());
    text.extend_from_slice(b"\r\n");
    text.extend_from_slice((line(12, 3) + "\r\n").as_bytes());
    let (_folder, path) = place(&text);
    let found = tail(&path, 100, PLENTY).unwrap();
    assert_eq!(numbers(&found), (0..=12).collect::<Vec<_>>());
    assert_eq!(found.garbage_lines, garbage.len() as u64 + 1);
}

#[test]
fn a_hundred_megabytes_in_one_line_are_crossed_without_being_held() {
    let (_folder, path) = place((line(1, 5) + "\n").as_bytes());
    let mut file = BufWriter::new(fs::OpenOptions::new().append(true).open(&path).unwrap());
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        file.write_all(&piece).unwrap();
    }
    file.write_all(format!("\n{}\n", line(2, 5)).as_bytes()).unwrap();
    file.flush().unwrap();
    let before = peak_memory();
    let found = tail(&path, 10, PLENTY).unwrap();
    assert_eq!(numbers(&found), [1, 2]);
    assert_eq!((found.oversized_lines, found.garbage_lines), (1, 0));
    assert!(peak_memory() - before < 40 << 20, "held in memory");
}

fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let word = line.and_then(|line| line.split_whitespace().nth(1));
    word.map_or(0, |word| word.parse::<u64>().unwrap() * 1024)
}

/// Bytes that this thread has read so far, and no other; none where walls hide it.
fn bytes_read() -> Option<u64> {
    let counts = fs::read_to_string("/proc/thread-self/io").ok()?;
    counts.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse().ok())
}

#[test]
fn the_cost_is_that_of_the_tail() {
    let (_folder, path) = place(b"");
    let mut file = File::create(&path).unwrap();
    // A hole in front of the records, for a reader from the start. Within what walls let a file grow to.
    file.set_len(3 << 30).unwrap();
    std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).unwrap();
    for number in 0..300 {
        writeln!(file, "\n{}", line(number, 1_000)).unwrap();
    }
    let counted = |most: usize| {
        let before = bytes_read();
        let found = tail(&path, most, PLENTY).unwrap();
        (found, bytes_read().zip(before).map(|(after, before)| after - before))
    };
    let (found, read) = counted(200);
    assert_eq!(numbers(&found), (100..300).collect::<Vec<_>>());
    let (all, crossed) = counted(1_000);
    assert_eq!(all.records.len(), 300);
    let (Some(read), Some(crossed)) = (read, crossed) else {
        println!("not counted: walls hide how much is read");
        return;
    };
    assert!((200_000..1 << 20).contains(&read), "{read} bytes read for 200 records of 1 KB");
    assert!((256 << 20..300 << 20).contains(&crossed), "{crossed} bytes read: gives up in the hole, in time");
}

#[test]
fn bytes_are_capped_and_what_can_never_fit_does_not_hide_the_rest() {
    let text = format!("{}\n{}\n{}\n", line(1, 10), line(2, 5_000), line(3, 10));
    let (_folder, path) = place(text.as_bytes());
    let short = line(3, 10).len() as u64;
    let found = tail(&path, 10, short).unwrap();
    assert_eq!((numbers(&found), found.oversized_lines), (vec![3], 1));
    let found = tail(&path, 10, 2 * short).unwrap();
    assert_eq!((numbers(&found), found.oversized_lines), (vec![1, 3], 1));
    let found = tail(&path, 10, 5_120).unwrap();
    assert_eq!((numbers(&found), found.oversized_lines), (vec![3], 0));
    assert_eq!(numbers(&tail(&path, 10, 0).unwrap()), Vec::<u64>::new());
}

#[test]
fn what_cannot_be_read_is_an_error_that_names_it() {
    let (folder, path) = place(b"{}\n");
    let error = tail(folder.path(), 1, PLENTY).expect_err("a directory");
    assert!(error.to_string().starts_with("read the end of /"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads everything.
    if File::open(&path).is_err() {
        let error = tail(&path, 1, PLENTY).expect_err("no right to read");
        assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
        assert_eq!(error.path(), path);
    }
}

/// The reader one would write first; it holds the whole file.
fn naive(path: &Path, most: usize) -> Tail {
    let bytes = fs::read(path).unwrap();
    let mut tail = Tail::default();
    for line in bytes.split(|byte| *byte == b'\n').rev() {
        if tail.records.len() == most {
            break;
        }
        match serde_json::from_slice(line) {
            _ if line.trim_ascii().is_empty() => {}
            Ok(record) => tail.records.insert(0, record),
            Err(_) => tail.garbage_lines += 1,
        }
    }
    tail
}

#[test]
fn agrees_with_a_naive_reader_whatever_falls_on_a_block_boundary() {
    let (_folder, path) = place(b"");
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    for round in 0..160 {
        let mut text = Vec::new();
        let largest = [30, 3_000, 70_000][round % 3];
        for number in 0..1 + random(40) {
            match random(10) {
                0 => text.extend(std::iter::repeat_n(b'\0', random(largest))),
                1 => {}
                _ => text.extend(line(number, random(largest)).into_bytes()),
            }
            text.push(b'\n');
        }
        if random(2) == 0 {
            text.extend(line(99, random(largest)).into_bytes());
        }
        fs::write(&path, &text).unwrap();
        let most = 1 + random(50);
        let (found, expected) = (tail(&path, most, PLENTY).unwrap(), naive(&path, most));
        assert_eq!(found, expected, "round {round}");
    }
    // A newline on, before and after the edge of the first block.
    for length in 65_530..65_542 {
        let short = line(1, 0).len();
        let text = format!("{}\n{}", line(1, 0), line(2, length - 1 - short));
        for end in ["", "\n"] {
            fs::write(&path, format!("{text}{end}")).unwrap();
            assert_eq!(tail(&path, 9, PLENTY).unwrap(), naive(&path, 9), "{length}");
        }
    }
}
