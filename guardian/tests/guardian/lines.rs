//! Lines of files nobody trusts: handed out whole, left for later, or passed over, in memory that does not grow.

use house::bounds::{brief, fitted, read};
use house::lines::{Lines, Next};
use house::records::follow::{Cursor, Follow};
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

fn append(path: &Path, text: &[u8]) {
    OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text).unwrap();
}

/// What comes until nothing more does; `…` for a line that was too long.
fn all(lines: &mut Lines) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        match lines.next_line() {
            Next::Line(line) => found.push(String::from_utf8(line.to_vec()).unwrap()),
            Next::Long => found.push("…".into()),
            Next::End => return found,
        }
    }
}

#[test]
fn a_last_line_without_its_end_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines");
    append(&path, b"one\n\ntwo\nthr");
    let mut lines = Lines::new(File::open(&path).unwrap(), 5);
    assert_eq!(all(&mut lines), ["one", "", "two"]);
    assert_eq!((lines.torn(), lines.is_too_long(), lines.at()), (&b"thr"[..], false, 12));
    assert_eq!(all(&mut lines), Vec::<String>::new());
    append(&path, b"ee\n");
    assert_eq!(all(&mut lines), ["three"]);
    assert_eq!(lines.torn(), b"");
}

#[test]
fn what_is_too_long_is_passed_over_wherever_its_end_comes() {
    let folder = tempfile::tempdir().unwrap();
    for extra in [0, 1, 2, 65_535, 65_536, 65_537, 200_000] {
        let path = folder.path().join(extra.to_string());
        append(&path, b"one\n12345");
        append(&path, &vec![b'x'; extra]);
        let mut lines = Lines::new(File::open(&path).unwrap(), 5);
        assert_eq!(all(&mut lines), ["one"]);
        assert_eq!(lines.is_too_long(), extra > 0, "{extra} more");
        append(&path, b"\ntwo\n");
        let passed = if extra > 0 { "…" } else { "12345" };
        assert_eq!(all(&mut lines), [passed, "two"], "{extra} more");
    }
}

#[test]
fn a_look_goes_as_far_as_it_may_and_the_next_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines");
    append(&path, b"one\ntwo\nthree\n");
    let mut lines = Lines::new(File::open(&path).unwrap(), 100);
    let mut found = Vec::new();
    for _ in 0..14 {
        lines.allow(1);
        found.extend(all(&mut lines));
    }
    assert_eq!(found, ["one", "two", "three"]);
}

#[test]
fn what_is_passed_over_is_counted_once_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines");
    (0..1_000).for_each(|number| append(&path, format!("line {number}\n").as_bytes()));
    let bytes = fs::metadata(&path).unwrap().len();
    for place in [0, 1, 6, 7, 8, bytes / 2, bytes - 1, bytes, bytes + 1] {
        for allowed in [10, 1_000, u64::MAX] {
            let mut lines = Lines::new(File::open(&path).unwrap(), 100);
            let mut passed = 0;
            while lines.at() < place.min(bytes) {
                lines.allow(allowed);
                passed += lines.pass(place);
            }
            lines.allow(u64::MAX);
            let rest = all(&mut lines);
            let seen = rest.iter().filter(|line| *line != "…").count() as u64;
            assert_eq!(passed + rest.len() as u64, 1_000, "to {place}, {allowed} at a look");
            let last = rest.iter().rfind(|line| *line != "…").map(String::as_str);
            assert_eq!(last, (seen > 0).then_some("line 999"));
            assert!(rest.len() as u64 - seen <= 1, "only the one that was cut by that place");
        }
    }
}

#[test]
fn json_is_read_as_it_is_where_there_is_room_for_its_values() {
    let memory = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/memory.jsonl")).unwrap();
    for line in memory.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        assert_eq!(read(line), serde_json::from_slice(line).unwrap());
    }
    for garbage in [&b"{"[..], b"", b"{} {}", b"\xff", &b"[".repeat(1_000)] {
        assert_eq!(read(garbage), None);
    }
    let text = json!({"text": "a \", [{".repeat(100_000)});
    assert_eq!(read(text.to_string().as_bytes()), Some(text), "letters are no values");
    for value in [json!(0), json!(""), json!([]), json!({})] {
        let list = |count: usize| json!(vec![value.clone(); count]).to_string();
        assert!(read(list(9_000).as_bytes()).is_some() && read(list(21_000).as_bytes()).is_none());
    }
}

#[test]
fn a_document_is_made_to_fit_by_what_matters_least() {
    let write = |document: &Value| document.to_string();
    let ends: Vec<Value> = (0..8).map(|life| json!({"life": life, "log": "\0".repeat(1_000)})).collect();
    let document =
        json!({"id": "x".repeat(64), "ends": ends, "answers": [1, 2, 3], "note": "é".repeat(5_000)});
    assert_eq!(fitted(document.clone(), 1 << 20, write), document.to_string(), "what fits is left alone");
    for most in [50_000, 20_000, 12_000, 4_000] {
        let text = fitted(document.clone(), most, write);
        assert!(text.len() <= most, "{} bytes, and {most} were wanted", text.len());
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (read["ends"].as_array().unwrap().last().unwrap()["life"].clone(), read["id"].clone()),
            (7.into(), document["id"].clone())
        );
    }
    assert_eq!((brief("ééé", 2), brief("ééé", 3)), ("éé…".into(), "ééé".into()));
}

fn record(number: u64) -> Vec<u8> {
    format!("{{\"number\":{number}}}\n").into_bytes()
}

/// What looks of so many bytes hand on until nothing more is there; 0 for a line that was too long.
fn looks(follow: &mut Follow, most: u64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut each = |record: Option<Value>| {
        found.push(record.map_or(0, |record| record["number"].as_u64().unwrap()));
        true
    };
    while follow.look(most, &mut each) {}
    found
}

#[test]
fn what_was_written_right_before_a_rotation_is_handed_on_before_what_came_after() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    append(&path, &record(1));
    let mut follow = Follow::at_end(path.clone());
    assert_eq!(looks(&mut follow, 1 << 20), [0; 0]);
    append(&path, &record(2));
    fs::rename(&path, folder.path().join("old")).unwrap();
    append(&path, &record(3));
    assert_eq!(looks(&mut follow, 7), [2, 3], "seven bytes at a look");
    fs::write(&path, record(4)).unwrap();
    assert_eq!(looks(&mut follow, 1 << 20), [0; 0], "as long as before: it looks the same");
    fs::write(&path, b"").unwrap();
    assert_eq!(looks(&mut follow, 1 << 20), [0; 0]);
    append(&path, &record(5));
    assert_eq!(looks(&mut follow, 1 << 20), [5]);
}

#[test]
fn a_cursor_goes_on_in_its_own_file_and_begins_with_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    append(&path, &[record(1), b"no record\n".to_vec(), vec![b'x'; (4 << 20) + 1], b"\n".to_vec()].concat());
    append(&path, b"{\"number\":");
    let mut follow = Follow::new(path.clone());
    assert_eq!(looks(&mut follow, 1 << 20), [1, 0]);
    let cursor = follow.cursor();
    append(&path, b"2}\n");
    let mut resumed = Follow::resumed(path.clone(), cursor);
    assert_eq!(looks(&mut resumed, 1 << 20), [2], "what had no end was read again");
    let end = resumed.cursor();
    assert_eq!(looks(&mut Follow::resumed(path.clone(), end), 1 << 20), [0; 0]);
    let other = Cursor { inode: end.inode + 1, ..end };
    assert_eq!(looks(&mut Follow::resumed(path.clone(), other), 1 << 20), [1, 0, 2]);
    // Found: a file that was made anew and given the same number was gone on with in the middle.
    let earlier = Cursor { born_ns: end.born_ns + 1, ..end };
    assert_eq!(looks(&mut Follow::resumed(path.clone(), earlier), 1 << 20), [1, 0, 2]);
    let unknown = Cursor { born_ns: 0, ..end };
    assert_eq!(looks(&mut Follow::resumed(path.clone(), unknown), 1 << 20), [0; 0], "as it was kept before");
    let behind = Cursor { place: end.place + 1, ..end };
    assert_eq!(looks(&mut Follow::resumed(path, behind), 1 << 20), [1, 0, 2], "it was cut");
    // Found: a file that could not be opened at that moment was read from its first record the next time.
    let aside = folder.path().join("aside");
    fs::rename(folder.path().join("records.jsonl"), &aside).unwrap();
    let mut missing = Follow::resumed(folder.path().join("records.jsonl"), end);
    assert_eq!((looks(&mut missing, 1 << 20), missing.cursor()), (vec![], end));
    fs::rename(&aside, folder.path().join("records.jsonl")).unwrap();
    append(&folder.path().join("records.jsonl"), &record(3));
    assert_eq!(looks(&mut missing, 1 << 20), [3]);
}
