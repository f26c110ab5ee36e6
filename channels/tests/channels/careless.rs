//! A careless world: files torn, replaced and too large, a disk that takes nothing, two programs, pairings taken back, a crowd of asks.

use crate::home::{Home, append, lines};
use channels::buttons::{Buttons, Shown};
use channels::channel::Chat;
use channels::outbox::{Enclosed, Item, Kind, Outbox, Step};
use channels::places;
use channels::state::State;
use house::channels::Pairing;
use house::clock;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;

fn connected(home: &Home) {
    home.until("it is connected", |home| home.log().contains("telegram: connected").then_some(()));
}

/// Makes the outbox take nothing, as on a full disk.
fn no_outbox(home: &Home) -> impl FnOnce() + use<> {
    let path = places::outbox(&home.house);
    let aside = path.with_extension("aside");
    fs::rename(&path, &aside).unwrap();
    fs::create_dir(&path).unwrap();
    move || {
        fs::remove_dir(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
    }
}

/// Found: a message whose `sent` could not be kept was sent once more as soon as the disk took something.
#[test]
fn a_send_that_could_not_be_kept_is_not_repeated() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    home.limits("telegram", json!({"send_ms": 3_000}));
    home.start();
    connected(&home);
    home.answers("telegram-100", "one");
    home.until("it is being sent", |home| {
        lines(&places::outbox(&home.house)).iter().any(|line| line["step"] == "sending").then_some(())
    });
    let mend = no_outbox(&home);
    home.until_sent("telegram", "one");
    home.until("it says so", |home| {
        home.log().contains("nothing is sent until this is mended").then_some(())
    });
    mend();
    home.answers("telegram-100", "two");
    home.until_sent("telegram", "two");
    assert_eq!(home.texts("telegram"), ["one", "two"]);
    home.until("both are known as sent", |home| {
        let steps = lines(&places::outbox(&home.house));
        (steps.iter().filter(|line| line["step"] == "sent").count() == 2).then_some(())
    });
    assert_eq!(home.texts("telegram"), ["one", "two"]);
}

/// Found: whoever was paired next on a channel left the one before with all that the creature said on their thread.
#[test]
fn who_is_paired_no_more_gets_nothing_that_waits_and_nothing_on_their_thread() {
    let mut home = Home::paired(&["telegram"]);
    connected(&home);
    home.say("telegram", "my word");
    home.until_word("my word");
    home.trouble("telegram", json!({"op": "send", "kind": "away", "why": "cut", "always": true}));
    home.answers("telegram-100", "a secret of the first");
    home.until("it waits", |home| home.log().contains("nothing is sent just now").then_some(()));
    let unpaired = BTreeMap::from([("telegram".to_owned(), clock::stamp())]);
    let until = clock::stamp_of(clock::wall_ms() + 600_000);
    let pairing = Pairing { channel: "telegram".into(), code: "ABCD-EFGH".into(), until, tries: 5, unpaired };
    pairing.write(&home.house).unwrap();
    home.heard("telegram", json!({"from": "8", "name": "Bea", "chat": "108", "word": "ABCD-EFGH"}));
    home.until("the other is paired", |home| (home.state("telegram")["owner"]["id"] == "8").then_some(()));
    fs::remove_file(home.folder("telegram").join("trouble.jsonl")).unwrap();
    home.until_sent("telegram", "Paired: I hear you");
    home.answers("telegram-100", "said on the thread of the first");
    home.heard("telegram", json!({"from": "8", "chat": "108", "word": "hello"}));
    home.until_word("hello");
    home.answers("telegram-108", "to the second");
    home.until_sent("telegram", "to the second");
    let to_the_first: Vec<_> =
        home.sent("telegram").into_iter().filter(|sent| sent["chat"] == "100").collect();
    assert!(to_the_first.is_empty(), "{to_the_first:?}");
    assert!(!home.texts("telegram").join("\n").contains("a secret of the first"));
}

/// Found: one file of the program's own that was too large, or no file, ended it at each start.
#[test]
fn its_own_files_damaged_torn_huge_or_folders_stop_nothing() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    let house = home.house.clone();
    for (nth, path) in
        [places::talk(&house), places::buttons(&house), places::notices(&house)].iter().enumerate()
    {
        for damage in ["garbage", "huge", "folder", "pipe"] {
            home.start();
            home.kill();
            let _ = fs::remove_file(path);
            match damage {
                "garbage" => fs::write(path, b"{\"shown\":[{\"ask\":\xff").unwrap(),
                "huge" => fs::File::create(path).unwrap().set_len(1 << 30).unwrap(),
                "pipe" => nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap(),
                _ => fs::create_dir(path).unwrap(),
            }
            home.start_cut("");
            let word = format!("word {nth} {damage}");
            home.say("telegram", &word);
            home.until_word(&word);
            home.kill();
            let _ = fs::remove_dir(path);
        }
    }
}

/// Files that the creature may put pipes in the place of: nothing waits there, and what was said is heard once that is mended.
#[test]
fn pipes_of_the_creatures_hold_nothing_up() {
    let mut home = Home::paired(&["telegram"]);
    connected(&home);
    for path in [home.house.memory(), home.house.inbox(), home.house.asks()] {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let aside = path.with_extension("aside");
        let _ = fs::rename(&path, &aside);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        home.say("telegram", &format!("a word beside {name}"));
        home.say("telegram", "/verbosity");
        if name != "inbox" {
            home.until_word(&format!("a word beside {name}"));
        }
        home.start();
        fs::remove_file(&path).unwrap();
        let _ = fs::rename(&aside, &path);
        home.until_word(&format!("a word beside {name}"));
    }
    home.answers("telegram-100", "it goes on");
    home.until_sent("telegram", "it goes on");
}

#[test]
fn a_second_program_of_the_same_house_ends_and_the_first_goes_on() {
    let mut home = Home::paired(&["telegram"]);
    let second = home.command().output().unwrap();
    assert!(!second.status.success());
    home.say("telegram", "a word");
    home.until_word("a word");
    assert!(home.log().contains("another program serves the channels of this house already"));
}

/// Found: a word that could not be kept counted as heard where its channel's state could not be read either.
#[test]
fn a_disk_that_gives_and_takes_nothing_loses_no_word() {
    let mut home = Home::paired(&["telegram"]);
    home.say("telegram", "before");
    home.until_acknowledged("telegram");
    let paths = [home.house.inbox(), places::state(&home.house, "telegram")];
    for path in &paths {
        fs::rename(path, path.with_extension("aside")).unwrap();
        fs::create_dir(path).unwrap();
    }
    home.say("telegram", "meanwhile");
    home.until("it says so", |home| {
        home.log().contains("could not be kept, and is heard again").then_some(())
    });
    for path in &paths {
        fs::remove_dir(path).unwrap();
        fs::rename(path.with_extension("aside"), path).unwrap();
    }
    home.until_word("meanwhile");
    home.until_acknowledged("telegram");
    assert_eq!(home.words(), ["before", "meanwhile"]);
}

/// Found: ids that a stranger chose filled the state until it could not be read.
#[test]
fn ids_of_strangers_do_not_fill_the_state() {
    let mut state = State::default();
    for nth in 0..1_200 {
        let id = format!("{nth}-{}", "x".repeat(100_000));
        state.hear(&id);
        assert!(state.has_heard(&id));
    }
    assert!(serde_json::to_vec(&state).unwrap().len() < 100_000);
}

/// Found: a queue beyond 64 MiB could not be read, and no channel started any more; one beyond 4 was written anew at each step.
#[test]
fn a_queue_of_large_messages_is_bounded_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    let mut outbox = Outbox::load(path.clone()).unwrap();
    let item = |nth: usize| Item {
        key: format!("key-{nth}"),
        channel: "telegram".into(),
        chat: Chat { id: "100".into(), thread: None, is_private: true },
        kind: Kind::Answer,
        at: String::new(),
        text: "It is long".into(),
        is_plain: false,
        buttons: vec![],
        enclosed: Some(Enclosed::Text { name: "answer.txt".into(), text: "y".repeat(1 << 20) }),
        edits: None,
    };
    for nth in 0..100 {
        outbox.queue(item(nth)).unwrap();
    }
    let bytes = || fs::metadata(&path).unwrap().len();
    assert!(bytes() < 20 << 20, "{}", bytes());
    for nth in 0..50 {
        outbox.step(Step::Sending { key: format!("key-{nth}"), at_ms: 7 }).unwrap();
        outbox.step(Step::Waits { key: format!("key-{nth}"), is_plain: false }).unwrap();
    }
    let again = Outbox::load(path.clone()).unwrap();
    assert_eq!(again.waiting("telegram").count(), 100);
    let last = again.waiting("telegram").last().unwrap();
    assert!(last.item.enclosed.is_none() && last.item.text.contains("stands in the window"), "{last:?}");
}

/// Found: as each of many asks was shown all were read, and nothing else was done for minutes: ten thousand were tried.
#[test]
fn a_crowd_of_asks_holds_nothing_up_and_each_is_shown_once_within_an_hours_messages() {
    let mut home = Home::paired(&["telegram"]);
    connected(&home);
    let mut all = String::new();
    for nth in 100..400 {
        let act = json!({"kind": "call", "service": "posts", "method": "POST", "path": "/2/tweets", "body": nth.to_string()});
        let (id, digest) = (nth.to_string(), channels::thread::key(&[&act.to_string()]).repeat(2));
        let asked = json!({"at": clock::stamp(), "event": "asked", "id": id, "kind": "call", "service": "posts",
            "method": "POST", "path": "/2/tweets", "why": "", "summary": "a post", "digest": digest});
        all += &format!("{asked}\n");
        let stored = json!({"id": id, "state": "asked", "digest": digest, "act": act});
        fs::write(home.house.ask(&id), stored.to_string()).unwrap();
    }
    fs::write(home.house.asks(), all).unwrap();
    let asks = |home: &Home| {
        let texts = home.texts("telegram");
        texts
            .iter()
            .filter_map(|text| Some(text.strip_prefix("🔐 Ask ")?.split(':').next()?.to_owned()))
            .collect::<Vec<_>>()
    };
    home.until("those that an hour has room for", |home| {
        // Each change has it look again, as in a house that is busy.
        home.answers("main", "said in the window");
        (asks(home).len() >= 12).then_some(())
    });
    home.say("telegram", "a word");
    home.until_word("a word");
    home.start();
    home.answers("telegram-100", "the last");
    home.until_sent("telegram", "the last");
    let mut asks = asks(&home);
    let shown = asks.len();
    assert!((12..=24).contains(&shown), "an hour may end meanwhile: {shown}");
    asks.sort();
    asks.dedup();
    assert_eq!(asks.len(), shown, "each once");
}

/// Found: beyond five hundred the oldest were forgotten though they waited, and shown once more.
#[test]
fn asks_that_wait_are_not_forgotten_for_others() {
    let chat = Chat { id: "100".into(), thread: None, is_private: true };
    let mut buttons = Buttons::default();
    let shown = |nth: usize, is_over| Shown {
        ask: nth.to_string(),
        digest: String::new(),
        channel: "telegram".into(),
        chat: chat.clone(),
        yes: format!("yes-{nth}"),
        no: format!("no-{nth}"),
        key: String::new(),
        message: None,
        text: String::new(),
        told: String::new(),
        is_used: is_over,
        is_over,
    };
    (0..499).for_each(|nth| buttons.add(shown(nth, false)));
    (499..2_000).for_each(|nth| buttons.add(shown(nth, true)));
    assert!(
        !buttons.is_full()
            && buttons.has_shown("0", "", "telegram")
            && buttons.has_shown("1999", "", "telegram")
    );
    buttons.add(shown(2_000, false));
    assert!(buttons.is_full());
}

#[test]
fn an_ask_that_expired_meanwhile_is_told_as_such_and_a_press_does_nothing() {
    let mut home = Home::paired(&["telegram"]);
    connected(&home);
    home.ask("12", "{}");
    let shown = home.until_sent("telegram", "Ask 12:");
    let yes = shown["buttons"][0]["data"].as_str().unwrap().to_owned();
    fs::write(home.house.ask("12"), json!({"id": "12", "state": "expired"}).to_string()).unwrap();
    append(&home.house.asks(), &json!({"at": clock::stamp(), "event": "expired", "id": "12"}));
    home.until_sent("telegram", "expired");
    home.heard("telegram", json!({"press": yes}));
    home.until("its answer", |home| {
        home.sent("telegram").into_iter().find(|sent| sent["op"] == "answer").map(|sent| {
            let told = sent["text"].as_str().unwrap();
            assert!(told.contains("answered already") || told.contains("Nothing was done"), "{told}");
        })
    });
    assert!(home.given().is_empty());
}

#[test]
fn memory_cut_short_rewritten_or_gone_tells_nothing_twice() {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    home.start();
    home.answers("telegram-100", "one");
    home.until_sent("telegram", "one");
    let memory = home.house.memory();
    let before = fs::read(&memory).unwrap();
    // In place: cut, then as it was.
    fs::File::options().write(true).open(&memory).unwrap().set_len(3).unwrap();
    fs::write(&memory, &before).unwrap();
    home.answers("telegram-100", "two");
    home.until_sent("telegram", "two");
    // Garbage, and lines without an end.
    fs::write(&memory, [b"\xff\xfe\x00{\"at\":".as_slice(), &vec![b'x'; 3 << 20], b"\n", &before].concat())
        .unwrap();
    home.answers("telegram-100", "three");
    home.until_sent("telegram", "three");
    // Gone, and there again as another file.
    fs::remove_file(&memory).unwrap();
    fs::write(&memory, &before).unwrap();
    home.answers("telegram-100", "four");
    home.until_sent("telegram", "four");
    assert_eq!(home.texts("telegram"), ["one", "two", "three", "four"]);
}

/// What belongs to no chat goes to the first channel by name where none is `home`; where that is not paired, to the next.
#[test]
fn home_is_the_first_channel_by_name_that_is_paired() {
    let mut home = Home::new(&["discord", "matrix", "telegram"]);
    home.pair("telegram");
    home.pair("matrix");
    home.start();
    let reminder =
        |text: &str| json!({"from": "creature", "kind": "reminder", "text": text, "thread": "slack-5"});
    home.records(&reminder("of a channel that is gone"));
    home.until_sent("matrix", "of a channel that is gone");
    home.kill();
    home.pair("discord");
    home.start();
    home.records(&reminder("once discord is paired"));
    home.until_sent("discord", "once discord is paired");
    home.answers("main", "said in the window");
    home.records(&reminder("the last"));
    home.until_sent("discord", "the last");
    assert!(home.texts("telegram").is_empty());
}
