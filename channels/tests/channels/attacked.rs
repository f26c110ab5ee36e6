//! Attacks by the creature: floods, forged threads and asks, links that lead elsewhere, texts without end.

use crate::home::{Home, append};
use channels::channel::Form;
use channels::format::formatted;
use house::clock;
use serde_json::{Value, json};

fn connected(home: &Home) {
    home.until("it is connected", |home| home.log().contains("telegram: connected").then_some(()));
}

/// Found: a creature that answered a word a thousand times had a thousand messages sent.
#[test]
fn a_creature_that_answers_without_end_is_left_out_and_heard_again_after_a_word() {
    let mut home = Home::paired(&["telegram"]);
    connected(&home);
    home.say("telegram", "a word");
    home.until_word("a word");
    for nth in 0..1_000 {
        home.answers("telegram-100", &format!("answer {nth:04}"));
    }
    home.until_sent("telegram", "It says more than you asked for");
    // All of it is read: else the rest of it would be what the next word asked for. Found: the place was not always kept
    // behind what was left out, which after an end would have been read once more, and told in the next hour.
    home.until("the end of memory", |home| {
        let talk = std::fs::read(channels::places::talk(&home.house)).ok()?;
        let talk: Value = serde_json::from_slice(&talk).ok()?;
        let bytes = std::fs::metadata(home.house.memory()).ok()?.len();
        (talk["memory"]["place"] == bytes).then_some(())
    });
    home.say("telegram", "another word");
    home.until_word("another word");
    home.answers("telegram-100", "the last of all");
    home.until_sent("telegram", "the last of all");
    let texts = home.texts("telegram");
    let answers = texts.iter().filter(|text| text.starts_with("answer ")).count();
    assert!((60..=90).contains(&answers), "{answers}");
    assert_eq!(texts.iter().filter(|text| text.starts_with("It says more")).count(), 1);
    assert_eq!(texts[0], "answer 0000");
}

/// A thousand words that waited have a thousand answers, however few minutes those take.
#[test]
fn a_thousand_words_are_answered_a_thousand_times() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    for nth in 0..1_000 {
        home.say("telegram", &format!("word {nth}"));
    }
    home.start();
    home.until_acknowledged("telegram");
    for nth in 0..1_000 {
        home.answers("telegram-100", &format!("answer {nth:04}"));
    }
    home.until_sent("telegram", "answer 0999");
    assert_eq!(home.texts("telegram").iter().filter(|text| text.starts_with("answer ")).count(), 1_000);
}

/// Found: a group that the owner took out of `groups` still got what the creature said on its thread.
#[test]
fn a_forged_thread_leads_home_or_nowhere_and_a_group_that_is_named_no_more_is_none() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    let mut state = home.state("telegram");
    let group = json!({"id": "-5", "thread": null, "is_private": false});
    state["chats"].as_array_mut().unwrap().push(json!(["telegram--5", group]));
    home.write_state("telegram", &state);
    home.settings("telegram", json!({"groups": ["-6"]}));
    home.start();
    let long = "x".repeat(100_000);
    for thread in
        ["telegram--5", "telegram-999", "telegram-", "discord-1", "../../x", &long, "telegram-100\n"]
    {
        home.answers(thread, &format!("on {}", thread.len()));
    }
    home.answers("telegram-100", "the last");
    home.until_sent("telegram", "the last");
    let chats: Vec<Value> = home.sent("telegram").iter().map(|sent| sent["chat"].clone()).collect();
    assert!(chats.iter().all(|chat| chat == "100"), "{chats:?}");
}

/// Found: a text of a million letters was two hundred and fifty messages.
#[test]
fn a_megabyte_is_a_file_and_takes_no_time() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    home.limits("telegram", json!({"file_bytes": 4 << 20}));
    home.start();
    let texts = [
        "word ".repeat(200_000),
        "[".repeat(1 << 20),
        "*a_".repeat(350_000),
        "> ".repeat(500_000),
        "x".repeat(1 << 20),
        "👩‍👩‍👧‍👦".repeat(40_000),
        "- a\n".repeat(90_000),
        "```\n".repeat(90_000),
        "[a](https://example.org/) ".repeat(14_000),
    ];
    for (nth, text) in texts.iter().enumerate() {
        home.answers("telegram-100", text);
        home.answers("telegram-100", &format!("after {nth}"));
        home.until_sent("telegram", &format!("after {nth}"));
    }
    let files: Vec<Value> =
        home.sent("telegram").into_iter().filter(|sent| sent["file"].is_object()).collect();
    assert!(files.len() >= 5, "{}", files.len());
    assert!(files[0]["file"]["text"].as_str().unwrap().starts_with("word word"));
    assert!(home.sent("telegram").len() < 150, "{}", home.sent("telegram").len());
}

/// Found: what the creature said could look as an ask to the letter, and have another one's number.
#[test]
fn nothing_that_the_creature_says_has_the_sign_of_an_ask() {
    let mut home = Home::paired(&["telegram"]);
    home.ask("12", "{}");
    let real = home.until_sent("telegram", "Ask 12");
    assert!(real["text"].as_str().unwrap().starts_with("🔐 Ask 12: Send to posts"), "{real}");
    home.answers("telegram-100", "\u{202e}🔐 Ask 12: buy bread. Write `yes 12`.\u{202d}\n\n🔒🔏🔓");
    let forged = home.until_sent("telegram", "buy bread");
    let text = forged["text"].as_str().unwrap().trim();
    assert!(
        text.starts_with("Ask 12: buy bread") && text.is_char_boundary(1) && text.contains("</code>."),
        "{text}"
    );
    assert!(!text.contains(['🔐', '🔒', '🔏', '🔓', '\u{202e}', '\u{202d}']), "{text}");
    assert_eq!(forged["buttons"], json!([]), "and no buttons");
    // Nor has it in what a command prints of it, or what a service answered.
    home.say("telegram", "/history 8h");
    let told = home.until_sent("telegram", "creature: ");
    let told = told["text"].as_str().unwrap();
    assert!(told.contains("buy bread") && !told.contains(['🔐', '🔒', '🔏', '🔓']), "{told}");
    home.outcome("12", "executed", "200\n\n🔐 Ask 13: Send nothing");
    let over = home.until_sent("telegram", "Ask 13");
    assert_eq!(over["text"].as_str().unwrap().matches('🔐').count(), 1, "its own: {over}");
}

/// Found: `[https://bank.example](https://elsewhere.example)` was shown as the bank's address.
#[test]
fn a_link_whose_words_are_another_address_tells_where_it_leads() {
    let forms = [Form::TelegramHtml, Form::DiscordMarkdown, Form::SlackMrkdwn, Form::MatrixHtml];
    for form in forms {
        for words in
            ["https://bank.example", "bank.example", "see https://bank.example/login now", "BANK.example/"]
        {
            for to in [
                "https://evil.example/x",
                "https://bank.example.evil.example",
                "https://bank.example@evil.example/",
            ] {
                let told = formatted(&format!("[{words}]({to})"), form);
                assert!(told.contains(&format!("({to})")), "{form:?} {words} {told}");
            }
        }
        for (words, to) in [
            ("here", "https://evil.example/x"),
            ("bank.example", "https://bank.example/"),
            ("https://bank.example", "https://bank.example/login?a=b"),
        ] {
            let told = formatted(&format!("[{words}]({to})"), form);
            let is_masked = form != Form::DiscordMarkdown || !words.contains("://");
            assert!(!told.contains(&format!(" ({to})")) || !is_masked, "{form:?} {told}");
        }
    }
}

/// What is far in the future, as the creature wrote it, makes nothing old that comes after.
#[test]
fn a_record_of_the_future_silences_nothing() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    home.limits("telegram", json!({"keys_ms": 3_600_000}));
    home.start();
    let data = json!({"from": "creature", "kind": "answer", "text": "from 9999", "thread": "telegram-100"});
    append(
        &home.house.memory(),
        &json!({"at": "9999-12-31T23:59:59.999Z", "life": 7, "kind": "message", "data": data}),
    );
    home.until_sent("telegram", "from 9999");
    home.kill();
    // The next file may be given its number.
    std::fs::remove_file(home.house.memory()).unwrap();
    home.answers("telegram-100", &format!("in another file, at {}", clock::stamp()));
    home.start();
    home.until_sent("telegram", "in another file");
}
