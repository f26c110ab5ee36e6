//! Outward: answers on their thread and each once, what has no thread at home, troubles one by one, notices, files.

use crate::home::{Home, append, lines};
use house::clock;
use serde_json::{Value, json};
use std::fs;

const HOUR_MS: u64 = 3_600_000;

#[test]
fn an_answer_goes_where_the_word_came_from_and_what_belongs_nowhere_goes_home() {
    let mut home = Home::new(&["matrix", "telegram"]);
    home.pair("matrix");
    home.pair("telegram");
    home.settings("telegram", json!({"home": true}));
    home.start();
    home.say("matrix", "a question");
    let thread = home.until_word("a question")["thread"].as_str().unwrap().to_owned();
    home.answers(&thread, "the **answer**");
    let sent = home.until_sent("matrix", "the <b>answer</b>");
    assert_eq!(sent["form"], "TelegramHtml");
    home.answers("main", "said in the window");
    home.records(
        &json!({"from": "creature", "kind": "reminder", "text": "feed the herons", "thread": "main"}),
    );
    home.until_sent("telegram", "Reminder: feed the herons");
    home.records(&json!({"from": "creature", "kind": "reminder", "text": "of a channel that is gone", "thread": "discord-5"}));
    home.until_sent("telegram", "of a channel that is gone");
    home.records(&json!({"from": "creature", "kind": "reminder", "text": "on this one", "thread": thread}));
    home.until_sent("matrix", "on this one");
    home.records(
        &json!({"from": "owner", "text": "nobody echoes this", "thread": thread, "at": clock::stamp()}),
    );
    home.answers(&thread, "the last");
    home.until_sent("matrix", "the last");
    let all = [home.texts("matrix"), home.texts("telegram")].concat().join("\n");
    assert!(!all.contains("said in the window") && !all.contains("echoes"), "{all}");
}

#[test]
fn a_long_answer_comes_in_order_and_within_the_limits() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    home.limits("telegram", json!({"text": 300}));
    home.start();
    let text: String = (0..40).map(|nth| format!("paragraph {nth} of the answer\n\n")).collect();
    home.answers("telegram-100", &text);
    home.until_sent("telegram", "paragraph 39 of");
    let told = home.texts("telegram").join("\n");
    let places: Vec<usize> = (0..40).map(|nth| told.find(&format!("paragraph {nth} of")).unwrap()).collect();
    assert!(places.is_sorted());
    assert!(home.texts("telegram").len() > 3);
}

#[test]
fn troubles_of_a_send_are_met_one_by_one() {
    let home = Home::paired(&["telegram"]);
    home.until("it is connected", |home| home.log().contains("telegram: connected").then_some(()));
    home.trouble("telegram", json!({"op": "send", "kind": "away", "why": "503"}));
    home.trouble("telegram", json!({"op": "send", "kind": "slower", "ms": 50}));
    home.trouble("telegram", json!({"op": "send", "kind": "form", "why": "can't parse entities"}));
    home.answers("telegram-100", "**one**");
    let sent = home.until_sent("telegram", "one");
    assert_eq!((&sent["text"], &sent["form"]), (&json!("one"), &json!("Plain")));
    home.trouble("telegram", json!({"op": "send", "kind": "refused", "why": "chat not found"}));
    home.answers("telegram-100", "two");
    home.until_sent("telegram", "could not be sent here: chat not found");
    home.trouble("telegram", json!({"op": "send", "kind": "doubtful", "why": "no answer", "happens": true}));
    home.answers("telegram-100", "three");
    home.until_sent("telegram", "may not have reached you");
    home.answers("telegram-100", "four");
    home.until_sent("telegram", "four");
    let told = home.texts("telegram").join("\n");
    assert_eq!((told.matches("three").count(), told.matches("two").count()), (1, 0), "{told}");
}

#[test]
fn what_was_being_sent_at_an_end_is_doubtful_and_with_keys_is_sent_once_more() {
    for (keys_ms, step) in [
        (None, "after_send:1"),
        (None, "before_send:1"),
        (Some(HOUR_MS), "after_send:1"),
        (Some(HOUR_MS), "before_send:1"),
        // Over by the time that another program looks.
        (Some(1), "after_send:1"),
    ] {
        let mut home = Home::new(&["telegram"]);
        home.pair("telegram");
        home.limits("telegram", json!({"keys_ms": keys_ms}));
        home.start();
        home.until("it is connected", |home| home.log().contains("telegram: connected").then_some(()));
        home.start_cut(step);
        home.answers("telegram-100", "of an unknown fate");
        home.until_it_ends();
        home.start();
        home.answers("telegram-100", "the next");
        home.until_sent("telegram", "the next");
        let told = home.texts("telegram").join("\n");
        let times = told.matches("of an unknown fate").count();
        match (keys_ms, step) {
            (Some(HOUR_MS), _) => {
                assert_eq!((times, told.contains("may not have")), (1, false), "{step} {told}")
            }
            (_, "after_send:1") => {
                assert_eq!((times, told.contains("may not have")), (1, true), "{told}")
            }
            _ => assert_eq!((times, told.contains("may not have")), (0, true), "{told}"),
        }
    }
}

/// Found: an end while a doubt was being told left it untold for good.
#[test]
fn a_doubt_is_told_over_an_end_while_it_is_sent() {
    for step in ["before_send:1", "after_send:1"] {
        let mut home = Home::new(&["telegram"]);
        home.pair("telegram");
        home.start_cut("after_send:1");
        home.until("it is connected", |home| home.log().contains("telegram: connected").then_some(()));
        home.answers("telegram-100", "of an unknown fate");
        home.until_it_ends();
        home.start_cut(step);
        home.until_it_ends();
        home.start();
        home.answers("telegram-100", "the next");
        home.until_sent("telegram", "the next");
        home.until_sent("telegram", "may not have reached you");
        let told = home.texts("telegram").join("\n");
        assert_eq!(told.matches("of an unknown fate").count(), 1, "{step}: {told}");
    }
}

#[test]
fn a_key_that_holds_is_tried_again_and_told_as_doubtful_once_it_holds_no_more() {
    for (keys_ms, doubts) in [(HOUR_MS, 0), (200, 1)] {
        let mut home = Home::new(&["telegram"]);
        home.pair("telegram");
        home.limits("telegram", json!({"keys_ms": keys_ms}));
        home.trouble(
            "telegram",
            json!({"op": "send", "kind": "doubtful", "why": "no answer", "happens": true}),
        );
        // One that did not leave says nothing of the one before: the first may have arrived all the same.
        home.trouble("telegram", json!({"op": "send", "kind": "away", "why": "cut"}));
        home.start();
        home.answers("telegram-100", "of an unknown fate");
        let over = |home: &Home| {
            let steps = lines(&channels::places::outbox(&home.house));
            steps.iter().any(|line| line["step"] == ["sent", "doubtful"][doubts]).then_some(())
        };
        home.until("its fate", over);
        fs::remove_file(home.folder("telegram").join("trouble.jsonl")).ok();
        home.start();
        home.answers("telegram-100", "the next");
        home.until_sent("telegram", "the next");
        if doubts > 0 {
            home.until_sent("telegram", "may not have reached you");
        }
        let told = home.texts("telegram").join("\n");
        let found = ["of an unknown fate", "may not have reached you"].map(|text| told.matches(text).count());
        assert_eq!(found, [1, doubts], "{keys_ms}: {told}");
    }
}

#[test]
fn a_sign_in_that_counts_no_more_is_told_on_the_others_and_what_is_for_it_waits() {
    let mut home = Home::paired(&["matrix", "telegram"]);
    home.until("both are connected", |home| {
        (home.log().contains("telegram: connected") && home.log().contains("matrix: connected")).then_some(())
    });
    home.trouble("telegram", json!({"op": "receive", "kind": "revoked", "why": "401"}));
    home.until_sent("matrix", "The sign-in of telegram counts no more: 401");
    let standing = house::channels::standing(&home.house);
    assert_eq!(standing["telegram"].state, "revoked");
    home.records(
        &json!({"from": "creature", "kind": "reminder", "text": "water the fig", "thread": "telegram-100"}),
    );
    home.until_sent("matrix", "water the fig");
    home.start();
    home.until("it is told once", |home| home.log().matches("telegram: connected").nth(1).map(drop));
    assert_eq!(home.texts("matrix").iter().filter(|text| text.contains("counts no more")).count(), 1);
}

#[test]
fn memory_is_read_on_over_ends_and_over_a_file_that_was_moved_aside() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    // An end just behind a send makes nothing doubtful.
    home.limits("telegram", json!({"keys_ms": HOUR_MS}));
    home.start();
    home.answers("telegram-100", "while it ran");
    home.until_sent("telegram", "while it ran");
    home.kill();
    home.answers("telegram-100", "while it did not");
    fs::rename(home.house.memory(), home.house.root().join(".self/memory-20261129T000000.000Z.jsonl"))
        .unwrap();
    home.answers("telegram-100", "in the new file");
    home.start();
    home.until_sent("telegram", "in the new file");
    home.start();
    home.answers("telegram-100", "the last");
    home.until_sent("telegram", "the last");
    assert_eq!(home.texts("telegram"), ["while it ran", "while it did not", "in the new file", "the last"]);
}

#[test]
fn files_of_the_workspace_that_an_answer_links_to_come_along_and_no_others() {
    let home = Home::paired(&["telegram"]);
    let workspace = home.house.workspace();
    fs::create_dir_all(workspace.join("results")).unwrap();
    fs::write(workspace.join("results/chart.png"), "picture").unwrap();
    fs::write(workspace.join("large.bin"), vec![0; 2 << 20]).unwrap();
    fs::write(home.house.root().join("owner.toml"), "secret").unwrap();
    std::os::unix::fs::symlink("../../owner.toml", workspace.join("link.txt")).unwrap();
    std::os::unix::fs::symlink("/", workspace.join("root")).unwrap();
    nix::unistd::mkfifo(&workspace.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let text = "![chart](results/chart.png) [again](.self/workspace/results/chart.png) [a](link.txt) [b](root/etc/passwd) \
        [c](../../owner.toml) [d](/etc/passwd) [e](pipe) [f](results) [g](large.bin) [h](https://example.org/x)";
    home.answers("telegram-100", text);
    home.until_sent("telegram", "could not be sent here: large.bin has 2097152 bytes");
    let files: Vec<Value> =
        home.sent("telegram").into_iter().filter(|line| line["file"].is_object()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(
        (&files[0]["file"]["name"], &files[0]["file"]["text"]),
        (&json!("chart.png"), &json!("picture"))
    );
}

#[test]
fn notices_are_gathered_and_told_at_home_once_and_the_morning_report_comes_whole() {
    let mut home = Home::paired(&["telegram"]);
    home.until("it is connected", |home| home.log().contains("telegram: connected").then_some(()));
    home.until("it looked once", |home| channels::places::notices(&home.house).exists().then_some(()));
    for life in [6, 7] {
        append(
            &home.house.deaths(),
            &json!({"at": clock::stamp(), "life": life, "ended": "crashed",
            "cause": "exit status 101", "blame": "code", "commit": "1a2b3c4d"}),
        );
    }
    let told = home.until_sent("telegram", "crashed");
    assert!(told["text"].as_str().unwrap().starts_with("2 times, last: life 7"), "{told}");
    fs::create_dir_all(home.house.reports()).unwrap();
    fs::write(home.house.report("2026-01-31"), "# Report of 2026-01-31\n\nold\n").unwrap();
    append(
        &home.house.memory(),
        &json!({"at": clock::stamp(), "life": 7, "kind": "observation", "data": {}}),
    );
    home.until("the old one is known", |home| {
        fs::read_to_string(channels::places::notices(&home.house))
            .unwrap_or_default()
            .contains("2026-01-31")
            .then_some(())
    });
    fs::write(home.house.report("2026-02-01"), "# Report of 2026-02-01\n\n```\nspent 1 USD\n```\n").unwrap();
    append(
        &home.house.memory(),
        &json!({"at": clock::stamp(), "life": 7, "kind": "observation", "data": {}}),
    );
    home.until_sent("telegram", "spent 1 USD");
    home.start();
    home.answers("telegram-100", "the last");
    home.until_sent("telegram", "the last");
    let told = home.texts("telegram").join("\n");
    assert_eq!((told.matches("crashed").count(), told.matches("Report of").count()), (1, 1), "{told}");
}

#[test]
fn acts_are_told_where_they_are_wanted_and_typing_while_it_thinks() {
    let mut home = Home::paired(&["telegram"]);
    home.say("telegram", "/verbosity normal");
    home.until_sent("telegram", "normal");
    let act = |nth: u64| {
        json!({"at": clock::stamp(), "life": 7, "kind": "action",
            "data": {"thought": nth, "tool": "web.read", "args": {}, "result": {"ok": true}}})
    };
    append(&home.house.memory(), &act(1));
    home.until_sent("telegram", "action web.read ok");
    fs::write(home.house.heartbeat(), "{\"life\":7,\"stage\":\"thinking\"}").unwrap();
    home.say("telegram", "think about it");
    home.until("the sign is shown", |home| {
        let all = crate::home::lines(&home.folder("telegram").join("out.jsonl"));
        all.iter().any(|line| line["op"] == "typing" && line["chat"] == "100").then_some(())
    });
}
