//! What a browser hears while it follows: status, the thought under way, rows and words, each as text that is harmless.

use crate::asks::asked;
use crate::page::Page;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use trials::{House, SOUND};

const HOSTILE: &str = "<script>pwned()</script>\u{1b}[2J\u{202e}olleh\r\n\ndata: forged\nevent: forged\n\n";

/// What there is to hear.
const EVENTS: [&str; 10] =
    ["status", "switch", "thinking", "reply", "asked", "count", "row", "said", "notice", ""];

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
                assert!(EVENTS.contains(&event.as_str()), "{event}");
                if event == name && told.contains(part) {
                    return told;
                }
                event.clear();
            }
        }
        panic!("{name} with {part} was not heard");
    }
}

/// Holds the guardian's lock, so that what guardian.json says is taken for true.
pub fn locked(house: &House) -> std::fs::File {
    std::fs::create_dir_all(house.path(".self/guardian")).unwrap();
    let lock = std::fs::File::create(house.path(".self/guardian/lock")).unwrap();
    fs2::FileExt::try_lock_exclusive(&lock).unwrap();
    lock
}

/// A house in which a life is at something.
pub fn living(house: &House, stage: &str) -> std::fs::File {
    std::fs::create_dir_all(house.path(".self/mind")).unwrap();
    let lock = locked(house);
    let pid = std::process::id();
    write!(&lock, "{pid}").unwrap();
    house.write(
        ".self/guardian.json",
        &json!({"phase": "settled", "life": 1, "guardian_pid": pid}).to_string(),
    );
    house.write(".self/heartbeat", &json!({"life": 1, "stage": stage, "mind": "m"}).to_string());
    lock
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
    let _lock = living(&house, "thinking");
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
fn a_reply_is_heard_as_it_streams_with_its_marks_and_what_it_costs() {
    let house = House::new(SOUND);
    let _lock = living(&house, "thinking");
    let at = |second: u32| format!("2026-01-02T03:04:{second:02}.000Z");
    let woke = json!({"at": at(5), "life": 1, "event": "wakeup", "data": {"wake": 1, "priority": "owner", "why": ["your owner's word waits"]}});
    house.write(".self/mind/feed.jsonl", &format!("{woke}\n"));
    let settled =
        |at: String| json!({"at": at, "event": "settle", "cost_micro_usd": 20_000, "class": "owner"});
    house.write(".self/ledger.jsonl", &format!("{}\n{}\n", settled(at(4)), settled(at(6))));
    house.write(".self/mind/thinking.txt", "**Yes**, and <b>");
    let page = Page::of(&house);
    let mut follower = Follower::of(&page);
    let reply = follower.hears("reply", "answering you");
    assert!(reply.contains("<strong>Yes</strong>, and &lt;b&gt;"), "{reply}");
    assert!(reply.contains("data-since=") && reply.contains("$0.02 so far"), "{reply}");
    assert!(page.get("/talk").body.contains("<strong>Yes</strong>"), "without scripts too");
    // What is its own is said to go on, and not spoken in the conversation.
    let own = json!({"at": at(20), "life": 1, "event": "wakeup", "data": {"wake": 2, "priority": "work", "why": ["ready: goal-3 herons"]}});
    house.write(".self/mind/feed.jsonl", &format!("{woke}\n{own}\n"));
    let reply = follower.hears("reply", "on its own");
    assert!(!reply.contains("Yes"), "{reply}");
    // A word that comes meanwhile is what it answers now.
    house.write(
        ".self/inbox.jsonl",
        &format!("{}\n", json!({"at": at(30), "text": "and?", "thread": "main"})),
    );
    follower.hears("reply", "answering you");
    house.write(".self/heartbeat", &json!({"life": 1, "stage": "resting", "mind": "m"}).to_string());
    assert_eq!(follower.hears("reply", ""), "", "nothing comes while it rests");
}

#[test]
fn an_ask_is_heard_of_and_counted_at_once() {
    let house = House::new(SOUND);
    let page = Page::of(&house);
    let mut follower = Follower::of(&page);
    follower.hears("count", "0");
    asked(&house, "1", "{\"text\": \"hello <b>\"}");
    follower.hears("count", "1");
    let card = follower.hears("asked", "Approve");
    assert!(card.contains("hello &lt;b&gt;") && card.contains("action=\"/asks/1/yes\""), "{card}");
    assert!(page.get("/").body.contains("<title>(1) Now"), "and stands in the title of each page");
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
