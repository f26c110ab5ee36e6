//! Asks on channels: the exact bytes first, a button once and for those bytes alone, one yes wherever it is said.

use crate::home::Home;
use house::clock;
use serde_json::{Value, json};
use std::fs;

/// What a button of the newest message with buttons carries.
fn button(home: &Home, name: &str, label: &str) -> (String, String) {
    let sent = home.until("there are buttons", |home| {
        home.sent(name)
            .into_iter()
            .rev()
            .find(|line| line["buttons"].as_array().is_some_and(|all| !all.is_empty()))
    });
    let all = sent["buttons"].as_array().unwrap();
    let one = all.iter().find(|one| one["label"] == label).unwrap();
    (one["data"].as_str().unwrap().to_owned(), sent["message"].as_str().unwrap().to_owned())
}

fn press(home: &mut Home, name: &str, data: &str) -> String {
    home.heard(name, json!({"press": data}))
}

#[test]
fn a_press_approves_the_bytes_that_were_shown_and_counts_once() {
    let mut home = Home::paired(&["telegram"]);
    let digest = home.ask("12", "{\"text\":\"hello \\u202e world\"}");
    let shown = home.until_sent("telegram", "Ask 12: Send to posts");
    let text = shown["text"].as_str().unwrap();
    assert!(
        text.contains("why: to say hello")
            && text.contains("\"path\":\"/2/tweets\"")
            && text.contains("exactly,"),
        "{text}"
    );
    assert_eq!(shown["form"], "Plain");
    let (yes, message) = button(&home, "telegram", "Yes");
    press(&mut home, "telegram", &yes);
    home.until("it is kept", |home| (home.given().len() == 1).then_some(()));
    assert_eq!((&home.given()[0]["answer"], &home.given()[0]["digest"]), (&json!("approve"), &json!(digest)));
    let edited = home.until_sent("telegram", "You said yes at");
    assert_eq!(
        (&edited["op"], &edited["message"], &edited["buttons"]),
        (&json!("edit"), &json!(message), &json!([]))
    );
    press(&mut home, "telegram", &yes);
    home.until_sent("telegram", "answered already");
    home.outcome("12", "executed", "posted");
    assert_eq!(home.until_sent("telegram", "executed, status 200")["op"], "edit");
    assert_eq!(home.given().len(), 1);
}

#[test]
fn a_button_pressed_after_the_bytes_changed_does_nothing_and_says_so() {
    let mut home = Home::paired(&["telegram"]);
    home.ask("12", "{\"text\":\"hello\"}");
    home.until_sent("telegram", "Ask 12:");
    let (yes, _) = button(&home, "telegram", "Yes");
    home.ask("12", "{\"text\":\"goodbye\"}");
    press(&mut home, "telegram", &yes);
    home.until_sent("telegram", "has changed since it was shown here; nothing was done");
    assert!(home.given().is_empty());
    // The new bytes are shown with buttons of their own.
    home.until_sent("telegram", "goodbye");
    let (again, _) = button(&home, "telegram", "Yes");
    assert_ne!(again, yes);
    // What is stored is not what was asked: nobody can say yes to it.
    fs::write(home.house.ask("12"), json!({"digest": "0".repeat(64), "act": {"kind": "call"}}).to_string())
        .unwrap();
    press(&mut home, "telegram", &again);
    home.until_sent("telegram", "is not what was asked; nothing is answered");
    assert!(home.given().is_empty());
}

#[test]
fn a_strangers_press_and_one_of_another_chat_do_nothing() {
    let mut home = Home::paired(&["matrix", "telegram"]);
    home.ask("12", "{}");
    home.until_sent("telegram", "Ask 12:");
    home.until_sent("matrix", "Ask 12:");
    let (yes, _) = button(&home, "telegram", "Yes");
    home.heard("telegram", json!({"from": "8", "press": yes}));
    home.heard("telegram", json!({"from": "8", "chat": "108", "press": yes}));
    home.heard("telegram", json!({"chat": "-5", "group": true, "from": "8", "press": yes}));
    press(&mut home, "matrix", &yes);
    home.until_sent("matrix", "This button counts no more");
    press(&mut home, "telegram", "0123456789abcdef");
    home.until_sent("telegram", "This button counts no more");
    assert!(home.given().is_empty());
    let answers: Vec<Value> =
        home.sent("telegram").into_iter().filter(|line| line["op"] == "answer").collect();
    assert_eq!(answers.len(), 1, "strangers are not even answered: {answers:?}");
}

#[test]
fn an_ask_approved_on_two_channels_at_once_happens_once_and_the_other_says_so() {
    let mut home = Home::paired(&["matrix", "telegram"]);
    home.ask("12", "{}");
    home.until_sent("telegram", "Ask 12:");
    home.until_sent("matrix", "Ask 12:");
    let (one, _) = button(&home, "telegram", "Yes");
    let (other, _) = button(&home, "matrix", "Yes");
    press(&mut home, "telegram", &one);
    press(&mut home, "matrix", &other);
    for name in ["matrix", "telegram"] {
        home.until_sent(name, "You said yes at");
        home.until_acknowledged(name);
    }
    assert_eq!(home.given().len(), 1, "{:?}", home.given());
    home.outcome("12", "executed", "posted");
    for name in ["matrix", "telegram"] {
        home.until_sent(name, "executed, status 200");
    }
}

#[test]
fn long_bytes_come_as_a_file_before_the_buttons() {
    let home = Home::paired(&["telegram"]);
    let body = json!({"text": "x".repeat(50_000)}).to_string();
    home.ask("12", &body);
    home.until_sent("telegram", "Its exact bytes are in the file above");
    let sent = home.sent("telegram");
    let file = sent.iter().position(|line| line["file"].is_object()).unwrap();
    let buttons =
        sent.iter().position(|line| line["buttons"].as_array().is_some_and(|all| !all.is_empty())).unwrap();
    assert!(file < buttons);
    assert!(sent[file]["file"]["text"].as_str().unwrap().contains(&"x".repeat(50_000)));
}

#[test]
fn words_answer_what_was_shown_and_a_channel_that_may_not_approve_says_where() {
    let mut home = Home::new(&["mail", "slack"]);
    home.pair("mail");
    home.pair("slack");
    home.limits("mail", json!({"approves": false, "buttons": false, "edits": false, "form": "plain"}));
    home.limits("slack", json!({"buttons": false, "form": "slack"}));
    home.start();
    home.ask("12", "{\"text\":\"a\"}");
    home.until_sent("slack", "Write `yes 12` or `no 12`.");
    home.until_sent("mail", "Nothing is approved from here");
    home.say("mail", "yes 12");
    home.until_sent("mail", "ask 12 waits in the window");
    assert!(home.given().is_empty());
    home.ask("12", "{\"text\":\"b\"}");
    home.until("it is shown anew", |home| {
        (home.texts("slack").iter().filter(|text| text.contains("Ask 12:")).count() > 1).then_some(())
    });
    home.say("slack", "yes 12");
    home.until("it is kept", |home| (home.given().len() == 1).then_some(()));
    home.ask("13", "{}");
    home.until_sent("mail", "Ask 13:");
    home.say("mail", "no 13");
    home.until("it is denied", |home| (home.given().len() == 2).then_some(()));
    assert_eq!(home.given()[1]["answer"], "deny");
    home.outcome("12", "executed", "done");
    home.until_sent("mail", "Ask 12: executed, status 200");
}

#[test]
fn a_late_yes_is_asked_again_and_a_late_no_counts() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    home.start();
    for id in ["12", "13"] {
        home.ask(id, "{}");
        home.until_sent("telegram", &format!("Ask {id}:"));
    }
    let shown = home.until("both have buttons", |home| {
        let shown: Vec<Value> = home
            .sent("telegram")
            .into_iter()
            .filter(|line| line["buttons"].as_array().is_some_and(|all| all.len() == 2))
            .collect();
        (shown.len() == 2).then_some(shown)
    });
    home.kill();
    let then = clock::wall_ms() - 3 * 3_600_000;
    let of = |nth: usize, label: usize| shown[nth]["buttons"][label]["data"].clone();
    home.heard("telegram", json!({"at_ms": then, "press": of(0, 0)}));
    home.heard("telegram", json!({"at_ms": then, "press": of(1, 1)}));
    home.start();
    home.until_sent("telegram", "You said yes to this at");
    home.until("the no is kept", |home| (home.given().len() == 1).then_some(()));
    assert_eq!((&home.given()[0]["id"], &home.given()[0]["answer"]), (&json!("13"), &json!("deny")));
    let (yes, _) = button(&home, "telegram", "Yes");
    press(&mut home, "telegram", &yes);
    home.until("the yes is kept", |home| (home.given().len() == 2).then_some(()));
}

#[test]
fn a_crowd_of_asks_is_shown_within_the_messages_of_an_hour_and_all_by_asks() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    home.settings("telegram", json!({"messages_per_hour": 2}));
    home.start();
    for id in 20..28 {
        home.ask(&id.to_string(), "{}");
    }
    home.until_sent("telegram", "Ask 21:");
    home.say("telegram", "/asks");
    home.until_sent("telegram", "And: /asks 25, /asks 26, /asks 27");
    let shown = home.texts("telegram").iter().filter(|text| text.starts_with("🔐 Ask ")).count();
    assert_eq!(shown, 2 + 5);
}
