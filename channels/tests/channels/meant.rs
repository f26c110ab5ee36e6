//! What a text of the owner's means, how late it is, how a thread is named, and how long one waits between tries.

use channels::channel::Chat;
use channels::late;
use channels::order::{Meant, help, meant};
use channels::pause::Pause;
use channels::received::harmless;
use channels::{inbox, thread};
use std::time::Duration;

fn run(args: &[&str]) -> Meant {
    Meant::Run(args.iter().map(|word| (*word).to_owned()).collect())
}

#[test]
fn plain_text_is_a_word_and_a_slash_a_command() {
    for (said, means) in [
        ("hello there", Meant::Word("hello there".into())),
        ("/mind", run(&["mind"])),
        ("!mind", run(&["mind"])),
        ("/Mind@feral_bot", run(&["mind"])),
        ("!important do this", Meant::Word("!important do this".into())),
        ("/etc/passwd is what", Meant::Word("/etc/passwd is what".into())),
        ("/history 8h", run(&["history", "--since", "8h"])),
        ("/goals goal-7", run(&["goals", "goal-7"])),
        ("/stop", Meant::Word("stop that".into())),
        ("/resume", run(&["resume"])),
        ("/asks", Meant::Asks(None)),
        ("/asks 12", Meant::Asks(Some("12".into()))),
        ("yes 12", Meant::Answer { id: "12".into(), approve: true }),
        ("No 12.", Meant::Answer { id: "12".into(), approve: false }),
        ("/deny 12", Meant::Answer { id: "12".into(), approve: false }),
        ("yes please", Meant::Word("yes please".into())),
        ("yes", Meant::Word("yes".into())),
        ("/verbosity normal", Meant::Verbosity(Some("normal".into()))),
        ("/help", Meant::Help),
        ("/start", Meant::Help),
    ] {
        assert_eq!(meant(said, "@feral_bot"), means, "{said}");
    }
    for (said, told) in [
        ("/mnd", "did you mean /mind?"),
        ("/zzzzzzzzzz", "/help lists"),
        ("/verbosity loud", "minimal|normal|verbose"),
        ("/goals --json", "/goals is typed"),
        ("/history -h", "/history is typed"),
        ("/yes", "yes ID"),
        ("/backup", "there is no /backup"),
    ] {
        let Meant::Wrong(wrong) = meant(said, "") else { panic!("{said}") };
        assert!(wrong.contains(told), "{said}: {wrong}");
    }
    assert!(help().contains("/verbosity [minimal|normal|verbose]"));
}

#[test]
fn what_sets_something_going_is_asked_again_and_what_ends_something_is_not() {
    for (said, again) in
        [("/resume", true), ("yes 12", true), ("no 12", false), ("/pause", false), ("/mind", false)]
    {
        assert_eq!(meant(said, "").is_asked_again(), again, "{said}");
    }
}

#[test]
fn a_clock_that_is_off_makes_nothing_late_that_was_heard_at_once() {
    let hour = late::LATE_MS;
    assert!(late::is_late(late::age_ms(0, hour, None)));
    assert!(!late::is_late(late::age_ms(0, hour - 1, None)));
    assert!(!late::is_late(late::age_ms(0, 10 * hour, Some(5_000))), "it was listening all the time");
    assert!(!late::is_late(late::age_ms(10 * hour, 0, None)), "of a time to come");
    assert!(late::is_late(late::age_ms(0, 10 * hour, Some(2 * hour))));
}

#[test]
fn threads_are_plain_names_and_no_two_chats_are_one() {
    let chat = |id: &str, thread: Option<&str>| Chat {
        id: id.into(),
        thread: thread.map(str::to_owned),
        is_private: true,
    };
    assert_eq!(thread::name("telegram", &chat("-1001", None)), "telegram--1001");
    assert_eq!(thread::name("slack", &chat("D1", None)), "slack-D1");
    let names = [
        thread::name("slack", &chat("C1", Some("17.2"))),
        thread::name("matrix", &chat("!a:example.org", None)),
        thread::name("matrix", &chat("!b:example.org", None)),
        thread::name("mail", &chat("ann@example.org", Some("a subject of some length"))),
        thread::name("mail", &chat(&"x".repeat(90), None)),
        thread::name("mail", &chat("", None)),
    ];
    for (nth, name) in names.iter().enumerate() {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        assert!(name.len() <= 64 && name.chars().all(plain), "{name}");
        assert!(names.iter().skip(nth + 1).all(|other| other != name), "{name}");
    }
    assert_eq!(thread::channel("matrix-0f", ["mail", "matrix"].into_iter()), Some("matrix"));
    assert_eq!(thread::channel("main", ["mail", "matrix"].into_iter()), None);
    assert_ne!(thread::key(&["ab", "c"]), thread::key(&["a", "bc"]));
}

#[test]
fn names_of_files_lead_nowhere() {
    for (name, plain) in [
        ("../../x", "x"),
        ("..", "file"),
        ("/etc/passwd", "passwd"),
        ("a\\..\\b.txt", "b.txt"),
        (".bashrc", "bashrc"),
        ("a b\u{202e}gpj.exe", "a_b_gpj.exe"),
        ("\0\n", "__"),
        ("", "file"),
    ] {
        assert_eq!(harmless(name), plain, "{name:?}");
    }
    for letter in ["x", "字", "𠮷"] {
        let long = letter.repeat(500);
        assert!(harmless(&long).len() <= 100);
        let name = harmless(&format!("{long}.{long}"));
        assert!(name.len() <= 121 && name.contains('.'), "{name}");
    }
}

#[test]
fn pauses_grow_to_five_minutes_and_begin_anew() {
    let mut pause = Pause::default();
    let mut last = Duration::ZERO;
    for _ in 0..30 {
        last = pause.next(12_345);
        assert!(last <= Duration::from_secs(300));
    }
    assert!(last >= Duration::from_secs(225));
    pause.lasted(300_000);
    assert!(pause.next(0) >= Duration::from_secs(225), "what breaks again and again is waited for longer");
    pause.lasted(300_001);
    assert!(
        pause.next(0) < Duration::from_secs(1),
        "a connection that lasted was sound, though nothing was said on it"
    );
    pause.over();
    assert!(pause.next(0) < Duration::from_secs(1));
}

#[test]
fn many_words_at_once_go_together_and_a_few_singly() {
    let word = |nth: usize, thread: &str| inbox::Word {
        text: format!("word {nth}"),
        thread: thread.into(),
        ids: vec![format!("t:{nth}")],
    };
    let few: Vec<_> = (0..20).map(|nth| word(nth, "a")).collect();
    assert_eq!(inbox::gathered(few.clone(), true), few);
    let many = inbox::gathered(
        (0..10_000).map(|nth| word(nth, if nth < 5_000 { "a" } else { "b" })).collect(),
        true,
    );
    assert!(many.len() < 30, "{}", many.len());
    assert!(many.iter().all(|word| word.text.chars().count() <= inbox::MOST_CHARS));
    let ids: Vec<String> = many.iter().flat_map(|word| word.ids.clone()).collect();
    assert_eq!(ids, (0..10_000).map(|nth| format!("t:{nth}")).collect::<Vec<_>>());
    // Found: of two threads in turns nearly each word made a line of its own.
    let turns = inbox::gathered((0..100).map(|nth| word(nth, ["a", "a", "b"][nth % 3])).collect(), false);
    assert!(turns.len() <= 21 && turns.iter().all(|word| word.ids.len() <= 5), "{}", turns.len());
    for thread in ["a", "b"] {
        let of = |nth: &usize| ["a", "a", "b"][nth % 3] == thread;
        let ids: Vec<String> =
            turns.iter().filter(|w| w.thread == thread).flat_map(|w| w.ids.clone()).collect();
        assert_eq!(ids, (0..100).filter(of).map(|nth| format!("t:{nth}")).collect::<Vec<_>>());
    }
    assert_eq!(inbox::plain(" a\0b\r\nc\u{7} "), "a b\nc");
}
