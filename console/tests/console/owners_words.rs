//! Whose words are shown as the owner's: those of the inbox. What the creature writes into memory in another's name is its own.

use crate::page::Page;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use trials::{House, SOUND, said};

const AT: &str = "2026-01-02T00:00:01.000Z";

fn message(second: usize, from: &str, at: &str, text: &str) -> Value {
    json!({"at": format!("2026-01-02T00:00:{second:02}.500Z"), "life": 1, "kind": "message",
           "data": {"from": from, "text": text, "at": at, "thread": "main"}})
}

/// A house with words of the owner in every form the inbox has, and words in his name that are in none.
fn house() -> House {
    let house = House::new(SOUND);
    let word = json!({"at": AT, "text": " truly by line ", "thread": "main"});
    house.write(".self/inbox.jsonl", &format!("{word}\ntruly bare\n\"truly quoted\"\n"));
    let records = [
        message(1, "owner", AT, "truly by line"),
        message(2, "owner", "", "truly bare"),
        message(3, "owner", "", "truly quoted"),
        message(4, "owner", AT, "falsely pay him"),
        message(5, "owner", "2026-01-02T00:00:09.000Z", "truly by line"),
        message(6, "Owner", AT, "falsely with a capital"),
        message(7, "you", AT, "falsely as you"),
        message(8, "creature", AT, "its answer"),
    ];
    house.write(".self/memory.jsonl", &records.map(|record| format!("{record}\n")).concat());
    house
}

/// The text of a page, or of a terminal, with single spaces.
fn plain(told: &str) -> String {
    let pieces = told.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    pieces.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Found: a record `from: owner` that the creature wrote stood in Talk as "you".
#[test]
fn words_that_the_creature_puts_into_the_owners_mouth_are_not_shown_as_his() {
    let house = house();
    let page = Page::of(&house);
    let talk = page.get("/talk").body;
    let items: Vec<&str> =
        talk.split("<li class=\"").skip(1).filter(|item| item.contains("class=\"words")).collect();
    assert_eq!(items.len(), 8, "{talk}");
    let yours: Vec<&&str> = items.iter().filter(|item| item.starts_with("owner")).collect();
    assert_eq!(yours.len(), 3, "{yours:?}");
    assert!(yours.iter().all(|item| item.contains("you ") && item.contains("truly")), "{yours:?}");
    assert_eq!(talk.matches("it says you said").count(), 3, "{talk}");
    assert!(talk.contains("it says Owner said"), "{talk}");
    let others = [
        crate::told::followed(&house, &["feed", "-n", "8"], 8).join("\n"),
        said(&house.ask(&["history", "--since", "2026-01-01"])),
        page.get("/search?q=falsely").body,
        page.get("/").body,
        page.get("/export/span.html").body,
    ];
    for told in others.map(|told| plain(&told)) {
        assert!(told.contains("falsely pay him"), "{told}");
        assert!(told.contains("it says you said"), "{told}");
        assert!(!told.contains("owner: falsely") && !told.contains(" you: falsely"), "{told}");
    }
    let report = said(&house.ask(&["report", "--since", "2026-01-01"]));
    assert!(!report.contains("owner: falsely"), "{report}");
}

/// Of the same kind: a record with the time of a word that is not heard yet made the page hide that word.
#[test]
fn a_word_that_waits_is_not_hidden_by_a_record_with_its_time() {
    let house = House::new(SOUND);
    let word = json!({"at": AT, "text": "not heard yet", "thread": "main"});
    house.write(".self/inbox.jsonl", &format!("{word}\n"));
    house.write(".self/memory.jsonl", &format!("{}\n", message(0, "owner", AT, "something else")));
    let talk = Page::of(&house).get("/talk").body;
    assert!(talk.contains("kept; not heard yet"), "{talk}");
}

/// What a browser hears as it happens is judged by the inbox as it is then.
#[test]
fn a_word_that_is_told_as_it_happens_is_judged_too() {
    let house = house();
    let page = Page::of(&house);
    let mut follows = page.connect();
    write!(follows, "GET /stream HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n", page.host(), page.cookie())
        .unwrap();
    let mut lines = BufReader::new(follows).lines().map(Result::unwrap);
    lines.find(|line| line.contains("event: status")).unwrap();
    let append = |path: &str, line: &Value| {
        let mut file = std::fs::File::options().append(true).open(house.path(path)).unwrap();
        writeln!(file, "{line}").unwrap();
    };
    append(".self/inbox.jsonl", &json!({"at": "2026-01-02T00:01:00.000Z", "text": "a new word"}));
    append(".self/memory.jsonl", &message(9, "owner", "2026-01-02T00:01:00.000Z", "a new word"));
    append(".self/memory.jsonl", &message(10, "owner", "2026-01-02T00:01:00.000Z", "a made up word"));
    let mut heard =
        |words: &str| lines.find(|line| line.contains("class=\"words") && line.contains(words)).unwrap();
    let (truly, falsely) = (heard("a new word"), heard("a made up word"));
    assert!(truly.contains("you ") && !truly.contains("it says"), "{truly}");
    assert!(falsely.contains("it says you said"), "{falsely}");
}
