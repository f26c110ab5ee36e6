//! Words with files: what else is said is heard while they are fetched, in order, over ends; a stop waits for none.

use crate::home::Home;
use channels::channel::{Attached, Chat};
use channels::hear::MOST_WAITING;
use channels::state::State;
use channels::waiting::Waiting;
use serde_json::json;
use std::fs;

/// A word with a file that comes when `comes` was called.
fn say_with_file(home: &mut Home, word: &str) {
    let files = json!([{"name": "plan.txt", "text": "inside", "until": "comes"}]);
    home.heard("telegram", json!({"message": word, "word": word, "files": files}));
}

fn comes(home: &Home) {
    fs::write(home.folder("telegram").join("comes"), "").unwrap();
}

fn beginnings(home: &Home) -> Vec<String> {
    home.words().iter().map(|word| word.lines().next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_stop_is_heard_while_a_file_is_fetched_and_stands_behind_its_word() {
    let mut home = Home::paired(&["telegram"]);
    say_with_file(&mut home, "post this");
    home.until("it waits", |home| (home.state("telegram")["waiting"].as_array()?.len() == 1).then_some(()));
    home.say("telegram", "and that");
    home.say("telegram", "stop");
    home.until("all three", |home| (home.words().len() == 3).then_some(()));
    let words = home.words();
    assert_eq!(words[0], "post this\n(files of this: 1, not fetched, for what came behind it)");
    assert_eq!(words[1..], ["and that", "stop"]);
    home.until_sent("telegram", "I did not wait for the files of this");
    home.say("telegram", "go on");
    home.until_word("go on");
    comes(&home);
    say_with_file(&mut home, "another");
    assert!(home.until_word("another")["text"].as_str().unwrap().contains("(a file of 6 bytes: "));
    assert_eq!(beginnings(&home), ["post this", "and that", "stop", "go on", "another"]);
}

#[test]
fn a_flood_behind_a_file_keeps_its_order_and_waits_for_it_no_longer() {
    let mut home = Home::paired(&["telegram"]);
    say_with_file(&mut home, "look");
    let said: Vec<String> = (0..450).map(|nth| format!("word {nth:04}")).collect();
    said.iter().for_each(|word| _ = home.say("telegram", word));
    home.until_acknowledged("telegram");
    let words = home.words().join("\n");
    let places: Vec<usize> = said.iter().map(|word| words.find(word).unwrap()).collect();
    assert!(words.starts_with("look\n(files of this: 1, not fetched") && places.is_sorted(), "{words}");
    assert_eq!(words.matches("word ").count(), said.len());
}

#[test]
fn commands_and_other_chats_do_not_wait_for_a_file_and_its_thread_keeps_its_order() {
    let mut home = Home::new(&["telegram"]);
    home.settings("telegram", json!({"groups": ["-5"]}));
    home.pair("telegram");
    home.start();
    say_with_file(&mut home, "look");
    home.say("telegram", "second");
    home.heard("telegram", json!({"chat": "-5", "group": true, "addressed": true, "word": "elsewhere"}));
    home.say("telegram", "/help");
    home.until_sent("telegram", "/verbosity [minimal|normal|verbose]");
    home.until_word("elsewhere");
    home.until_acknowledged("telegram");
    assert_eq!(home.words(), ["elsewhere"]);
    comes(&home);
    home.until_word("second");
    assert_eq!(beginnings(&home), ["elsewhere", "look", "second"]);
}

#[test]
fn a_word_that_waits_for_its_file_outlives_ends_and_what_stood_before_it_is_not_lost() {
    let mut home = Home::paired(&["telegram"]);
    home.say("telegram", "first");
    say_with_file(&mut home, "look");
    home.say("telegram", "last");
    home.until_acknowledged("telegram");
    // An answer to the thread has the state kept while the file is on its way.
    home.answers("telegram-100", "one moment");
    home.until_sent("telegram", "one moment");
    home.kill();
    home.start();
    home.until("it waits", |home| (home.state("telegram")["waiting"].as_array()?.len() == 2).then_some(()));
    home.kill();
    comes(&home);
    home.start();
    home.until_word("last");
    home.until("nothing waits", |home| {
        home.state("telegram")["waiting"].as_array()?.is_empty().then_some(())
    });
    assert_eq!(beginnings(&home), ["first", "look", "last"]);
    // An end between the inbox and the state leaves the word in both.
    home.kill();
    let mut state = home.state("telegram");
    let inbox = home.inbox();
    state["waiting"] = json!([{"id": inbox[1]["id"], "message": "look", "thread": "telegram-100",
        "chat": {"id": "100", "thread": null, "is_private": true}, "text": "look",
        "files": [{"name": "plan.txt", "bytes": null, "place": {"id": "telegram-m2", "nth": 0}}], "left": 0}]);
    home.write_state("telegram", &state);
    home.start();
    home.until("nothing waits", |home| {
        home.state("telegram")["waiting"].as_array()?.is_empty().then_some(())
    });
    assert_eq!(beginnings(&home), ["first", "look", "last"]);
}

#[test]
fn a_word_taken_back_while_it_waits_for_its_file_is_never_told() {
    let mut home = Home::paired(&["telegram"]);
    say_with_file(&mut home, "post this");
    home.heard("telegram", json!({"deleted": "post this"}));
    home.say("telegram", "something else");
    home.until_word("something else");
    comes(&home);
    home.say("telegram", "and more");
    home.until_word("and more");
    assert_eq!(home.words(), ["something else", "and more"]);
}

#[test]
fn a_file_that_was_cut_off_is_fetched_when_the_platform_is_reached_again() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    say_with_file(&mut home, "look");
    comes(&home);
    let mut state = home.state("telegram");
    state["cursor"] = json!({"line": 1});
    fs::write(home.folder("telegram").join("acknowledged"), "1").unwrap();
    state["waiting"] = json!([{"id": "telegram:1", "message": "look", "thread": "telegram-100",
        "chat": {"id": "100", "thread": null, "is_private": true}, "text": "look",
        "files": [{"name": "plan.txt", "bytes": null, "place": {"id": "telegram-m1", "nth": 0}}], "left": 3}]);
    home.write_state("telegram", &state);
    home.trouble("telegram", json!({"op": "connect", "kind": "away", "why": "no network"}));
    home.start();
    home.until("it was not reached", |home| home.log().contains("no network").then_some(()));
    let word = home.until_word("look");
    let text = word["text"].as_str().unwrap();
    assert!(text.contains("(a file of 6 bytes: ") && text.contains("and 3 more"), "{text}");
}

#[test]
fn as_many_words_as_wait_at_their_worst_are_read_back() {
    let home = Home::new(&["telegram"]);
    let file = |place: usize| Attached {
        name: "\u{1f600}".repeat(100_000),
        bytes: Some(1),
        place: json!("x".repeat(place)),
    };
    let (files, left) =
        Waiting::bounded(&[vec![file(2_000); 20], vec![file(100_000)], vec![file(2_000)]].concat());
    assert_eq!((files.len(), left), (10, 12));
    let id = "\"".repeat(200);
    let chat = Chat { id: id.clone(), thread: Some(id.clone()), is_private: true };
    let text = "\u{1f600}".repeat(8_000);
    let word = Waiting { id: id.clone(), message: id.clone(), thread: id, chat, text, files, left };
    let state = State { waiting: vec![word; MOST_WAITING].into(), ..State::default() };
    state.save(&home.house, "telegram").unwrap();
    assert_eq!(State::load(&home.house, "telegram").unwrap(), state);
}
