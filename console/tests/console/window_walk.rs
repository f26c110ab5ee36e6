//! A walk through every command of the window at three sizes, in colour and without, and ten thousand lines to scroll back to.

use crate::driven::Driven;
use crate::page_stream::locked;
use crate::surfaces::{PAGES, lived_in};
use crate::window::{SIZES, steers, text_of, words};
use console::commands::list::names;
use console::window::typed;
use house::printable;
use serde_json::json;
use std::io::Write;
use trials::{House, SOUND, looked_for};

/// What the pages do not have: the window's own, and what nobody answers here.
const OTHERS: [&str; 35] = [
    "/help",
    "/help say",
    "/verbosity",
    "/verbosity verbose",
    "/verbosity normal",
    "/verbosity x",
    "/yes",
    "/yes 1",
    "/no 1",
    "/yes 99",
    "/no 1",
    "/rollback",
    "/say hello --wait 0",
    "/remind in an hour to water --wait 0",
    "/pulse --wait 0",
    "/dream --wait 0",
    "/compact --wait 0",
    "/pause",
    "/resume",
    "/stop guardian",
    "/mcp",
    "/mcp add",
    "/mcp test nothing",
    "/channels",
    "/channels list",
    "/page",
    "/page sessions",
    "/status",
    "/completions zsh",
    "/man",
    "/window",
    "/serve",
    "/export 1 --html",
    "/nonsense",
    "/say \"no end",
];
/// What the window says of a line that is over, or of one that begins nothing.
const ENDS: [&str; 12] = [
    "is done",
    "ended with status",
    "was ended",
    "exactly that is ask",
    "no ask is called",
    "verbosity ",
    "which ask?",
    "has been answered",
    "this is the window",
    "is for a shell",
    "is no command",
    "has no end",
];

fn attached(house: &House, (columns, rows): (u16, u16), colour: bool) -> Driven {
    let mut command = house.command(&["window", "--verbosity", "normal"]);
    match colour {
        true => command.env_remove("NO_COLOR"),
        false => command.env("NO_COLOR", "1"),
    };
    let window = Driven::start(command, columns, rows);
    window.prompts();
    window
}

/// Words of a screen, in one line.
fn flat(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is said between the status and the prompt, where a line or a command is over.
fn said(window: &Driven) -> String {
    let (row, _) = window.cursor();
    let screen = window.screen();
    let above: Vec<&str> = screen.lines().take(row.into()).collect();
    flat(&above[above.len().saturating_sub(3)..].join("\n"))
}

/// Every line to walk: those of the owner's pages, as they are typed, and what only a window knows.
fn walk() -> Vec<String> {
    let quoted = |word: &&str| match word.contains([' ', '\r', '\n']) {
        true => format!("'{}'", word.replace('\'', " ")),
        false => (*word).to_owned(),
    };
    // Without a name or with a wrong one a page is no command.
    let pages = PAGES.iter().filter(|words| names().any(|name| name == words[0]));
    let pages = pages.map(|words| format!("/{}", words.iter().map(quoted).collect::<Vec<_>>().join(" ")));
    let all: Vec<String> = pages.chain(OTHERS.iter().map(|line| (*line).to_owned())).collect();
    for command in names().filter(|name| *name != "feed") {
        let there = all.iter().any(|line| line[1..].split(' ').next() == Some(command));
        assert!(there, "/{command} is not walked");
    }
    let mut listed = typed::list();
    let names = listed.iter_mut().filter(|line| line.starts_with('/'));
    let names: Vec<&str> = names.map(|line| line.split([' ', ':']).next().unwrap()).collect();
    assert!(names.iter().all(|name| names.iter().filter(|other| other == &name).count() == 1), "{names:?}");
    all
}

/// Pastes a line, which is not sent by itself, and sends it; waits until it is over.
fn carried_out(window: &Driven, line: &str) {
    window.keys(&format!("\u{15}\u{1b}[200~{line}\u{1b}[201~."));
    window.until(line, |screen| screen.trim_end().ends_with('.'));
    window.keys("\u{7f}\r");
    window.until(line, |screen| {
        let over = |said: &str| ENDS.iter().any(|end| said.contains(end));
        window.line_at_cursor() == ">"
            && (over(&said(window)) || line == "/help" && screen.contains("Enter sends"))
    });
}

#[test]
fn every_command_is_walked_at_every_size_in_colour_and_without() {
    let house = lived_in();
    let walk = walk();
    std::thread::scope(|scope| {
        for (size, colour) in SIZES.into_iter().flat_map(|size| [(size, true), (size, false)]) {
            let (house, walk) = (&house, &walk);
            scope.spawn(move || {
                let mut window = attached(house, size, colour);
                let (columns, rows) = size;
                for (number, line) in walk.iter().enumerate() {
                    if number % 10 == 5 {
                        // Another size in the middle of a line, and back.
                        window.keys("/mind \u{6f22}\u{5b57} e\u{301}");
                        window.until("a line", |_| window.line_at_cursor().contains("/mind"));
                        window.resize(columns - 7, rows + 3);
                        window.keys("x");
                        window.until("it goes on", |_| window.line_at_cursor().contains("e\u{301}x"));
                        window.resize(columns, rows);
                        window.keys("y");
                        window.until("it goes on", |_| window.line_at_cursor().contains("e\u{301}xy"));
                    }
                    carried_out(&window, line);
                }
                // What runs on is ended; the prompt takes letters after all that.
                window.line("/feed -f");
                window.until("a command that runs on", |screen| screen.contains("/feed -f runs"));
                window.keys("\u{1b}");
                window.until("its end", |screen| !screen.contains("/feed -f runs"));
                window.keys("still \u{6f22}\u{5b57} here");
                window.until("a word", |_| window.line_at_cursor() == "> still \u{6f22}\u{5b57} here");
                window.keys("\u{15}\u{4}");
                assert_eq!(window.wait(), 0);
                assert!(window.is_usable());
                judge(&window, colour, columns);
            });
        }
    });
}

/// No byte of the creature's steers, none is of half a letter, no line is forged, and only one of two is painted.
fn judge(window: &Driven, colour: bool, columns: u16) {
    let raw = window.raw();
    let text = text_of(&raw);
    let bad: Vec<char> = text.chars().filter(steers).collect();
    assert!(bad.is_empty(), "{bad:?}");
    assert!(text.contains("u{1b}") && !text.contains('\u{fffd}'), "shown, spelled out, and whole");
    let painted = String::from_utf8_lossy(&raw).contains("\u{1b}[38;5;");
    assert_eq!(painted, colour);
    let whole = window.whole();
    let forged =
        whole.lines().find(|line| line.starts_with("FORGED") || line.starts_with("12:00:00 guardian"));
    assert_eq!(forged, None);
    let wide = whole.lines().find(|line| printable::columns(line) > columns.into());
    assert_eq!(wide, None);
}

#[test]
fn ten_thousand_lines_stay_to_scroll_back_to_each_once_and_in_order() {
    const LINES: usize = 10_000;
    let house = House::new(SOUND);
    for (columns, rows) in [(100, 30), (40, 15)] {
        let _ = std::fs::remove_file(house.path(".self/memory.jsonl"));
        let window = attached(&house, (columns, rows), true);
        let memory = house.path(".self/memory.jsonl");
        let mut memory = std::fs::File::options().create(true).append(true).open(memory).unwrap();
        for block in (0..LINES).collect::<Vec<_>>().chunks(500) {
            let line = |number: &usize| {
                let data = json!({"about": "n", "text": format!("line{number:05}")});
                let at = "2026-01-02T03:04:05.000Z";
                json!({"at": at, "life": 1, "kind": "observation", "data": data}).to_string() + "\n"
            };
            memory.write_all(block.iter().map(line).collect::<String>().as_bytes()).unwrap();
            // What is written faster than it can be shown would be passed over.
            window.shows(&format!("line{:05}", block.last().unwrap()));
            if block[0] == 5_000 {
                window.keys("half a wo");
                window.until("it is typed", |_| window.line_at_cursor() == "> half a wo");
            }
        }
        let numbers = || -> Vec<usize> {
            let whole = window.whole();
            let found = whole.lines().filter_map(|line| line.split("line").nth(1)?.get(..5)?.parse().ok());
            found.collect()
        };
        let all = looked_for(|| Some(numbers()).filter(|numbers| numbers.len() == LINES));
        assert_eq!(all.unwrap_or_else(numbers), (0..LINES).collect::<Vec<_>>());
        assert_eq!(window.line_at_cursor(), "> half a wo", "what was being typed stands there");
    }
}

/// The thought grows while the terminal takes other sizes in the middle of a line of the owner's.
#[test]
fn a_thought_streams_on_over_every_size() {
    let house = House::new(SOUND);
    house.write(".self/guardian.json", &json!({"phase": "settled", "life": 1}).to_string());
    house.write(".self/heartbeat", &json!({"life": 1, "stage": "thinking", "mind": "claude"}).to_string());
    let _lock = locked(&house);
    let window = attached(&house, (100, 30), false);
    window.shows("claude thinks");
    window.keys("half \u{6f22}\u{5b57}");
    let mut thought = String::new();
    // Found: told of its new size and of where its cursor is at once, it missed the latter, and began anew at the bottom.
    let sizes = SIZES.into_iter().cycle().take(12).chain([(100, 30), (33, 9), (120, 40)]);
    for (number, (columns, rows)) in sizes.enumerate() {
        thought += &format!("Of a thought, \u{6f22}\u{5b57} in it, that is long: thought{number:02} ");
        house.write(".self/mind/thinking.txt", &thought);
        window.resize(columns, rows);
        let end = format!("thought{number:02}");
        let screen = window.until(&end, |screen| {
            let flat = flat(&screen.replace('\u{2502}', " "));
            flat.contains(&format!("{end} claude thinks"))
                && window.line_at_cursor() == "> half \u{6f22}\u{5b57}"
        });
        let wide = screen.lines().find(|line| printable::columns(line) > columns.into());
        assert_eq!(wide, None, "{screen}");
        assert_eq!(screen.matches("> half").count(), 1, "{screen}");
        assert!(window.cursor().0 < 10, "it stays where it was: {screen}");
    }
    // Over, it is gone from the screen: what it was stands in memory.
    house.write(".self/heartbeat", &json!({"life": 1, "stage": "resting", "mind": "claude"}).to_string());
    window.until("its end", |screen| screen.contains("rests (claude)") && !screen.contains("thought1"));
    text_of(&window.raw());
}

/// Found: continued after a stop it had neither the keys nor its lines on the screen.
#[test]
fn a_window_that_is_put_aside_comes_back_with_what_was_being_typed() {
    let house = House::new(SOUND);
    let mut command = std::process::Command::new("bash");
    // A shell with jobs, as an owner's: it takes the terminal while the window is stopped.
    command.args(["-c", "set -m; \"$0\" window; echo it is aside; read go; fg"]).arg(house.program());
    command.current_dir(&house.root).env("NO_COLOR", "1").env_remove("CARGO");
    let window = Driven::start(command, 80, 24);
    window.prompts();
    window.keys("half a w");
    window.until("it is typed", |_| window.line_at_cursor() == "> half a w");
    window.keys("\u{1a}");
    window.shows("it is aside");
    assert!(window.is_usable(), "the shell has the terminal");
    window.line("go");
    window.until("the prompt", |_| window.line_at_cursor() == "> half a w");
    assert!(!window.is_usable());
    window.keys("ord\r");
    house.until("the word", || words(&house) == ["half a word"]);
}
