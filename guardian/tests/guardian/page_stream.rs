//! What a browser hears while it follows: status, the thought under way, rows and words, each as text that is harmless.

use crate::page::Page;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use trials::{House, SOUND};

const HOSTILE: &str = "<script>pwned()</script>\u{1b}[2J\u{202e}olleh\r\n\ndata: forged\nevent: forged\n\n";

/// A browser that follows.
struct Follower {
    lines: std::io::Lines<BufReader<TcpStream>>,
}

impl Follower {
    fn of(page: &Page) -> Self {
        let mut stream = page.connect();
        let (host, cookie) = (page.host(), page.cookie());
        write!(stream, "GET /stream HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n").unwrap();
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next().unwrap().unwrap();
        assert!(first.contains("200"), "{first}");
        Self { lines }
    }

    /// The next event of this name whose text holds this.
    #[track_caller]
    fn hears(&mut self, name: &str, part: &str) -> String {
        let (mut event, mut data) = (String::new(), Vec::new());
        for line in self.lines.by_ref() {
            let line = line.expect("it goes on");
            if let Some(name) = line.strip_prefix("event: ") {
                event = name.to_owned();
            } else if let Some(text) = line.strip_prefix("data: ") {
                data.push(text.to_owned());
            } else if line.is_empty() {
                let told = std::mem::take(&mut data).join("\n");
                assert!(
                    ["status", "thinking", "row", "said", "notice", ""].contains(&event.as_str()),
                    "{event}"
                );
                if event == name && told.contains(part) {
                    return told;
                }
                event.clear();
            }
        }
        panic!("{name} with {part} was not heard");
    }
}

fn remember(house: &House, kind: &str, data: Value) {
    let line = json!({"at": "2026-01-02T03:04:05.000Z", "life": 1, "kind": kind, "data": data});
    let path = house.path(".self/memory.jsonl");
    let mut memory = std::fs::File::options().create(true).append(true).open(path).unwrap();
    writeln!(memory, "{line}").unwrap();
}

#[test]
fn what_is_remembered_and_thought_is_heard_as_it_happens() {
    let house = House::new(SOUND);
    remember(&house, "message", json!({"from": "creature", "text": "from before"}));
    // Somebody holds the lock, so that what guardian.json says is taken for true.
    std::fs::create_dir_all(house.path(".self/guardian")).unwrap();
    std::fs::create_dir_all(house.path(".self/mind")).unwrap();
    let lock = std::fs::File::create(house.path(".self/guardian/lock")).unwrap();
    fs2::FileExt::try_lock_exclusive(&lock).unwrap();
    house.write(".self/guardian.json", &json!({"phase": "settled", "life": 1}).to_string());
    house.write(".self/heartbeat", &json!({"life": 1, "stage": "thinking", "mind": HOSTILE}).to_string());
    let page = Page::of(&house);
    let mut follower = Follower::of(&page);
    let status = follower.hears("status", "thinks");
    assert!(status.contains("&lt;script&gt;") && !status.contains("<script>"), "{status}");
    remember(&house, "thought", json!({"thought": 7, "monologue": HOSTILE, "intent": "go on"}));
    let row = follower.hears("row", "/thought/7");
    assert!(row.contains("&lt;script&gt;pwned()&lt;/script&gt;\\u{1b}[2J\\u{202e}olleh"), "{row}");
    remember(&house, "message", json!({"from": "creature", "text": HOSTILE, "kind": "answer"}));
    let said = follower.hears("said", "data: forged");
    assert!(!said.contains("from before") && said.contains("&lt;script&gt;"), "{said}");
    house.write(".self/mind/thinking.txt", "I begin\nand go on <b>");
    let thinking = follower.hears("thinking", "I begin");
    assert_eq!(thinking, "I begin\nand go on <b>", "plain text");
}

#[test]
fn who_leaves_makes_room_and_no_more_than_there_is_room_for_follow() {
    let house = House::new(SOUND);
    let page = Page::of(&house);
    let followers: Vec<Follower> = (0..8)
        .map(|_| {
            let mut follower = Follower::of(&page);
            follower.hears("status", "");
            follower
        })
        .collect();
    assert_eq!(page.get("/stream").status, 503);
    assert_eq!(page.get("/").status, 200, "pages are answered meanwhile");
    drop(followers);
    house.until("there is room", || {
        let mut stream = page.connect();
        write!(stream, "GET /stream HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n", page.host(), page.cookie())
            .unwrap();
        let mut first = String::new();
        BufReader::new(stream).read_line(&mut first).unwrap();
        first.contains("200")
    });
}

#[test]
fn who_has_the_old_link_is_let_go() {
    let house = House::new(SOUND);
    let page = Page::of(&house);
    let mut follower = Follower::of(&page);
    follower.hears("status", "");
    assert!(house.ask(&["serve", "--new-link", "--port", &page.port.to_string()]).status.success());
    follower.hears("notice", "Open the new link");
    assert!(follower.lines.all(|line| line.is_ok()), "and then it ends");
}
