//! What the owner reads of days past: the feed and the history, and what a mistyped command is told.

use crate::asks::ledger;
use console::commands::list::names;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use trials::{House, SOUND, lines, said};

fn memory(house: &House, records: &[Value]) {
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    house.write(".self/memory.jsonl", &text);
    let owners = records.iter().filter(|record| record["data"]["from"] == "owner");
    let words: String = owners.map(|record| format!("{}\n", record["data"]["text"])).collect();
    house.write(".self/inbox.jsonl", &words);
}

fn word(at: &str, from: &str, text: &str) -> Value {
    json!({"at": at, "life": 1, "kind": "message", "data": {"from": from, "text": text}})
}

fn spawned(house: &House, args: &[&str]) -> Child {
    house.command(args).env("TZ", "XYZ-5").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The first so many lines of what a follower is shown.
pub fn followed(house: &House, args: &[&str], count: usize) -> Vec<String> {
    let mut child = spawned(house, args);
    let out = BufReader::new(child.stdout.take().unwrap());
    let lines = out.lines().take(count).map(Result::unwrap).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    lines
}

/// Found: `feed | less`, then `q`: it hung for ever.
#[test]
fn a_feed_whose_reader_has_gone_ends_quietly() {
    let house = House::new(SOUND);
    memory(&house, &[word("2026-01-02T03:04:05.000Z", "owner", "hello")]);
    let mut child = spawned(&house, &["feed", "-f"]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    drop(out);
    let status = trials::looked_for(|| child.try_wait().unwrap()).unwrap_or_else(|| {
        child.kill().unwrap();
        panic!("it goes on, and nobody reads it");
    });
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!((status.code(), told.as_str()), (Some(0), ""));
}

/// Found: the feed replayed from birth, in UTC, undated and unlabelled.
#[test]
fn a_feed_shows_the_last_rows_or_those_since_a_time_in_local_time() {
    let house = House::new(SOUND);
    let records: Vec<Value> = (10..60)
        .map(|minute| word(&format!("2026-01-02T22:{minute}:05.000Z"), "owner", &format!("word {minute}")))
        .collect();
    memory(&house, &records);
    let old = word("2026-01-01T22:00:00.000Z", "owner", "an old word");
    house.write(".self/memory-20260102T000000.000Z.jsonl", &format!("{old}\n"));
    let last = followed(&house, &["feed", "-n", "2"], 2);
    assert_eq!(last[0], "2026-01-03 03:58:05 word      owner: word 58");
    assert_eq!(last[1], "2026-01-03 03:59:05 word      owner: word 59");
    assert!(followed(&house, &["feed"], 1)[0].ends_with("word 40"), "the last twenty");
    assert!(followed(&house, &["feed", "--since", "2026-01-02T22:30:00Z"], 1)[0].ends_with("word 30"));
    assert!(followed(&house, &["feed", "--since", "2026-01-03T03:31"], 1)[0].ends_with("word 31"));
    assert!(followed(&house, &["feed", "--since", "2026-01-01"], 1)[0].ends_with("an old word"));
    let json = followed(&house, &["feed", "-n", "1", "--json"], 1);
    assert_eq!(serde_json::from_str::<Value>(&json[0]).unwrap(), records[49]);
}

/// Found: `history --since 2026-11-22` was refused, and a wrong span gave status 1.
#[test]
fn a_day_is_a_time_and_a_wrong_span_is_wrong_usage() {
    let house = House::new(SOUND);
    memory(&house, &[word("2026-11-22T08:00:00.000Z", "creature", "in the morning")]);
    let output = house.ask(&["history", "--since", "2026-11-22"]);
    assert!(output.status.success() && said(&output).contains("in the morning"), "{}", said(&output));
    for wrong in ["yesterdayish", "5x", "-1h", "", "2026-13-01", "9d9", "\u{1b}[2J"] {
        for command in ["history", "feed"] {
            let output = house.ask(&[command, "--since", wrong]);
            assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", said(&output));
            assert!(
                said(&output).contains("--since wants") && !said(&output).contains('\u{1b}'),
                "{}",
                said(&output)
            );
        }
    }
    for span in
        ["90m", "12h", "7d", "2w", "99999999999999999999d", "2026-11-22T08:00:00Z", "2026-11-22 08:00"]
    {
        assert!(house.ask(&["history", "--since", span]).status.success(), "{span}");
    }
}

/// Found: `statsu` got no hint, and there was one help for all.
#[test]
fn a_mistyped_command_is_told_the_nearest_and_each_has_its_help() {
    let house = House::new(SOUND);
    for (typed, meant) in [
        ("statsu", "status"),
        ("histroy", "history"),
        ("aproove", "approve"),
        ("gaols", "goals"),
        ("rolback", "rollback"),
    ] {
        let output = house.ask(&[typed]);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(&format!("nearest is {meant}")), "{}", said(&output));
    }
    assert!(names().count() > 20);
    for command in names() {
        for args in [&[command, "--help"][..], &["help", command]] {
            let output = house.ask(args);
            let said = said(&output);
            assert!(output.status.success(), "{said}");
            assert!(said.contains(&format!("Usage: cargo run -p guardian -- {command}")), "{said}");
            // Only these have commands below them.
            let has_commands = said.contains("Commands:");
            assert!(
                said.contains("Examples:") && has_commands == matches!(command, "channels" | "mcp" | "page"),
                "{said}"
            );
        }
    }
    let output = house.ask(&["status", "--since", "1h"]);
    assert!(
        output.status.code() == Some(2) && said(&output).contains("takes no --since"),
        "{}",
        said(&output)
    );
}

/// Found: outside a clone the advice was `git add -A`, in a home folder; and libgit2's numbers leaked.
#[test]
fn outside_a_clone_the_advice_is_to_clone_and_no_number_of_gits_is_told() {
    let house = House::new(SOUND);
    let nowhere = tempfile::tempdir().unwrap();
    let run = |folder: &std::path::Path, args: &[&str]| {
        let output = Command::new(house.program()).args(args).current_dir(folder).output().unwrap();
        said(&output)
    };
    for args in [&[][..], &["status"], &["doctor"]] {
        let told = run(nowhere.path(), args);
        assert!(told.contains("git clone") && !told.contains("git add"), "{told}");
    }
    // No commit, a branch that is none, an index that is none.
    Command::new("git").args(["init", "-q"]).current_dir(nowhere.path()).output().unwrap();
    std::fs::create_dir(nowhere.path().join("creature")).unwrap();
    for args in [&[][..], &["doctor"], &["doctor", "--json"]] {
        let told = run(nowhere.path(), args);
        assert!(!told.contains("class=") && !told.contains("code="), "{told}");
    }
    let guardian = house.start();
    house.until("a thought", || !house.thoughts().is_empty());
    let told = said(&house.ask(&["rollback", "nowhere"]));
    assert!(told.contains("nowhere") && !told.contains("class="), "{told}");
    guardian.stop();
}

/// Found: 68,000 refused calls rotated the ledger away, and what went before was forgotten; calls were counted twice.
#[test]
fn every_ledger_is_read_refusals_are_folded_and_a_call_is_counted_once() {
    let house = House::new(SOUND);
    let entry = |second: usize, event: &str, service: &str, call: &str, decision: &str| {
        json!({"at": format!("2026-01-02T00:00:{second:02}.000Z"), "life": 1, "event": event, "service": service,
               "method": "POST", "path": "/p", "bytes_out": 10, "bytes_in": 0, "cost_micro_usd": 2_500, "decision": decision, "call": call})
    };
    let mut entries = vec![
        entry(0, "reserve", "anthropic", "c1", ""),
        entry(1, "settle", "anthropic", "c1", "usage"),
        entry(2, "call", "x", "c2", "allow"),
        entry(3, "call", "x", "c2", "allow"),
        entry(4, "call", "x", "c2", "answered"),
        entry(5, "call", "x", "c3", "allow"),
        entry(6, "call", "x", "c3", "not sent"),
    ];
    (7..57).for_each(|second| entries.push(entry(second, "refuse", "y", "", "no rule allows it")));
    let mut summed = entry(57, "refuse", "y", "", "no rule allows it");
    summed["count"] = json!(950);
    entries.extend([summed, entry(57, "ask", "x", "ask-1", "a new recipient")]);
    let text = ledger(&entries);
    let whole: Vec<&str> = text.lines().collect();
    house.write(".self/ledger-20260102T000005.000Z.jsonl", &format!("{}\n", whole[..5].join("\n")));
    house.write(".self/ledger-20260102T000020.000Z.jsonl", &format!("{}\n", whole[5..20].join("\n")));
    house.write(".self/ledger.jsonl", &format!("{}\n", whole[20..].join("\n")));
    let told = said(&house.ask(&["history", "--since", "2026-01-02T00:00:00Z"]));
    assert!(told.contains("spent $0.0025; calls: anthropic 1, x 2; 20 B out"), "{told}");
    assert!(told.contains("1000 refused, 1 asked") && !told.contains("BROKEN"), "{told}");
    assert_eq!(told.matches("refused POST y /p: no rule allows it").count(), 1, "{told}");
    assert!(told.contains("(1000 times, until "), "{told}");
    let changed = house.read(".self/ledger-20260102T000005.000Z.jsonl").replace("2500", "2501");
    house.write(".self/ledger-20260102T000005.000Z.jsonl", &changed);
    let told = said(&house.ask(&["history", "--since", "2026-01-02T00:00:00Z"]));
    assert!(told.contains("BROKEN: .self/ledger-20260102T000005.000Z.jsonl, line 1"), "{told}");
}

/// Found: messages, revenue and goals were left out, and what only asked was told as posted.
#[test]
fn the_history_tells_words_goals_revenue_and_what_only_asked() {
    let house = House::new(SOUND);
    let of = |kind: &str, data: Value| json!({"at": "2026-01-02T00:00:09.000Z", "life": 1, "kind": kind, "data": data});
    let act = |tool: &str, result: Value| of("action", json!({"tool": tool, "result": result}));
    memory(
        &house,
        &[
            word("2026-01-02T00:00:01.000Z", "owner", "how are you?"),
            word("2026-01-02T00:00:02.000Z", "creature", "well, and you?"),
            act("x.reply", json!({"ok": true, "asked": "7", "why": "a new recipient"})),
            act("x.post", json!({"ok": true, "drafted": "self/drafts/a.md"})),
            act("x.post", json!({"ok": true, "id": "99"})),
            of("agenda", json!({"change": {"goal": {"do": "add", "title": "A greenhouse"}}})),
            of(
                "agenda",
                json!({"change": {"opportunity": {"do": "move", "id": "opp-1", "earned_usd": 20.5}}}),
            ),
        ],
    );
    let examined = json!({"at": "2026-01-02T00:00:10.000Z", "life": 2, "what": "examined", "outcome": "failed",
        "told": "failed: probation::lives::other"});
    house.write(".self/history.jsonl", &format!("{examined}\n"));
    let told = said(&house.ask(&["history", "--since", "2026-01-01"]));
    for part in [
        "the tests of life 2 failed: probation::lives::other",
        "owner: how are you?",
        "creature: well, and you?",
        "asked: x.reply waits for your word as ask 7",
        "drafted self/drafts/a.md",
        "posted by x.post",
        "goal add: A greenhouse",
        "revenue move: opp-1, 20.50 USD",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    assert_eq!(told.matches("posted by").count(), 1, "{told}");
    let feed = followed(&house, &["feed", "-n", "7"], 7).join("\n");
    assert!(
        feed.contains("x.reply asks you first: ask 7")
            && feed.contains("x.post drafted only: self/drafts/a.md"),
        "{feed}"
    );
    assert!(feed.contains("x.post ok"), "{feed}");
    assert_eq!(lines(&house.path(".self/memory.jsonl")).len(), 7);
}
