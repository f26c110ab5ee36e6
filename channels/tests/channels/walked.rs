//! Found by an owner who walked a house with two channels by hand: files, sign-ins, presses and changes that went astray.

use crate::home::Home;
use house::clock;
use serde_json::json;
use std::fs;

/// Found: a name of letters of four bytes was longer than a file system takes, and its word was heard again without end.
#[test]
fn a_file_whose_name_is_of_long_letters_is_kept_and_holds_nothing_up() {
    let mut home = Home::paired(&["telegram"]);
    let files = json!([{"name": format!("{}.{}", "𠮷".repeat(90), "𝒜".repeat(9)), "text": "inside"}]);
    home.heard("telegram", json!({"word": "look", "files": files}));
    home.say("telegram", "behind it");
    home.until_word("behind it");
    let text = home.until_word("look")["text"].as_str().unwrap().to_owned();
    let path = text.rsplit(' ').next().unwrap().trim_end_matches(')');
    assert_eq!(fs::read_to_string(home.house.root().join(path)).unwrap(), "inside", "{text}");
}

/// Found: a file that the platform did not give at once was left out of its word for good.
#[test]
fn a_file_that_is_not_reached_for_a_moment_comes_all_the_same() {
    let mut home = Home::paired(&["telegram"]);
    home.trouble("telegram", json!({"op": "fetch", "kind": "away", "why": "502"}));
    home.trouble("telegram", json!({"op": "fetch", "kind": "slower", "ms": 10}));
    home.heard("telegram", json!({"word": "look", "files": [{"name": "a.txt", "text": "inside"}]}));
    let text = home.until_word("look")["text"].as_str().unwrap().to_owned();
    assert!(text.contains("(a file of 6 bytes: .self/received/telegram/"), "{text}");
}

/// Found: an answer was cut into letters while the token was missing, and an ask came without buttons.
#[test]
fn what_waits_for_a_channel_without_its_token_comes_whole_once_it_has_one() {
    let mut home = Home::paired(&["telegram"]);
    home.kill();
    let missing = home.folder("telegram").join("missing");
    fs::write(&missing, "TELEGRAM_BOT_TOKEN is not in .env").unwrap();
    home.start();
    home.answers("telegram-100", "the answer meanwhile");
    home.ask("12", "{}");
    home.until("both wait", |home| {
        let steps = fs::read_to_string(channels::places::outbox(&home.house)).unwrap_or_default();
        (steps.contains("meanwhile") && steps.contains("Ask 12")).then_some(())
    });
    fs::remove_file(&missing).unwrap();
    home.start();
    home.until_sent("telegram", "Ask 12:");
    let sent = home.sent("telegram");
    assert_eq!(sent[0]["text"], "the answer meanwhile", "{sent:?}");
    assert_eq!(sent.last().unwrap()["buttons"].as_array().unwrap().len(), 2, "{sent:?}");
}

/// Found: where a platform has a sign-in of its own for sending, nobody was told that it counts no more.
#[test]
fn a_sign_in_that_counts_no_more_for_sending_alone_is_told_on_the_others() {
    let mut home = Home::paired(&["matrix", "telegram"]);
    home.until("both are connected", |home| {
        (home.log().contains("telegram: connected") && home.log().contains("matrix: connected")).then_some(())
    });
    home.trouble("telegram", json!({"op": "send", "kind": "revoked", "why": "535"}));
    home.answers("telegram-100", "it waits");
    home.until_sent("matrix", "The sign-in of telegram counts no more: 535");
    assert_eq!(house::channels::standing(&home.house)["telegram"].state, "revoked");
    home.records(
        &json!({"from": "creature", "kind": "reminder", "text": "water the fig", "thread": "telegram-100"}),
    );
    home.until_sent("matrix", "water the fig");
    // It is tried again a minute later, or by another program at once.
    home.start();
    home.until_sent("telegram", "it waits");
    home.until("it stands well", |home| {
        (house::channels::standing(&home.house)["telegram"].state == "connected").then_some(())
    });
}

/// Found: on a platform that shows no answer to a press, a press that did nothing said nothing.
#[test]
fn a_press_that_the_platform_cannot_answer_is_answered_by_a_message() {
    let mut home = Home::paired(&["matrix"]);
    home.trouble("matrix", json!({"op": "answer", "kind": "refused", "why": "it has none", "always": true}));
    home.heard("matrix", json!({"press": "0123456789abcdef"}));
    assert_eq!(home.until_sent("matrix", "This button counts no more")["op"], "send");
}

/// Found: what was changed while nobody listened was told as if it had been said just now.
#[test]
fn what_was_changed_while_nobody_listened_has_its_time() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    let then = clock::wall_ms() - 6 * 3_600_000;
    home.heard("telegram", json!({"at_ms": then, "message": "w1", "word": "buy tulips"}));
    home.heard("telegram", json!({"at_ms": then, "message": "w1", "edited": "buy roses"}));
    home.start();
    let text = home.until_word("buy roses")["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("(changed:") && text.contains("ask whether it still holds"), "{text}");
}

/// Found: Discord took marks in the exact bytes of an ask for its own, and hid what stood between them.
#[test]
fn the_exact_bytes_of_an_ask_stand_there_whole_where_every_message_is_markup() {
    let mut home = Home::new(&["discord"]);
    home.pair("discord");
    home.limits("discord", json!({"form": "discord", "text": 2_000}));
    home.start();
    home.ask("12", r##"{"text":"pay ||5000 to|| *him* https://x.example/<||a||>\n# now"}"##);
    let text = home.until_sent("discord", "Ask 12:")["text"].as_str().unwrap().to_owned();
    // The help's "Markdown Text 101": a backslash before a mark makes it a letter.
    let mut letters = text.chars();
    let mut shown = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => shown.extend(letters.next()),
            '|' | '*' | '_' | '~' | '`' | '<' | '[' => panic!("a mark in {text}"),
            letter => shown.push(letter),
        }
    }
    assert!(shown.contains("pay ||5000 to|| *him* https://x.example/<||a||>"), "{shown}");
    assert!(!text.replace(r"\://", "").contains("://"), "no address begins in it: {text}");
    // Marks count for twice: what fits no more is a file.
    home.ask("13", &json!({"text": "*".repeat(1_200)}).to_string());
    home.until_sent("discord", "Its exact bytes are in the file above");
}
