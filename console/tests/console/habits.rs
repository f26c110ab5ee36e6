//! What owners know of other programs: what prints and stops, what is told of a mistyped option, hints as they are typed.

use crate::asks::asked;
use console::commands::list::{TABLE, brief};
use serde_json::json;
use std::process::Stdio;
use trials::{House, SOUND, looked_for, said};

fn word(number: u32) -> String {
    let data = json!({"from": "creature", "text": format!("word {number}")});
    json!({"at": "2026-01-02T03:04:05.000Z", "life": 1, "kind": "message", "data": data}).to_string() + "\n"
}

/// Found: `feed -n 1` waited for ever, also where no guardian ran, and `feed | head` where there were fewer rows.
#[test]
fn the_feed_prints_and_stops_unless_it_is_to_follow() {
    let house = House::new(SOUND);
    house.write(".self/memory.jsonl", &(0..3).map(word).collect::<String>());
    for (args, first, rows) in [(&["feed", "-n", "1"][..], "word 2", 1), (&["feed"], "word 0", 3)] {
        let output = house.ask(args);
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && told.lines().count() == rows, "{args:?}: {told}");
        assert!(told.lines().next().unwrap().ends_with(first), "{told}");
    }
    let piped = format!("'{}' feed --since 2026-01-01 | head -n 20", house.program().display());
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", &piped]).current_dir(&house.root).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 3, "{}", said(&output));
    // What is waited for is still shown as it comes.
    let mut follower = house.command(&["feed", "-f", "-n", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(follower.stdout.take().unwrap()));
    let mut lines = lines.map(Result::unwrap);
    assert!(lines.next().unwrap().ends_with("word 2"));
    let all = house.read(".self/memory.jsonl") + &word(3);
    std::fs::write(house.path(".self/memory.jsonl"), all).unwrap();
    assert!(lines.next().unwrap().ends_with("word 3"));
    assert!(follower.try_wait().unwrap().is_none(), "it goes on");
    drop(lines);
    let status = looked_for(|| follower.try_wait().unwrap());
    assert!(status.is_some(), "until nobody reads it");
}

/// Found: of `--sinse` only that it is invalid was told.
#[test]
fn a_mistyped_option_is_told_the_nearest() {
    let house = House::new(SOUND);
    for (args, told) in [
        (&["feed", "--sinse", "1h"][..], "feed takes no --sinse; did you mean --since?"),
        (&["rollback", "--dryrun"], "rollback takes no --dryrun; did you mean --dry-run?"),
        (&["--jsn"], "the guardian takes no --jsn; did you mean --json?"),
        (&["mind", "-x"], "mind takes no -x"),
        // Found: "did you mean -f?", "did you mean --json?" for what has nothing in common with it.
        (&["-x"], "the guardian takes no -x; see"),
        (&["say", "--foo", "hi"], "say takes no --foo; see"),
        (&["--json"], "the guardian takes no --json; it stands behind a command; see"),
        // Found: "(invalid digit found in string)", and of `page` alone the first line of its help, cut in the middle.
        (&["feed", "-n", "x"], "-n <N> wants a whole number, not `x`: the last N rows"),
        (&["say", "--wait", "abc", "hi"], "--wait <S> wants a whole number, not `abc`"),
        (&["page"], "page wants one of password, passkey, sessions; see"),
    ] {
        let output = house.ask(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(said(&output).contains(told), "{args:?}: {}", said(&output));
    }
}

/// Found: one screen of 45 lines in no groups, and usage that ran into its text.
#[test]
fn the_help_is_in_groups_and_coloured_at_a_terminal_alone() {
    let house = House::new(SOUND);
    let plain = said(&house.ask(&["help"]));
    let titles = ["\nTalk\n", "\nWatch\n", "\nDecide\n", "\nUndo and stop\n", "\nSet up\n"];
    let places: Vec<usize> = titles.iter().map(|title| plain.find(title).expect(title)).collect();
    assert!(places.is_sorted() && !plain.contains('\u{1b}'), "{plain}");
    for command in TABLE.get_subcommands() {
        let name = command.get_name();
        let rows = plain.lines().filter(|line| line.split_whitespace().next() == Some(name));
        assert_eq!(rows.filter(|line| line.ends_with(&brief(command))).count(), 1, "{name}: {plain}");
    }
    let mut command = house.command(&["help"]);
    command.env_remove("NO_COLOR");
    let terminal = crate::driven::Driven::start(command, 80, 60);
    let screen = terminal.shows("Exit status");
    let wide = screen.lines().find(|line| house::printable::columns(line) > 80);
    assert_eq!(wide, None);
    // Found: a long name with its text behind it, cut by the terminal in the middle of a word.
    let under =
        |name: &str| screen.lines().skip_while(|line| !line.contains(name)).nth(1).unwrap_or_default();
    assert!(
        under("[list|add|sign-in").starts_with(&format!("{:27}MCP servers, whose tools", "")),
        "{screen}"
    );
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(raw.contains("\u{1b}[36mTalk") && raw.contains("\u{1b}[1m  say WORDS|-"), "{raw:?}");
}

/// Found: `./feral x` hinted at `cargo run -p guardian -- y`.
#[test]
fn hints_name_the_command_as_it_was_called() {
    let house = House::new(SOUND);
    asked(&house, "1", "hello");
    let told = |called: Option<&str>, args: &[&str]| {
        let mut command = house.command(args);
        let _ = called.map(|name| command.env("FERAL_CALLED", name));
        said(&command.output().unwrap())
    };
    assert!(told(None, &["asks"]).contains("yes: cargo run -p guardian -- yes ID"));
    for (args, hint) in [
        (&["asks"][..], "yes: ./feral yes ID"),
        (&["say", "--help"], "Usage: ./feral say [OPTIONS] <WORDS|->..."),
        (&["nonsens"], "see `./feral help`"),
        (&["help"], "./feral COMMAND"),
    ] {
        let told = told(Some("./feral"), args);
        assert!(told.contains(hint) && !told.contains("guardian -- "), "{args:?}: {told}");
    }
    // What is no name is none.
    for odd in ["a b", "x\u{1b}[2J", "", &"x".repeat(300)] {
        assert!(told(Some(odd), &["asks"]).contains("yes: cargo run -p guardian -- yes ID"), "{odd:?}");
    }
}

/// Found: "revspec 'nonsense' not found".
#[test]
fn what_is_no_commit_is_told_without_gits_own_words() {
    let house = House::new(SOUND);
    for args in [
        &["diff", "nonsense"][..],
        &["diff", "HEAD~99"],
        &["rollback", "--dry-run", "nonsense"],
        &["diff", "a..b"],
        // Found: "ambiguous lookup - OID prefix is too short".
        &["rollback", "--dry-run", "1"],
    ] {
        let output = house.ask(args);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {told}");
        let gits = ["revspec", "class=", "ambiguous"];
        assert!(
            told.contains("no commit is called") && !gits.iter().any(|word| told.contains(word)),
            "{args:?}: {told}"
        );
    }
}

/// Found: a mistake was told twice, with two remedies.
#[test]
fn a_mistake_in_the_settings_is_told_once_by_the_doctor() {
    let house = House::new(SOUND).with_broker();
    for (mistake, told) in [
        ("[budget]\ndaily_usdd = 5\n", "daily_usdd"),
        ("[limits]\nbaet_s = 1\n", "baet_s"),
        ("[limits\n", "owner.toml"),
    ] {
        house.write("owner.toml", mistake);
        let doctor = said(&house.ask(&["doctor"]));
        let rows = doctor.lines().filter(|line| line.starts_with("BAD") && line.contains(told)).count();
        assert_eq!(rows, 1, "{mistake}: {doctor}");
        // Found: it called the file well read, and a mistake some lines below.
        assert!(doctor.contains("BAD  owner.toml") && !doctor.contains("ok   owner.toml"), "{doctor}");
    }
}

/// Found: a reminder that recurs never said so.
#[test]
fn a_reminder_that_recurs_says_so() {
    let house = House::new(SOUND);
    let one = |id: &str, schedule: serde_json::Value| json!({"id": id, "text": "water the roses", "next": "2029-01-01T08:00:00Z", "finished": null, "schedule": schedule});
    let all = [
        one("reminder-1", json!({"kind": "weekly", "days": [1], "time": "08:00:00"})),
        one("reminder-2", json!({"kind": "weekly", "days": [1, 2, 3, 4, 5], "time": "09:30:00"})),
        one("reminder-3", json!({"kind": "daily", "time": "07:00:00"})),
        one("reminder-4", json!({"kind": "monthly", "day": 31, "time": "07:00:00"})),
        one("reminder-5", json!({"kind": "every", "every_s": 2_700, "from": "08:00:00", "to": "20:00:00"})),
        one("reminder-6", json!({"kind": "once", "at": "2029-01-01T08:00:00Z"})),
        one("reminder-7", json!("of a newer self")),
    ];
    house.write(".self/mind/agenda.json", &json!({"reminders": {"list": all}}).to_string());
    let told = said(&house.ask(&["goals"]));
    for recurs in [
        "(every Monday at 08:00)",
        "(every weekday at 09:30)",
        "(every day at 07:00)",
        "(every month on day 31 at 07:00)",
        "(every 45 min from 08:00 to 20:00)",
    ] {
        assert!(told.contains(recurs), "{recurs}: {told}");
    }
    assert_eq!(told.matches("(every").count(), 5, "{told}");
}

/// Found: after `approve` without a guardian the ask went on to wait, and nothing told that it was answered.
#[test]
fn an_answer_that_waits_for_the_guardian_is_told() {
    let house = House::new(SOUND);
    asked(&house, "1", "hello");
    assert!(house.ask(&["approve", "1"]).status.success());
    for args in [&["asks"][..], &["asks", "1"]] {
        let told = said(&house.ask(args));
        assert!(
            told.contains("you said approve at") && told.contains("done when the guardian runs"),
            "{told}"
        );
    }
}

/// Found: what is missing for a known server was told twice, where its program is what it needs.
#[test]
fn a_missing_program_is_told_once() {
    let house = House::new(SOUND);
    let output = house.command(&["mcp", "add", "time"]).env("PATH", "/nowhere").output().unwrap();
    let told = said(&output);
    assert!(told.matches("uvx is not on this machine").count() == 1, "{told}");
}
