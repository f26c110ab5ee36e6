//! The window at a terminal that is driven: words and answers, commands, asks, the prompt, and nothing raw of the creature's.

use crate::asks::asked;
use crate::driven::Driven;
use crate::say::ANSWERS;
use serde_json::{Value, json};
use std::io::Write;
use trials::{House, SOUND, lines};

pub const SIZES: [(u16, u16); 3] = [(100, 30), (80, 24), (40, 15)];
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}]52;c;aGk=\u{7}\u{1b}[8m\u{9b}31m\u{85}\u{202e}olleh\u{2066}\u{200b}\r\n12:00:00 guardian FORGED\tend";

fn record(kind: &str, data: Value) -> String {
    json!({"at": "2026-01-02T03:04:05.000Z", "life": 1, "kind": kind, "data": data}).to_string()
}

fn remember(house: &House, record: &str) {
    let path = house.path(".self/memory.jsonl");
    let mut memory = std::fs::File::options().create(true).append(true).open(path).unwrap();
    writeln!(memory, "{record}").unwrap();
}

/// A window that attaches, in a house where nobody lives.
fn attached(house: &House, args: &[&str], (columns, rows): (u16, u16)) -> Driven {
    let words: Vec<&str> = ["window"].into_iter().chain(args.iter().copied()).collect();
    let mut command = house.command(&words);
    command.env("NO_COLOR", "1");
    let window = Driven::start(command, columns, rows);
    window.prompts();
    window
}

pub fn words(house: &House) -> Vec<String> {
    let words = lines(&house.path(".self/inbox.jsonl"));
    words.iter().map(|line| line["text"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_word_is_kept_and_its_answer_stands_on_the_screen_at_every_size() {
    let house = House::new(ANSWERS);
    let guardian = house.start();
    house.until("it lives", || !house.thoughts().is_empty());
    for (number, size) in SIZES.into_iter().enumerate() {
        let window = attached(&house, &[], size);
        window.shows("life 1 at");
        let word = format!("grüße {number} 日本");
        window.line(&word);
        // A narrow one breaks it between words.
        let flat = |screen: &str| screen.split_whitespace().collect::<Vec<_>>().join(" ");
        let screen = window.until("the answer", |screen| flat(screen).contains(&format!("you said: {word}")));
        assert!(screen.contains("answer") && screen.contains(&format!("you: {word}")), "{screen}");
        assert_eq!(screen.matches(&format!("owner: {word}")).count(), 0, "it stands there once: {screen}");
        let wide = screen.lines().find(|line| house::printable::columns(line) > size.0.into());
        assert_eq!(wide, None);
    }
    assert_eq!(words(&house).len(), SIZES.len());
    guardian.stop();
}

/// Bytes of the window's own: colours, the cursor, scrolling, clearing, modes. Everything else is text.
pub fn text_of(raw: &[u8]) -> String {
    // A letter, too, may be half there.
    let raw = std::str::from_utf8(raw).unwrap_or_else(|cut| {
        assert!(cut.error_len().is_none(), "a byte of another coding");
        std::str::from_utf8(&raw[..cut.valid_up_to()]).unwrap()
    });
    let (mut text, mut rest) = (String::new(), raw);
    while let Some(at) = rest.find('\u{1b}') {
        text.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        // What was written may have been looked at in the middle of a sequence.
        if after.is_empty() {
            return text;
        }
        let Some(sequence) = after.strip_prefix('[') else {
            panic!("a sequence of another kind: {:?}", &after[..after.len().min(40)]);
        };
        let end = sequence.find(|letter: char| !"0123456789;?".contains(letter));
        let Some(end) = end else { return text };
        let last = sequence[end..].chars().next().unwrap();
        assert!("ABCDGHJKSTmrhln".contains(last), "ESC [ {}{last}", &sequence[..end]);
        let mode = &sequence[..end];
        assert!(!"hl".contains(last) || ["?25", "?2004", "?2026"].contains(&mode), "a mode: {mode}{last}");
        assert!(last != 'm' || mode != "8" && !mode.starts_with("8;"), "hidden text");
        rest = &sequence[end + 1..];
    }
    text + rest
}

/// Letters that do something to a terminal, or to how others look.
pub fn steers(letter: &char) -> bool {
    !"\r\n".contains(*letter) && (letter.is_control() || "\u{202e}\u{2066}\u{200b}\u{2028}".contains(*letter))
}

/// Everything a window reads, as hostile as it can be.
fn fill(house: &House) {
    remember(house, &record("message", json!({"from": HOSTILE, "text": HOSTILE, "kind": HOSTILE})));
    remember(house, &record("thought", json!({"monologue": HOSTILE, "intent": HOSTILE})));
    remember(
        house,
        &record(
            "action",
            json!({"tool": HOSTILE, "args": {"a": HOSTILE}, "result": {"ok": false, "error": HOSTILE}}),
        ),
    );
    remember(
        house,
        &record("self_change", json!({"summary": HOSTILE, "stage": HOSTILE, "files": [HOSTILE]})),
    );
    remember(house, &record(HOSTILE, json!({"told": HOSTILE})));
    let told = json!({"phase": "settled", "life": 1, "note": HOSTILE, "mind": HOSTILE, "walls": HOSTILE, "commit": HOSTILE});
    house.write(".self/guardian.json", &told.to_string());
    let beat =
        json!({"life": 1, "stage": "thinking", "mind": HOSTILE, "next_try": HOSTILE, "until": HOSTILE});
    house.write(".self/heartbeat", &beat.to_string());
    house.write(".self/mind/thinking.txt", HOSTILE);
    house.write(
        ".self/budget.json",
        &json!({"caps": [{"span": "day", "cap_usd": 5, "spent_usd": 1}], "warning": HOSTILE}).to_string(),
    );
    house.write(
        ".self/mind/agenda.json",
        &json!({"tasks": {"list": [{"text": HOSTILE, "at": "2026-01-02T03:04:05Z"}]}}).to_string(),
    );
    asked(house, "1", HOSTILE);
}

#[test]
fn no_raw_byte_of_the_creatures_reaches_the_terminal() {
    for colour in [false, true] {
        let house = House::new(SOUND);
        fill(&house);
        let _lock = crate::page_stream::locked(&house);
        let mut command = house.command(&["window", "--verbosity", "verbose"]);
        if colour {
            command.env_remove("NO_COLOR");
        } else {
            command.env("NO_COLOR", "1");
        }
        let window = Driven::start(command, 80, 24);
        window.prompts();
        window.shows("$4.00 left today");
        window.shows("│ x\\u{1b}");
        let commands = [
            ("/yes 1", "exactly that is ask 1"),
            ("/status", "/status ended with status 3"),
            ("/history --since 2026-01-01", "01-01 is done"),
            ("/report --since 2026-01-02", "01-02 is done"),
            ("/verbosity", "verbosity verbose"),
        ];
        for (line, end) in commands {
            window.line(line);
            window.until(line, |screen| screen.contains(end) && window.line_at_cursor() == ">");
        }
        window.keys(&format!("\u{1b}[200~{HOSTILE}\u{1b}[201~"));
        remember(&house, &record("message", json!({"from": "creature", "text": "seen\u{202e}\u{1b}[2J"})));
        window.shows("seen\\u{202e}\\u{1b}[2J");
        let text = text_of(&window.raw());
        let bad: Vec<char> = text.chars().filter(steers).collect();
        assert!(bad.is_empty(), "{bad:?}");
        assert!(text.contains("u{1b}"), "it was shown, spelled out");
        assert_eq!(String::from_utf8_lossy(&window.raw()).contains("\u{1b}[38;5;"), colour);
        let forged = window.screen().lines().any(|line| line.starts_with("12:00:00 guardian"));
        assert!(!forged, "{}", window.screen());
    }
}

#[test]
fn verbosity_says_how_much_is_shown() {
    let house = House::new(SOUND);
    let window = attached(&house, &["--verbosity", "minimal"], (100, 30));
    let thought = |text: &str| {
        record("thought", json!({"monologue": text, "intent": "", "tool_calls": [{"tool": "note"}]}))
    };
    let word = |text: &str| record("message", json!({"from": "creature", "text": text}));
    remember(&house, &thought("unseen musing"));
    remember(&house, &word("first word"));
    assert!(!window.shows("first word").contains("unseen"));
    window.line("/verbosity normal");
    window.shows("verbosity normal");
    remember(&house, &thought("seen musing"));
    assert!(!window.shows("seen musing").contains("tool_calls"));
    window.line("/verbosity verbose");
    window.shows("verbosity verbose");
    remember(&house, &thought("third musing"));
    window.shows("tool_calls: [{\"tool\":\"note\"}]");
    window.line("/verbosity loud");
    window.shows("no verbosity is called loud");
}

#[test]
fn the_prompt_is_edited_as_elsewhere() {
    let house = House::new(SOUND);
    let window = attached(&house, &[], (40, 15));
    // Words, moves and cuts; wide letters; what a paste brings is not sent.
    window.keys("one two three\u{17}\u{17}2 日本 3\u{1}\u{1b}f!\u{5}.");
    window.until("the edited line", |_| window.line_at_cursor() == "> one! 2 日本 3.");
    assert_eq!(
        window.cursor().1,
        "> one! 2 日本 3.".chars().count() as u16 + 2,
        "two letters take two columns"
    );
    window.keys("\u{15}\u{1b}[200~pasted\nlines\u{1b}[201~");
    window.until("both lines", |screen| screen.contains("> pasted\n  lines"));
    assert!(words(&house).is_empty(), "not sent");
    window.keys("\u{1b}\r3\r");
    house.until("the word", || words(&house) == ["pasted\nlines\n3"]);
    window.line("second word");
    house.until("the second word", || words(&house).len() == 2);
    window.keys("draft\u{1b}[A");
    window.until("the line before", |_| window.line_at_cursor() == "> second word");
    window.keys("\u{1b}[B");
    window.until("the draft", |_| window.line_at_cursor() == "> draft");
    window.keys("\u{3}");
    window.until("an empty line", |_| window.line_at_cursor() == ">");
    window.keys("/verb\t");
    window.until("completion", |_| window.line_at_cursor() == "> /verbosity");
    window.keys("m\t\r");
    window.shows("verbosity minimal");
    window.line("/statsu");
    window.until("a suggestion", |screen| screen.replace('\n', " ").contains("the nearest is /status"));
    window.line("/help");
    window.until("the list", |screen| screen.contains("or ends a command that runs;"));
}

#[test]
fn the_creature_is_told_that_a_word_is_being_typed_until_it_is_sent_or_emptied() {
    let house = House::new(SOUND);
    let window = attached(&house, &[], (80, 24));
    let typing = house.path(".self/typing");
    let until =
        || std::fs::read_to_string(&typing).ok().and_then(|said| said.trim().parse::<jiff::Timestamp>().ok());
    for ending in ["\u{15}", "\u{1b}", "\u{7f}\u{7f}\u{7f}", "\r"] {
        window.keys("hey");
        house.until("it is told", || until().is_some());
        let left = until().unwrap().duration_since(jiff::Timestamp::now());
        assert!(left <= jiff::SignedDuration::from_secs(60), "{left}");
        window.keys(ending);
        house.until("it is over", || !typing.exists());
    }
    assert_eq!(words(&house), ["hey"], "the word was there before typing was over");
    // A command is no word; nor is what another window says taken back.
    window.keys("/mind");
    window.until("a command", |_| window.line_at_cursor() == "> /mind");
    assert!(!typing.exists());
    window.keys("\u{15}hey");
    house.until("it is told", || until().is_some());
    std::fs::write(&typing, "2026-01-02T03:04:05Z\n").unwrap();
    window.keys("\u{15}");
    window.until("an empty line", |_| window.line_at_cursor() == ">");
    assert!(typing.exists());
    // A window that is left is done with typing.
    window.keys("hey");
    house.until("it is told", || until().is_some_and(|until| until > jiff::Timestamp::now()));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(window.pid()), nix::sys::signal::Signal::SIGTERM)
        .unwrap();
    house.until("it is over", || !typing.exists());
}

/// As on a full disk: a folder stands where a file is to be.
#[test]
fn where_nothing_can_be_written_the_word_stays_at_the_prompt() {
    let house = House::new(SOUND);
    let window = attached(&house, &[], (80, 24));
    for name in [".self/typing/x", ".self/inbox.jsonl/x"] {
        std::fs::create_dir_all(house.path(name)).unwrap();
    }
    window.line("a word");
    window
        .until("why it is not kept", |screen| screen.contains("inbox.jsonl") && screen.contains("> a word"));
    std::fs::remove_dir_all(house.path(".self/inbox.jsonl")).unwrap();
    window.keys("\r");
    house.until("the word", || words(&house) == ["a word"]);
    window.shows("you: a word");
}

#[test]
fn a_window_of_another_size_goes_on_in_mid_line() {
    let house = House::new(SOUND);
    let window = attached(&house, &[], (100, 30));
    window.keys("a word of some length that is being typed just now");
    window.until("it is typed", |_| window.line_at_cursor().ends_with("just now"));
    for (columns, rows) in [(40, 15), (80, 24), (120, 12)] {
        window.resize(columns, rows);
        window.keys(".");
        window.until("it goes on", |screen| screen.replace('\n', "").contains("now."));
        let screen = window.screen();
        assert!(screen.lines().all(|line| house::printable::columns(line) <= columns.into()), "{screen}");
        assert_eq!(screen.matches("> a word").count(), 1, "{screen}");
        window.keys("\u{7f}");
    }
    window.keys("\r");
    house.until("the word", || words(&house) == ["a word of some length that is being typed just now"]);
}

#[test]
fn a_long_answer_is_whole_and_what_stood_above_stays() {
    let house = House::new(SOUND);
    let window = attached(&house, &[], (80, 60));
    for number in 0..5 {
        remember(&house, &record("message", json!({"from": "creature", "text": format!("line {number}")})));
    }
    let long: Vec<String> = (0..300).map(|number| format!("word{number:04}")).collect();
    remember(&house, &record("message", json!({"from": "creature", "text": long.join(" ")})));
    let screen = window.shows("word0299");
    for word in &long {
        assert_eq!(screen.matches(word.as_str()).count(), 1, "{word}: {screen}");
    }
    let places: Vec<usize> = (0..5).map(|number| screen.find(&format!("line {number}")).unwrap()).collect();
    assert!(places.is_sorted(), "{screen}");
}

#[test]
fn an_ask_is_answered_only_once_its_bytes_were_shown() {
    let house = House::new(SOUND);
    let window = attached(&house, &[], (80, 40));
    asked(&house, "1", "say hello to somebody new");
    window.shows("/yes 1");
    window.line("/yes 1");
    window.shows("exactly that is ask 1");
    let screen = window.screen();
    assert!(screen.contains("https://api.example/2/tweets") && screen.contains("content-type"), "{screen}");
    assert!(!house.path(".self/broker/answers.jsonl").exists(), "shown, not answered");
    window.line("/yes 1");
    house.until("the answer", || {
        let answers = lines(&house.path(".self/broker/answers.jsonl"));
        answers.len() == 1 && answers[0]["answer"] == "approve" && answers[0]["digest"] == "d1"
    });
    window.shows("/approve 1 is done");
    // By its other name it is no way around its bytes.
    asked(&house, "2", "say hello to another one");
    window.shows("/yes 2");
    window.line("/approve 2");
    window.shows("exactly that is ask 2");
    assert_eq!(lines(&house.path(".self/broker/answers.jsonl")).len(), 1, "shown, not answered");
    window.line("/no 7");
    window.shows("no ask is called");
}

/// Found: refused because another command ran, and typed again, it was done though nothing had been shown.
#[test]
fn a_rollback_is_ordered_only_once_its_changes_were_shown() {
    let house = House::new(SOUND);
    let first = house.git(&["rev-parse", "--short=7", "HEAD"]);
    house.write("creature/more", "x");
    house.commit("more");
    let window = attached(&house, &[], (100, 30));
    let line = format!("/rollback {first}");
    window.line("/feed -f");
    window.shows("/feed -f runs");
    window.line(&line);
    window.keys("\u{1b}");
    window.until("its end", |screen| !screen.contains("/feed -f runs"));
    window.line(&line);
    window.shows(&format!("/rollback --dry-run {first} is done"));
    window.line(&line);
    // Nobody lives here to do it.
    window.shows(&format!("/rollback {first} ended with status 1"));
    // What could not be shown is not done either.
    for _ in 0..2 {
        window.line("/rollback nonsense");
        window.until("no such commit", |screen| screen.contains("/rollback --dry-run nonsense ended with"));
        window.keys(" \u{15}");
        window.until("an empty line", |screen| !screen.contains("nonsense ended with"));
    }
}

#[test]
fn a_command_that_runs_on_is_ended_and_the_window_left() {
    let house = House::new(SOUND);
    let mut window = attached(&house, &[], (80, 24));
    window.line("/feed -f");
    window.shows("/feed -f runs");
    window.keys("typed meanwhile");
    window.shows("typed meanwhile");
    window.keys("\u{1b}");
    window.until("its end", |screen| !screen.contains("/feed -f runs"));
    window.keys("\u{15}\u{4}");
    assert_eq!(window.wait(), 0);
    assert!(window.is_usable());
    assert!(window.raw().windows(8).any(|bytes| bytes == b"\x1b[?2004l"));
}

#[test]
fn where_no_terminal_is_there_is_no_window() {
    let house = House::new(SOUND);
    let output = house.ask(&["window"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a window needs a terminal"), "{output:?}");
    let mut terminal = Driven::start_as(house.command(&["window"]), "dumb", 80, 24);
    assert_eq!(terminal.wait(), 1);
    terminal.shows("a window needs a terminal");
}
