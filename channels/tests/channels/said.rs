//! Inward: pairing, words in the inbox, commands, edits and deletions, files, crowds; what is kept before it is acknowledged.

use crate::home::Home;
use house::clock;
use serde_json::{Value, json};
use std::fs;

const HOUR_MS: u64 = 3_600_000;

#[test]
fn a_code_that_was_tried_too_often_is_asked_for_no_more_and_whoever_has_it_is_told() {
    let mut home = Home::new(&["telegram"]);
    home.start();
    home.code("telegram", "QWRTZPSD");
    for nth in 0..5 {
        home.heard("telegram", json!({"from": "8", "chat": "108", "word": format!("QWRTZPS{nth}")}));
    }
    home.heard("telegram", json!({"from": "8", "chat": "108", "word": "QWRT-ZPSD"}));
    home.until_sent("telegram", "That code counts no more");
    let pairing = house::channels::Pairing::read(&home.house);
    let now = house::moments::now();
    assert!(pairing.code("telegram", now).is_some(), "its ten minutes are not over");
    let line = home.until("it is published", |home| {
        let standing = house::channels::standing(&home.house).remove("telegram")?;
        (!standing.code_over.is_empty()).then(|| standing.line("telegram", &pairing, now))
    });
    assert!(line.contains("tried too often") && line.contains("channels pair telegram"), "{line}");
}

#[test]
fn whoever_sends_the_code_is_the_owner_and_all_others_are_told_once() {
    let mut home = Home::new(&["telegram"]);
    home.start();
    home.heard("telegram", json!({"from": "8", "name": "Bob", "chat": "108", "word": "hello"}));
    home.until_sent("telegram", "I talk with my owner alone");
    home.code("telegram", "QWRTZPSD");
    home.heard("telegram", json!({"from": "8", "chat": "108", "word": "QWRTZPSX"}));
    home.until_sent("telegram", "4 tries are left");
    home.heard("telegram", json!({"from": "9", "chat": "109", "bot": true, "word": "QWRTZPSD"}));
    home.say("telegram", "qwrt-zpsd");
    let paired = home.until_sent("telegram", "Paired: I hear you here");
    assert_eq!(paired["chat"], "100");
    home.heard("telegram", json!({"from": "9", "chat": "109", "word": "QWRTZPSD"}));
    home.heard("telegram", json!({"from": "8", "chat": "108", "word": "and me?"}));
    home.say("telegram", "hello from the owner");
    let word = home.until_word("hello from the owner");
    assert_eq!((&word["thread"], home.inbox().len()), (&json!("telegram-100"), 1), "{:?}", home.inbox());
    let refusals =
        |home: &Home| home.texts("telegram").iter().filter(|text| text.contains("my owner alone")).count();
    home.until("the other one is refused too", |home| (refusals(home) == 2).then_some(()));
    home.answers("telegram-100", "the last");
    home.until_sent("telegram", "the last");
    assert_eq!(refusals(&home), 2, "{:?}", home.texts("telegram"));
    let state = home.state("telegram");
    assert_eq!((&state["owner"]["id"], &state["owner"]["name"]), (&json!("7"), &json!("Ann")));
    assert!(!home.log().contains("QWRTZPSD"));
    let standing = house::channels::standing(&home.house);
    assert_eq!(
        (standing["telegram"].state.as_str(), standing["telegram"].paired.as_str()),
        ("connected", "Ann")
    );
}

#[test]
fn a_pairing_that_the_owner_took_back_counts_no_more() {
    let mut home = Home::paired(&["telegram"]);
    home.say("telegram", "before");
    home.until_word("before");
    std::thread::sleep(std::time::Duration::from_millis(5));
    let mut pairing = house::channels::Pairing::default();
    pairing.unpaired.insert("telegram".into(), clock::stamp());
    pairing.write(&home.house).unwrap();
    home.say("telegram", "after");
    home.until_sent("telegram", "I talk with my owner alone");
    assert_eq!(home.words(), ["before"]);
}

#[test]
fn words_are_in_the_inbox_with_their_ids_before_they_are_acknowledged() {
    let mut home = Home::paired(&["telegram"]);
    let id = home.say("telegram", "  one\u{0}two \u{202e}three 👩‍👩‍👧‍👦 ");
    home.say("telegram", "😀😀😀");
    home.until_acknowledged("telegram");
    let inbox = home.inbox();
    assert_eq!(home.words(), ["one two \u{202e}three 👩‍👩‍👧‍👦", "😀😀😀"]);
    assert_eq!(inbox[0]["id"], format!("telegram:{id}"));
    // Heard again, by another connection and by another program: it is known.
    home.trouble("telegram", json!({"op": "receive", "kind": "away", "why": "cut"}));
    fs::write(home.folder("telegram").join("acknowledged"), "0").unwrap();
    home.start();
    home.say("telegram", "the last");
    home.until_word("the last");
    assert_eq!(home.words().len(), 3);
}

#[test]
fn an_id_that_stands_in_the_inbox_was_heard_though_nothing_else_says_so() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    home.say("telegram", "kept before the end");
    let line = json!({"at": clock::stamp(), "text": "kept before the end", "thread": "telegram-100", "id": "telegram:telegram-m1"});
    crate::home::append(&home.house.inbox(), &line);
    home.say("telegram", "not kept");
    home.start();
    home.until_word("not kept");
    home.until_acknowledged("telegram");
    assert_eq!(home.words(), ["kept before the end", "not kept"]);
}

#[test]
fn a_word_of_a_hundred_thousand_characters_is_a_file_and_ten_thousand_words_are_few_lines() {
    let mut home = Home::paired(&["telegram"]);
    let long = format!("begin {} end", "word ".repeat(20_000));
    home.say("telegram", &long);
    let word = home.until_word("begin word");
    let text = word["text"].as_str().unwrap();
    assert!(text.chars().count() < 8_000);
    let path = text.rsplit(' ').next().unwrap().trim_end_matches(')');
    assert_eq!(fs::read_to_string(home.house.root().join(path)).unwrap(), long);
    let crowd: String = (0..10_000)
        .map(|nth| {
            let line = json!({"id": format!("crowd-{nth}"), "at_ms": clock::wall_ms(), "chat": "100", "from": "7",
                "name": "Ann", "word": format!("word number {nth}.")});
            format!("{line}\n")
        })
        .collect();
    let path = home.folder("telegram").join("in.jsonl");
    let mut file = fs::File::options().append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, crowd.as_bytes()).unwrap();
    home.until_acknowledged("telegram");
    let inbox = home.inbox();
    assert!(inbox.len() < 400, "{} lines", inbox.len());
    let all = home.words().concat();
    let places: Vec<usize> =
        (0..10_000).map(|nth| all.find(&format!("word number {nth}.")).expect("it was heard")).collect();
    assert!(places.is_sorted(), "in order");
    assert_eq!(all.matches("word number").count(), 10_000);
}

#[test]
fn commands_are_answered_by_the_consoles_program_and_a_mistake_by_what_was_meant() {
    let mut home = Home::paired(&["telegram"]);
    home.say("telegram", "/mind");
    let told = home.until_sent("telegram", "status: ");
    let text = told["text"].as_str().unwrap();
    assert!(!text.contains('\u{1b}') && text.contains("\ndue: nothing by the clock"), "{text}");
    // A phone breaks lines between words in plain text, and shows code as wide as it is.
    assert_eq!(told["form"], "Plain");
    home.say("telegram", "/history --since 2h");
    home.until_sent("telegram", "\nthoughts 0, actions 0");
    home.say("telegram", "/mnd");
    home.until_sent("telegram", "did you mean /mind?");
    home.say("telegram", "/help");
    home.until_sent("telegram", "/verbosity [minimal|normal|verbose]");
    home.say("telegram", "/verbosity normal");
    home.until_sent("telegram", "normal: a line for each act too");
    home.until("it is kept", |home| (home.state("telegram")["verbosity"] == "normal").then_some(()));
    home.say("telegram", "/stop");
    home.until_word("stop that");
    assert_eq!(home.words(), ["stop that"]);
}

#[test]
fn an_edit_and_a_deletion_are_told_while_the_word_waits_and_not_after_it_was_answered() {
    let mut home = Home::paired(&["telegram"]);
    home.heard("telegram", json!({"message": "w1", "word": "buy tulips"}));
    home.heard("telegram", json!({"message": "w1", "edited": "buy roses"}));
    assert!(home.until_word("buy roses")["text"].as_str().unwrap().starts_with("(changed:"));
    home.heard("telegram", json!({"deleted": "w1"}));
    home.until_word("I took back what I said");
    home.answers("telegram-100", "I bought nothing");
    home.until_sent("telegram", "I bought nothing");
    home.until("nothing waits", |home| home.state("telegram")["said"].as_array()?.is_empty().then_some(()));
    home.heard("telegram", json!({"message": "w1", "edited": "buy lilies"}));
    home.heard("telegram", json!({"deleted": "w1"}));
    home.say("telegram", "that is all");
    home.until_word("that is all");
    assert_eq!(home.inbox().len(), 4, "{:?}", home.words());
}

#[test]
fn files_are_kept_under_harmless_names_within_bounds() {
    let mut home = Home::paired(&["telegram"]);
    let files = json!([
        {"name": "../../x", "text": "inside"},
        {"name": "big.bin", "bytes": 99_000_000, "text": ""},
        {"name": "liar.bin", "text": "y".repeat(2 << 20)},
    ]);
    home.heard("telegram", json!({"word": "look", "files": files}));
    let word = home.until_word("look");
    let text = word["text"].as_str().unwrap();
    assert!(text.contains("(a file of 6 bytes: .self/received/telegram/"), "{text}");
    assert!(
        text.contains("big.bin, too large") && text.contains("liar.bin, which could not be fetched"),
        "{text}"
    );
    // Who sent it is told at once, whatever the mind makes of it.
    let told = home.until_sent("telegram", "I do not have every file of this: big.bin, too large");
    assert!(told["text"].as_str().unwrap().contains("; liar.bin, which could not be fetched"), "{told}");
    let folder = home.house.root().join(".self/received/telegram");
    let names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.len() == 1 && names[0].ends_with("-x"), "{names:?}");
    assert_eq!(fs::read_to_string(folder.join(&names[0])).unwrap(), "inside");
    // A link that the creature puts in the folder's place leads nowhere.
    fs::rename(home.house.root().join(".self/received"), home.house.root().join(".self/moved")).unwrap();
    std::os::unix::fs::symlink("/tmp", home.house.root().join(".self/received")).unwrap();
    home.heard("telegram", json!({"word": "again", "files": [{"name": "a", "text": "b"}]}));
    home.until("it says so", |home| home.log().contains("failed to make received/telegram").then_some(()));
    fs::remove_file(home.house.root().join(".self/received")).unwrap();
    home.until_word("again");
}

#[test]
fn what_was_said_while_nobody_listened_is_heard_in_order_with_its_time_and_a_stop_acts() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    let then = clock::wall_ms() - 6 * HOUR_MS;
    for (nth, word) in
        ["post the draft", "stop", "no 12", "/resume", "/verbosity verbose"].into_iter().enumerate()
    {
        home.heard("telegram", json!({"at_ms": then + nth as u64, "word": word}));
    }
    home.start();
    home.until_acknowledged("telegram");
    let words = home.words();
    assert!(words[0].starts_with("(said at ") && words[0].ends_with(") post the draft"), "{words:?}");
    assert!(words[0].contains("6 h") && words[0].contains("ask whether it still holds"), "{words:?}");
    assert_eq!(words[1..], ["stop"]);
    home.until_sent("telegram", "You said /resume at");
    home.until_sent("telegram", "verbose");
    home.until_sent("telegram", "no ask is called `12`");
    // A clock that is off does not make late what was just said.
    home.heard("telegram", json!({"at_ms": then, "word": "just said"}));
    home.until_word("just said");
    assert_eq!(home.words().last().map(String::as_str), Some("just said"));
}

#[test]
fn a_group_that_the_owner_named_is_heard_when_it_is_addressed() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    home.settings("telegram", json!({"groups": ["-5"]}));
    home.start();
    let said = |from: &str, addressed: bool, word: &str| json!({"chat": "-5", "group": true, "from": from, "addressed": addressed, "word": word});
    home.heard("telegram", said("7", false, "to the others"));
    home.heard("telegram", said("8", true, "a stranger's"));
    home.heard("telegram", said("7", true, "to it"));
    home.until_word("to it");
    home.answers("telegram--5", "to the group");
    assert_eq!(home.until_sent("telegram", "to the group")["chat"], "-5");
    assert_eq!(home.words(), ["to it"]);
    let none: Vec<Value> =
        home.sent("telegram").into_iter().filter(|line| line["text"] != "to the group").collect();
    assert!(none.is_empty(), "{none:?}");
}

#[test]
fn what_cannot_be_kept_is_not_acknowledged_and_is_heard_as_soon_as_it_can() {
    let mut home = Home::paired(&["telegram"]);
    home.say("telegram", "before");
    home.until_acknowledged("telegram");
    let inbox = home.house.inbox();
    let aside = inbox.with_extension("aside");
    fs::rename(&inbox, &aside).unwrap();
    fs::create_dir(&inbox).unwrap();
    home.say("telegram", "one");
    home.heard("telegram", json!({"from": "8", "chat": "108", "word": "a stranger between"}));
    home.say("telegram", "two");
    home.until("it says so", |home| {
        home.log().contains("could not be kept, and is heard again").then_some(())
    });
    assert_eq!(fs::read_to_string(home.folder("telegram").join("acknowledged")).unwrap(), "1");
    fs::remove_dir(&inbox).unwrap();
    fs::rename(&aside, &inbox).unwrap();
    home.until_word("two");
    home.until_acknowledged("telegram");
    assert_eq!(home.words(), ["before", "one", "two"]);
    let refusals = home.texts("telegram").iter().filter(|text| text.contains("my owner alone")).count();
    assert_eq!(refusals, 1, "told once, though it was heard twice");
}

#[test]
fn what_a_channel_cannot_read_is_said_once_a_chat_and_kept_nowhere() {
    let mut home = Home::paired(&["matrix"]);
    for _ in 0..3 {
        home.heard("matrix", json!({"unread": "this room is encrypted"}));
    }
    home.heard("matrix", json!({"from": "8", "chat": "108", "unread": "this room is encrypted"}));
    home.say("matrix", "in the open");
    home.until_word("in the open");
    home.answers("matrix-100", "the last");
    home.until_sent("matrix", "the last");
    assert_eq!(home.texts("matrix"), ["this room is encrypted", "the last"]);
    assert_eq!(home.words(), ["in the open"]);
}

#[test]
fn another_program_and_a_platform_that_asks_for_time_are_waited_for() {
    let mut home = Home::new(&["matrix", "telegram"]);
    home.pair("matrix");
    home.pair("telegram");
    home.trouble("telegram", json!({"op": "receive", "kind": "slower", "ms": 30}));
    home.trouble("telegram", json!({"op": "receive", "kind": "away", "why": "502"}));
    home.trouble("telegram", json!({"op": "acknowledge", "kind": "away", "why": "503"}));
    home.start();
    home.say("telegram", "through all of it");
    home.until_word("through all of it");
    home.until_acknowledged("telegram");
    assert_eq!(home.words(), ["through all of it"], "once, though it was heard twice");
    home.trouble("telegram", json!({"op": "receive", "kind": "elsewhere", "why": "409"}));
    home.until_sent("matrix", "Another program receives on telegram with the same sign-in: 409");
}
