//! The outbox over ends: what is queued is queued once, what was being sent is known as such, a torn line is none.

use crate::home::Home;
use channels::channel::Chat;
use channels::outbox::{Item, Kind, Outbox, Step};
use std::io::Write;
use std::path::Path;

fn item(key: &str) -> Item {
    Item {
        key: key.into(),
        channel: "telegram".into(),
        chat: Chat { id: "100".into(), thread: None, is_private: true },
        kind: Kind::Answer,
        at: String::new(),
        text: format!("text of {key}"),
        is_plain: false,
        buttons: vec![],
        enclosed: None,
        edits: None,
    }
}

fn waiting(outbox: &Outbox) -> Vec<(String, bool)> {
    outbox.waiting("telegram").map(|entry| (entry.item.key.clone(), entry.tried_ms.is_some())).collect()
}

fn load(path: &Path) -> Outbox {
    Outbox::load(path.to_owned()).unwrap()
}

#[test]
fn each_step_survives_an_end_and_a_key_is_queued_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    let mut outbox = load(&path);
    for key in ["a", "b", "c", "d"] {
        assert!(outbox.queue(item(key)).unwrap());
    }
    assert!(!outbox.queue(item("a")).unwrap());
    outbox.step(Step::Sending { key: "a".into(), at_ms: 7 }).unwrap();
    assert_eq!(waiting(&load(&path)).first(), Some(&("a".to_owned(), true)));
    outbox.step(Step::Sent { key: "a".into(), message: "m".into() }).unwrap();
    outbox.step(Step::Sending { key: "b".into(), at_ms: 7 }).unwrap();
    outbox.step(Step::Waits { key: "b".into(), is_plain: true }).unwrap();
    outbox.step(Step::Doubtful { key: "c".into(), why: "cut".into() }).unwrap();
    let mut again = load(&path);
    let left = [("b".to_owned(), false), ("d".to_owned(), false)];
    assert_eq!(waiting(&again), left);
    assert!(again.next("telegram").unwrap().item.is_plain);
    for key in ["a", "b", "c", "d"] {
        assert!(!again.queue(item(key)).unwrap(), "{key} is known");
    }
    // Written anew at each start, it is the same.
    assert_eq!(waiting(&load(&path)), left);
}

#[test]
fn a_line_that_was_torn_counts_for_nothing_and_garbage_stops_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    load(&path).queue(item("a")).unwrap();
    let mut file = std::fs::File::options().append(true).open(&path).unwrap();
    file.write_all(
        b"\xff\xfe garbage\n{\"step\":\"flying\",\"key\":\"a\"}\n{\"step\":\"sent\",\"key\":\"a\",\"mess",
    )
    .unwrap();
    let mut outbox = load(&path);
    assert_eq!(waiting(&outbox), [("a".to_owned(), false)]);
    outbox.step(Step::Sent { key: "a".into(), message: "m".into() }).unwrap();
    assert_eq!(waiting(&load(&path)), []);
}

#[test]
fn the_file_stays_small_and_a_crowd_of_notices_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    let mut outbox = load(&path);
    for nth in 0..3 {
        let key = format!("long-{nth}");
        outbox.queue(Item { text: "x".repeat(3 << 20), ..item(&key) }).unwrap();
        outbox.step(Step::Sent { key, message: "m".into() }).unwrap();
    }
    assert!(std::fs::metadata(&path).unwrap().len() < 7 << 20);
    let kept = (0..2_100)
        .filter(|nth| outbox.queue(Item { kind: Kind::Notice, ..item(&format!("n{nth}")) }).unwrap());
    assert_eq!(kept.count(), 2_000);
    assert!(outbox.queue(item("an answer")).unwrap(), "no answer is left out");
}

/// Found: a file of one channel that could not be read ended the program, and with it all channels.
#[test]
fn a_state_that_cannot_be_read_stops_its_own_channel_alone_and_stays() {
    let mut home = Home::new(&["telegram", "matrix"]);
    home.pair("telegram");
    let path = channels::places::state(&home.house, "matrix");
    for damaged in ["{\"owner\": {\"id\": \"7\"", "", "[1]", "\u{0}\u{1}"] {
        std::fs::write(&path, damaged).unwrap();
        home.start();
        let word = format!("hello after {damaged:?}");
        home.say("telegram", &word);
        home.until_word(&word);
        let told = home.until("what is wrong", |home| {
            let standing = std::fs::read(home.house.channels_standing()).ok()?;
            let standing: serde_json::Value = serde_json::from_slice(&standing).ok()?;
            let its = &standing["matrix"];
            (its["state"] == "missing").then(|| its["trouble"].as_str().unwrap_or_default().to_owned())
        });
        assert!(told.contains("matrix.json cannot be read; move it aside"), "{told}");
        home.kill();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
    }
}
