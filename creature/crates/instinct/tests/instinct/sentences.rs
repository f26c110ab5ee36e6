//! What owners say, as data: what each sentence asks for and what is answered, in a house with a list, notes and reminders.

use super::world::World;
use agenda::directive::{self, DirectiveChange};
use agenda::reminder::Schedule;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use mind::thought::ToolCall;
use serde_json::{Value, json};

const EVERYDAY: &str = include_str!("../sentences/everyday.txt");
const VOICES: &str = include_str!("../sentences/voices.txt");
const LANGUAGES: &str = include_str!("../sentences/languages.txt");
const MISTAKABLE: &str = include_str!("../sentences/mistakable.txt");
const UNSEEN: &str = include_str!("../sentences/unseen.txt");
const LANGUAGES_UNSEEN: &str = include_str!("../sentences/languages_unseen.txt");

/// A Thursday, ten in the morning in Berlin.
const NOW: &str = "2026-11-26T09:00:00Z";

/// Sentences that may be answered by a question, or by not being understood, in percent; none may be taken for another.
const UNSURE: usize = 10;
const UNSEEN_UNSURE: usize = 30;

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn berlin() -> TimeZone {
    TimeZone::get("Europe/Berlin").unwrap()
}

/// The tools of a house that has a list, a note and two reminders.
fn tools(call: &ToolCall) -> Option<Value> {
    let arg = |name: &str| call.args.get(name).and_then(Value::as_str).unwrap_or_default();
    let paper = |text: &str| {
        let lines = text.lines().count();
        json!({"ok": true, "text": text, "from": 1, "lines": lines, "lines_total": lines})
    };
    Some(match call.tool.as_str() {
        "reminder.add" => {
            let schedule = Schedule::read(arg("when"), now(), &berlin()).expect("a time that the tool reads");
            let next = schedule.next(now(), &berlin()).unwrap();
            json!({"ok": true, "id": "reminder-9", "next": "later", "said": schedule.said(next, now(), &berlin())})
        }
        "reminder.list" => json!({"ok": true, "reminders": [
            {"id": "reminder-1", "text": "water the plants", "next": "2026-11-30T07:00:00Z", "zone": "Europe/Berlin",
                "said": "every Monday at 08:00, first on Monday 30 November"},
            {"id": "reminder-2", "text": "call Ann", "next": "2026-11-27T08:00:00Z", "zone": "Europe/Berlin",
                "said": "tomorrow at 09:00"},
        ]}),
        "notes.read" if arg("name") == "notes/todo" => {
            paper("- [ ] buy milk\n- [ ] fix the bike\n- [x] call the bank\n")
        }
        "notes.read" => paper("- 2026-11-25 10:00: my wifi password is in the blue book\n"),
        "knowledge.search" if arg("query").contains("wifi") => json!({"ok": true, "hits": [
            {"kind": "paper", "path": "self/scratch.md", "at": "2026-11-25", "text": "my wifi password is in the blue book"},
        ]}),
        "knowledge.search" | "web.search" => json!({"ok": true, "hits": []}),
        "self.examine" => {
            json!({"ok": true, "for_the_owner": "Today: I answered you twice. Nothing failed. It cost nothing."})
        }
        "web.fetch_text" => json!({"ok": true, "url": arg("url"), "title": "On tools", "text": super::PAGE}),
        "pulse.list" => json!({"ok": true, "concerns": []}),
        _ => return None,
    })
}

fn world() -> World {
    let mut world =
        World::new().answering(tools).checklist("# Sources\n\nfeed: https://lwn.net/headlines/rss\n");
    world.moment.time_zone = Some(berlin());
    world.clock_s = now().as_second();
    world.record("thought", json!({"intent": "look at lwn.net"}));
    world
}

/// What a sentence was taken for, what may be meant instead, what was answered, and which calls were made.
struct Answered {
    means: Vec<String>,
    choices: Vec<String>,
    text: String,
    calls: Vec<ToolCall>,
}

fn answered(said: &str) -> Answered {
    let understood = directive::understand(said, now(), &berlin());
    if let Some(order) = understood.filter(|order| matches!(order.change, DirectiveChange::Set { .. })) {
        let (means, text) = (vec!["order".to_owned()], directive::reply(&order));
        return Answered { means, choices: Vec::new(), text, calls: Vec::new() };
    }
    let (means, choices) = instinct::means(said);
    let mut world = world().says(said);
    world.wake();
    let calls = world.calls.iter().filter(|call| call.tool != "memory.append").cloned().collect();
    let plain = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    Answered { means: plain(means), choices: plain(choices), text: world.told().join(" | "), calls }
}

/// How an answer fares.
#[derive(Debug, PartialEq)]
enum Fate {
    Good,
    /// It asks back, or says that it does not understand, where it might have known.
    Unsure,
    /// It does or says another thing than was asked for.
    Wrong,
}

fn judged(wanted: &str, parts: &str, got: &Answered) -> Fate {
    let of = |name: &str, wanted: &str| wanted.split('/').any(|one| one == name);
    let named = got.means.join(",");
    let none = got.means.is_empty() && got.choices.is_empty();
    let is_meant = wanted.split('/').any(|one| one == named)
        || (got.means.is_empty() && of("unknown", wanted.trim_start_matches('?')))
        || got
            .choices
            .iter()
            .any(|choice| wanted.split('/').any(|one| one.strip_prefix('?') == Some(choice)));
    if !is_meant {
        let is_open = got.means.is_empty() && (none || !got.choices.is_empty());
        return if is_open { Fate::Unsure } else { Fate::Wrong };
    }
    if got.means.is_empty() {
        // What it asks or does not understand it says in words of its own.
        return Fate::Good;
    }
    let holds = |part: &str| match part.strip_prefix('!') {
        Some(part) => !got.text.to_lowercase().contains(&part.to_lowercase()),
        None => got.text.to_lowercase().contains(&part.to_lowercase()),
    };
    let is_told = match parts.strip_prefix("call ") {
        Some(call) => {
            let (tool, args) = call.split_once(' ').unwrap_or((call, ""));
            let pairs: Vec<_> = args.split("; ").filter_map(|pair| pair.split_once('=')).collect();
            let fits = |call: &&ToolCall| {
                call.tool == tool && pairs.iter().all(|(name, value)| call.args[*name] == *value)
            };
            got.calls.iter().any(|call| fits(&call))
        }
        None => parts.split(';').all(holds),
    };
    if is_told && !got.text.is_empty() { Fate::Good } else { Fate::Wrong }
}

fn told_of(name: &str, rows: &str) -> (usize, Vec<String>, Vec<String>) {
    let (mut count, mut wrong, mut unsure) = (0, Vec::new(), Vec::new());
    for row in rows.lines().filter(|row| !row.trim().is_empty() && !row.starts_with('#')) {
        let mut cells = row.split(" | ").map(str::trim);
        let (said, wanted, parts) = (cells.next().unwrap(), cells.next().unwrap(), cells.next().unwrap());
        let got = answered(said);
        let fate = judged(wanted, parts, &got);
        let calls: Vec<String> =
            got.calls.iter().map(|call| format!("{} {}", call.tool, json!(call.args))).collect();
        let line =
            format!("{fate:?}: {said} -> {}{:?} {} {calls:?}", got.means.join(","), got.choices, got.text);
        println!("{name} {line}");
        count += 1;
        match fate {
            Fate::Good => {}
            Fate::Unsure => unsure.push(line),
            Fate::Wrong => wrong.push(format!("{line}\n    wanted {wanted}: {parts}")),
        }
    }
    (count, wrong, unsure)
}

/// None of these may be taken for another, and so many in a hundred may be unknown.
fn are_true(sets: &[(&str, &str)], most_unsure: usize) {
    for (name, rows) in sets {
        let (count, wrong, unsure) = told_of(name, rows);
        println!("{name}: {count} sentences, {} unsure, {} wrong", unsure.len(), wrong.len());
        assert!(wrong.is_empty(), "{name}, wrong:\n{}", wrong.join("\n"));
        let few = unsure.len() * 100 <= count * most_unsure;
        assert!(few, "{name}, of {count} not known:\n{}", unsure.join("\n"));
    }
}

#[test]
fn everyday_sentences_are_answered_truly() {
    are_true(&[("everyday", EVERYDAY), ("voices", VOICES), ("languages", LANGUAGES)], UNSURE);
}

/// What was written once the table stood: fewer of them are known, and none is taken for another.
#[test]
fn sentences_that_the_table_was_not_made_for_are_not_taken_for_others() {
    are_true(&[("unseen", UNSEEN), ("languages_unseen", LANGUAGES_UNSEEN)], UNSEEN_UNSURE);
}

/// An order is done only where the words leave no doubt, in these languages too.
#[test]
fn what_is_near_to_an_order_in_another_language_changes_nothing() {
    for said in MISTAKABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let got = answered(said);
        let reads = [
            "feed.read",
            "web.fetch_text",
            "knowledge.search",
            "reminder.list",
            "notes.read",
            "self.examine",
        ];
        let changed: Vec<&ToolCall> =
            got.calls.iter().filter(|call| !reads.contains(&call.tool.as_str())).collect();
        println!("mistakable: {said} -> {:?} {:?} {}", got.means, got.choices, got.text);
        assert!(got.means != ["order"] && changed.is_empty(), "{said}: {} {changed:?}", got.text);
        assert!(!got.text.is_empty(), "{said}");
    }
}

#[test]
fn an_owner_of_another_language_is_told_once_in_it_that_answers_are_english() {
    let mut world = world().says("Was machst du?");
    world.wake();
    assert!(world.told()[0].starts_with("Ich verstehe ein paar alltägliche Sätze"), "{:?}", world.told());
    assert!(world.told()[0].contains("\nLast"), "and the answer is there: {:?}", world.told());
    for (said, begin) in
        [("Was kannst du?", "Without a model"), ("Que fais-tu ?", "Je comprends"), ("hello", "Hello")]
    {
        world = world.says(said);
        world.wake();
        assert!(world.told().last().unwrap().starts_with(begin), "{said}: {:?}", world.told().last());
    }
    let mut late = self::world().says("Erinnere mich in 5 Minuten an den Tee");
    late.wake();
    let told = late.told().join("\n");
    assert!(told.starts_with("Ich verstehe") && told.contains("Done: I remind you of \"den Tee\""), "{told}");
}

/// A name in braces that is no fact would leave a hole in its answer.
#[test]
fn each_answer_of_the_table_is_whole() {
    let table: toml::Table = include_str!("../../abilities.toml").parse().unwrap();
    let abilities = table["ability"].as_array().unwrap().iter().filter(|one| one.get("answer").is_some());
    let mut asked = 0;
    for ability in abilities {
        let says = ability["says"].as_str().unwrap().split('|').map(str::trim);
        let Some(said) = says.into_iter().find(|says| !says.contains(['{', '/', '?'])) else { continue };
        if directive::understand(said, now(), &berlin()).is_some() {
            continue;
        }
        let got = answered(said);
        let holed = got.text.is_empty() || got.text.contains(['{', '}']) || got.text.contains("  ");
        assert!(!holed, "{said}: {}", got.text);
        asked += 1;
    }
    assert!(asked > 40, "{asked}");
}
