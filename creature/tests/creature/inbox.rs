//! The owner's words in the inbox: each is heard once, whatever becomes of the file and whenever a life ends.

use crate::answers::{AFTERNOON, Sighted, told};
use crate::broker::loopback;
use crate::lived::Lived;
use creature::senses::inbox::{InboxCursor, hear, read, read_at};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

fn file(dir: &TempDir, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.path().join("file");
    std::fs::write(&path, bytes).unwrap();
    path
}

fn words(path: &Path, cursor: &mut InboxCursor) -> Vec<String> {
    read(path, cursor).words.into_iter().map(|word| word.text).collect()
}

#[test]
fn the_inbox_takes_objects_strings_and_bare_text() {
    let heard = hear(b"{\"at\":\"t\",\"text\":\" one \"}\n\"two\"\nthree { four\n{\"broken\": \n\n");
    let texts: Vec<&str> = heard.words.iter().map(|word| word.text.as_str()).collect();
    assert_eq!(texts, ["one", "two", "three { four", "{\"broken\":"]);
    assert_eq!((heard.words[0].at.as_str(), heard.problem.as_str()), ("t", ""));
    let heard = hear(b"{\"no\":1}\n{\"text\":5}\n\x00\xff\n\x1b[2J\nfine\n");
    assert_eq!(heard.words.len(), 1);
    assert!(heard.problem.contains("4 line(s)"), "{}", heard.problem);
    let heard = hear(b"{\"text\":\"a\",\"thread\":\"tea\\u001b[2J/x\"}\n{\"text\":\"b\",\"thread\":[]}\n");
    let threads: Vec<&str> = heard.words.iter().map(|word| word.thread.as_str()).collect();
    assert_eq!(threads, ["tea2Jx", "main"]);
    let many = "again\n".repeat(500) + &"x".repeat(50_000);
    let heard = hear(many.as_bytes());
    assert_eq!(heard.words.len(), 50);
    assert!(heard.words[49].text.len() == 8_000 && heard.problem.contains("451 older"), "{}", heard.problem);
}

#[test]
fn words_are_heard_once_as_the_inbox_grows() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("inbox");
    let mut cursor = InboxCursor::default();
    assert!(words(&path, &mut cursor).is_empty());
    std::fs::write(&path, "one\n").unwrap();
    assert_eq!(words(&path, &mut cursor), ["one"]);
    assert!(words(&path, &mut cursor).is_empty());
    let mut inbox = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    inbox.write_all(b"two\nhalf a li").unwrap();
    // Still being written, however long this test is kept waiting here.
    inbox.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60)).unwrap();
    assert_eq!(words(&path, &mut cursor), ["two"]);
    inbox.write_all(b"ne\n").unwrap();
    assert_eq!(words(&path, &mut cursor), ["half a line"]);
    // Once it holds still, a last line without a newline is a line.
    inbox.write_all(b"no newline").unwrap();
    inbox.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(5)).unwrap();
    assert_eq!(words(&path, &mut cursor), ["no newline"]);
}

#[test]
fn a_line_at_the_end_of_a_great_inbox_is_waited_for_too() {
    let dir = TempDir::new().unwrap();
    let path = file(&dir, "whole\n".repeat(60_000) + "half a li");
    let mut inbox = std::fs::File::options().append(true).open(&path).unwrap();
    // Still being written, however long this test is kept waiting here.
    inbox.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60)).unwrap();
    let mut cursor = InboxCursor::default();
    let heard = read(&path, &mut cursor);
    assert!(heard.words.iter().all(|word| word.text == "whole"), "{:?}", heard.words.last());
    assert!(heard.problem.contains("were skipped"), "{}", heard.problem);
    inbox.write_all(b"ne\n").unwrap();
    assert_eq!(words(&path, &mut cursor), ["half a line"]);
}

#[test]
fn a_line_is_waited_for_by_parts_of_seconds() {
    use std::time::{Duration, SystemTime};
    let dir = TempDir::new().unwrap();
    let (path, mut tries) = (dir.path().join("inbox"), 0..20);
    while tries.next().is_some() {
        std::fs::write(&path, "whole\nhalf a li").unwrap();
        // In the last thousandth of a second, which ends 0.4 to 1.4 s from now.
        let now_s = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64();
        let modified = Duration::from_millis((now_s - 0.599).ceil() as u64 * 1_000 + 999);
        let inbox = std::fs::File::options().append(true).open(&path).unwrap();
        inbox.set_modified(SystemTime::UNIX_EPOCH + modified).unwrap();
        let heard = words(&path, &mut InboxCursor::default());
        // A test that was kept waiting past that moment has seen nothing.
        if SystemTime::now() < SystemTime::UNIX_EPOCH + modified {
            return assert_eq!(heard, ["whole"]);
        }
    }
}

/// An inbox and its reader, on a clock of their own.
struct Edited {
    dir: TempDir,
    cursor: InboxCursor,
    now_ms: i64,
}

impl Edited {
    fn path(&self) -> PathBuf {
        self.dir.path().join("inbox")
    }

    /// Saved as an editor does, into another file.
    fn anew(&self, text: &str) {
        std::fs::write(self.dir.path().join("new"), text).unwrap();
        std::fs::rename(self.dir.path().join("new"), self.path()).unwrap();
    }

    fn in_place(&self, text: &str) {
        std::fs::write(self.path(), text).unwrap();
    }

    /// What is heard of a file that was written so long before, by a reader that is kept as between two lives.
    fn heard(&mut self, before_ms: i64) -> Vec<String> {
        self.now_ms += 60_000;
        if let Ok(file) = std::fs::File::options().append(true).open(self.path()) {
            let modified = Duration::from_millis((self.now_ms - before_ms).unsigned_abs());
            file.set_modified(std::time::SystemTime::UNIX_EPOCH + modified).unwrap();
        }
        self.cursor = serde_json::from_str(&serde_json::to_string(&self.cursor).unwrap()).unwrap();
        let words = read_at(&self.path(), &mut self.cursor, self.now_ms).words;
        words.into_iter().map(|word| word.text).collect()
    }
}

/// Found by editing: an editor that saves into another file ran all earlier words again.
#[test]
fn a_word_is_heard_once_however_the_file_is_edited() {
    let dir = TempDir::new().unwrap();
    let mut inbox = Edited { dir, cursor: InboxCursor::default(), now_ms: 1_795_608_000_000 };
    let nothing: [&str; 0] = [];
    inbox.anew("one\ntwo\n");
    assert_eq!(inbox.heard(500), ["one", "two"]);
    inbox.anew("one\ntwo\n");
    assert_eq!(inbox.heard(500), nothing, "saved by rename, unchanged");
    inbox.anew("one\ntwo\nthree\n");
    assert_eq!(inbox.heard(500), ["three"], "saved by rename, a line added");
    inbox.in_place("one\ntwo\nthree\nfour\n");
    assert_eq!(inbox.heard(500), ["four"], "written anew in place");
    inbox.in_place("# mine\none\ntwo\n\nthree\nfour\n");
    assert_eq!(inbox.heard(500), ["# mine"], "added before the others");
    inbox.in_place("# mine\none\nTWO\n\nthree\nfour\n");
    assert_eq!(inbox.heard(100), ["TWO"], "changed in place, as long as before");
    inbox.in_place("# mine\nOne\nTWO\n\nthree\nfour\n");
    assert_eq!(inbox.heard(60_100), ["One"], "changed again within the same tick of the clock");
    inbox.in_place("three\nfour\nOne\r\nTWO");
    assert_eq!(inbox.heard(500), nothing, "cut, in another order, with other ends of lines");
    inbox.anew("three\nfour\nOne\nTWO\nfour\n");
    assert_eq!(inbox.heard(500), ["four"], "the same again, at the end, is another word");
    for halfway in [Some(""), Some("three\n"), None] {
        match halfway {
            Some(text) => inbox.in_place(text),
            None => std::fs::remove_file(inbox.path()).unwrap(),
        }
        assert_eq!(inbox.heard(300), nothing, "seen in the middle of a save: {halfway:?}");
        inbox.anew("three\nfour\nOne\nTWO\nfour\n");
        assert_eq!(
            inbox.heard(59_500),
            nothing,
            "saved half a second later, read a minute later: {halfway:?}"
        );
    }
    std::fs::remove_file(inbox.path()).unwrap();
    assert_eq!(inbox.heard(0), nothing);
    inbox.in_place("One\n");
    assert_eq!(inbox.heard(500), ["One"], "a new file, long after the old one was gone");
}

/// The same for files longer than what is kept of them; what an older self read is not heard again either.
#[test]
fn an_edit_of_a_long_file_and_an_older_cursor_hear_only_what_is_new() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("inbox");
    let long: String = (0..9_000).map(|n| format!("the word with the number {n} of many\n")).collect();
    for lines in [long.clone(), long.lines().take(1_500).map(|line| format!("{line}\n")).collect()] {
        let mut cursor = InboxCursor::default();
        std::fs::write(&path, &lines).unwrap();
        let now_ms = jiff::Timestamp::now().as_millisecond() + 60_000;
        read_at(&path, &mut cursor, now_ms);
        assert!(cursor.lines.len() <= 1_000 && serde_json::to_vec(&cursor).unwrap().len() < 32_000);
        std::fs::write(dir.path().join("new"), format!("before all\n{lines}after all\n")).unwrap();
        std::fs::rename(dir.path().join("new"), &path).unwrap();
        let words = read_at(&path, &mut cursor, now_ms).words;
        let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(words, ["after all"]);
    }
    std::fs::write(&path, "one\ntwo\n").unwrap();
    let now_ms = jiff::Timestamp::now().as_millisecond() + 60_000;
    let mut cursor = InboxCursor::default();
    read_at(&path, &mut cursor, now_ms);
    let mut older = InboxCursor { lines: Vec::new(), ..cursor };
    std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
    let words = read_at(&path, &mut older, now_ms).words;
    assert_eq!(words.len(), 1, "{words:?}");
}

#[test]
fn another_file_in_its_place_is_read_from_its_start() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("inbox");
    let mut cursor = InboxCursor::default();
    std::fs::write(&path, "one\ntwo\n").unwrap();
    assert_eq!(words(&path, &mut cursor).len(), 2);
    std::fs::write(&path, "new\n").unwrap();
    assert_eq!(words(&path, &mut cursor), ["new"], "truncated");
    std::fs::write(&path, "another one, longer\n").unwrap();
    assert_eq!(words(&path, &mut cursor), ["another one, longer"], "rewritten");
    std::fs::rename(&path, dir.path().join("inbox.old")).unwrap();
    std::fs::write(&path, "after rotation, and longer still\n").unwrap();
    assert_eq!(words(&path, &mut cursor), ["after rotation, and longer still"], "rotated");
    let long = "an editor saves into a new file ".repeat(20);
    std::fs::write(&path, format!("{long}\n")).unwrap();
    words(&path, &mut cursor);
    std::fs::write(dir.path().join("new"), format!("{long}\nadded\n")).unwrap();
    std::fs::rename(dir.path().join("new"), &path).unwrap();
    assert_eq!(words(&path, &mut cursor), ["added"], "saved by an editor");
}

#[test]
fn a_huge_inbox_costs_only_its_end() {
    let dir = TempDir::new().unwrap();
    let path = file(&dir, "filler line\n".repeat(2_000_000) + "the newest\n");
    let mut cursor = InboxCursor::default();
    let heard = read(&path, &mut cursor);
    assert_eq!(heard.words.last().unwrap().text, "the newest");
    assert!(heard.words.len() <= 50 && heard.problem.contains("skipped"));
    assert_eq!(cursor.offset, std::fs::metadata(&path).unwrap().len());
}

/// The two moments between which a kill comes, one by one: kept and not remembered, remembered and not taken in.
#[tokio::test]
async fn a_word_that_was_kept_is_remembered_once_and_an_order_is_followed_once() {
    loopback!();
    for (text, orders) in [("hello", 0), ("pause until friday", 1)] {
        for remembered in [false, true] {
            let sighted = Sighted::new();
            let house = sighted.house("");
            let mut lived = Lived::born(&house, AFTERNOON, 1).await;
            lived.wake().await;
            let kept = json!({"at": "", "text": text, "thread": "main", "seen": 0, "id": "1-7-0"});
            let mut cursors: Value = serde_json::from_str(
                &std::fs::read_to_string(house.path(".self/mind/cursors.json")).unwrap(),
            )
            .unwrap();
            cursors["words"] = json!([kept]);
            if remembered {
                let said = json!({"from": "owner", "text": text, "at": "", "thread": "main", "id": "1-7-0"});
                lived.life.store.record("message", said).unwrap();
            }
            drop(lived);
            house.write(".self/mind/cursors.json", cursors.to_string());
            let mut lived = Lived::born(&house, AFTERNOON, 2).await;
            lived.wake().await;
            let said = house.records().into_iter().filter(|record| record.data["from"] == "owner").count();
            assert_eq!(said, 1, "{text}, remembered: {remembered}");
            assert_eq!(told(&house).len(), 1, "{:?}", told(&house));
            assert!(lived.life.cursors.owner.words.is_empty());
            assert_eq!(lived.life.store.agenda.directives.list.len(), orders);
        }
    }
}

mod probation {
    use super::*;

    /// Killed between hearing and recording, at any moment: each word stands in memory once and is answered.
    #[test]
    fn a_word_is_heard_once_across_kills() {
        loopback!();
        let sighted = Sighted::new();
        let house = sighted.house("");
        let mut living = house.live(1);
        house.record("thought", |_| true);
        for n in 0..16_u64 {
            // The same words again and again, without a time: each line is another word.
            house.say(&format!("are you there, {}?", n % 3));
            std::thread::sleep(Duration::from_millis(n * 37 % 400));
            drop(living);
            living = house.live(n + 2);
        }
        house.say("the last of all");
        house.record("message", |data| {
            let said = data["text"].as_str().unwrap_or_default();
            data["from"] == "creature" && said.contains("the last of all")
        });
        living.leave();
        let said = house.records().into_iter().filter(|record| record.data["from"] == "owner");
        let said: Vec<String> = said.map(|record| record.data["text"].as_str().unwrap().to_owned()).collect();
        assert_eq!(said.len(), 17, "{said:#?}");
        for n in 0..3 {
            let word = format!("are you there, {n}?");
            assert_eq!(
                said.iter().filter(|said| **said == word).count(),
                if n == 0 { 6 } else { 5 },
                "{said:#?}"
            );
        }
    }
}
